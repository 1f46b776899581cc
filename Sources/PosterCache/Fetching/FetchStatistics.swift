import Synchronization

/// Numbers that say how hard a fetcher worked, since it was made.
package struct FetchStatistics: Sendable, Hashable {
  /// Requests made, retries among them; redirects are not counted apart.
  package var transfersStarted = 0
  /// Connections opened.
  package var connectionsOpened = 0
  /// Body bytes of pictures that came in transfers that have ended, however these did.
  package var pictureBytes = 0
  /// Requests made again after a failure.
  package var retries = 0
  /// Requests for the rest of a picture whose beginning was kept.
  package var resumed = 0
  /// Transfers that lost their last ticket, by what they were doing then.
  package var cancelled = Cancelled()

  /// Transfers that lost their last ticket, by what they were doing then.
  package struct Cancelled: Sendable, Hashable {
    package var queued = 0
    package var waitingForRetry = 0
    package var resolving = 0
    package var connecting = 0
    package var requesting = 0
    package var receiving = 0
    /// Nearly done, and therefore finished all the same.
    package var finishing = 0
    /// Received, and stored all the same: nobody waited any more.
    package var storing = 0

    /// All of them.
    package var total: Int {
      queued + waitingForRetry + resolving + connecting + requesting + receiving + finishing
        + storing
    }

    /// None at all.
    package static var none: Cancelled { Cancelled() }
  }
}

/// The numbers of ``FetchStatistics``, which the fetch thread writes and everybody reads.
final class FetchCounters: Sendable {
  let transfersStarted = Atomic(0)
  let connectionsOpened = Atomic(0)
  let pictureBytes = Atomic(0)
  let retries = Atomic(0)
  let resumed = Atomic(0)
  let queued = Atomic(0)
  let waitingForRetry = Atomic(0)
  let resolving = Atomic(0)
  let connecting = Atomic(0)
  let requesting = Atomic(0)
  let receiving = Atomic(0)
  let finishing = Atomic(0)
  let storing = Atomic(0)
  /// Those who plan what is prefetched.
  let planners = Atomic(0)

  /// All numbers, a moment old at most.
  var current: FetchStatistics {
    var statistics = FetchStatistics()
    statistics.transfersStarted = transfersStarted.load(ordering: .relaxed)
    statistics.connectionsOpened = connectionsOpened.load(ordering: .relaxed)
    statistics.pictureBytes = pictureBytes.load(ordering: .relaxed)
    statistics.retries = retries.load(ordering: .relaxed)
    statistics.resumed = resumed.load(ordering: .relaxed)
    statistics.cancelled.queued = queued.load(ordering: .relaxed)
    statistics.cancelled.waitingForRetry = waitingForRetry.load(ordering: .relaxed)
    statistics.cancelled.resolving = resolving.load(ordering: .relaxed)
    statistics.cancelled.connecting = connecting.load(ordering: .relaxed)
    statistics.cancelled.requesting = requesting.load(ordering: .relaxed)
    statistics.cancelled.receiving = receiving.load(ordering: .relaxed)
    statistics.cancelled.finishing = finishing.load(ordering: .relaxed)
    statistics.cancelled.storing = storing.load(ordering: .relaxed)
    return statistics
  }

  /// A transfer was stopped at `stage`.
  func transferWasStopped(at stage: CurlTransfer.Stage) {
    switch stage {
    case .resolving: resolving.add(1, ordering: .relaxed)
    case .connecting: connecting.add(1, ordering: .relaxed)
    case .requesting: requesting.add(1, ordering: .relaxed)
    case .receiving: receiving.add(1, ordering: .relaxed)
    }
  }
}
