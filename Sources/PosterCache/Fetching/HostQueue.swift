/// What waits for one server, and what of it may start when.
///
/// Limited by connections, request rate, `Retry-After` and, for what nobody looks at yet, by a
/// ``PrefetchWindow``, which also leaves a part of the request rate to visible posters.
///
/// A heap whose entries go stale when their transfer leaves or changes rank. Stale entries are dropped
/// when they surface and swept when they outnumber the others.
struct HostQueue {
  typealias Entry = TransferQueue.Entry

  /// What it comes to.
  enum Next {
    /// Nothing, until something happens here.
    case nothing
    /// Nothing before this time.
    case wait(until: UInt64)
    case start(Entry)
  }

  let key: HostKey
  private let limits: HostLimits
  private var limiter: RateLimiter?
  private(set) var window: PrefetchWindow

  private var queue = Heap<Entry>()
  private(set) var queuedCount = 0
  /// Transfers in flight, by whether somebody waits for them.
  private(set) var visibleCount = 0
  private(set) var otherCount = 0
  /// Transfers that wait, wait out a delay or are in flight.
  var transferCount = 0
  /// How many connections prefetching keeps busy: all that it may. 0 once everything has stopped.
  private var busyCount = 0
  /// Since when visible posters wait for a connection that is busy, and none has become free.
  private var waitingSince: UInt64?
  /// No request before this time, because the server said so.
  private(set) var heldUntil: UInt64 = 0
  /// The status of the answer that said so.
  private(set) var heldStatus = 429

  init(key: HostKey, limits: HostLimits, window: PrefetchWindow.Policy) {
    self.key = key
    self.limits = limits
    self.window = PrefetchWindow(window)
    limiter = limits.requestsPerSecond.map { RateLimiter(requestsPerSecond: $0) }
  }

  /// What the way to the server bears, as far as it is known: no more than may be asked of it.
  var figures: LinkFigures? {
    guard var figures = window.link.figures else { return nil }
    if let rate = limits.requestsPerSecond {
      figures.bytesPerSecond = min(figures.bytesPerSecond, rate * figures.meanBytes)
    }
    return figures
  }

  /// Whether nothing is in flight.
  var isIdle: Bool { visibleCount + otherCount == 0 }

  /// Whether forgetting it would change nothing but measurements.
  func isForgettable(now: UInt64) -> Bool {
    transferCount == 0 && heldUntil <= now && limiter?.isIdle(now: now) ?? true
  }

  // MARK: - Events

  /// Somebody made a request of `priority`.
  mutating func requestWasMade(_ priority: Priority, waitingVisible: Int, now: UInt64) {
    window.requestWasMade(priority, visible: visibleCount + waitingVisible, now: now)
  }

  /// `entry` waits from now on.
  mutating func insert(_ entry: Entry, isCurrent: (Entry) -> Bool) {
    queuedCount += 1
    queue.insert(entry)
    if queue.count > 2 * queuedCount + 64 { queue.removeAll { !isCurrent($0) } }
  }

  /// An entry has become stale.
  mutating func entryDidLeave() {
    queuedCount -= 1
  }

  /// A transfer starts.
  mutating func transferDidStart(_ priority: Priority, now: UInt64) {
    change(priority, by: 1)
    limiter?.requestDidStart(now: now)
  }

  /// A transfer in flight is wanted more or less urgently than before.
  mutating func transferDidChange(from old: Priority, to new: Priority) {
    change(old, by: -1)
    change(new, by: 1)
  }

  /// A transfer is not in flight any more.
  ///
  /// - Parameter sample: what it measured, if it came to its end.
  mutating func transferDidStop(_ priority: Priority, _ sample: TransferSample?, now: UInt64) {
    change(priority, by: -1)
    waitingSince = nil
    if isIdle { busyCount = 0 }
    if let sample { window.transferDidFinish(sample, now: now) }
  }

  /// The server asked for patience until `time`, with an answer of `status`.
  mutating func hold(until time: UInt64, status: Int) {
    guard time > heldUntil else { return }
    heldUntil = time
    heldStatus = status
  }

  // MARK: - Deciding

  /// What may start now. The entry that is to be started stays in the queue until it is stale.
  ///
  /// - Parameter isPlanned: see ``TransferQueue/prefetchingIsPlanned``.
  mutating func next(
    now: UInt64, isPlanned: Bool = false, isCurrent: (Entry) -> Bool
  ) -> Next {
    while let head = queue.first, !isCurrent(head) { queue.removeFirst() }
    guard let best = queue.first else { return .nothing }
    let isVisible = best.rank.priority == .visible
    if !isVisible { waitingSince = nil }
    let count = visibleCount + otherCount
    guard count < limits.connections else { return .nothing }
    // Who plans has ordered all of it, visible posters first.
    let isInOrder = isVisible || isPlanned && best.rank.priority == .prefetch
    var opening = max(heldUntil, limiter.map { start(of: $0, isVisible: isInOrder) } ?? 0)
    if isVisible {
      let patience = !isPlanned && busyCount > 0 && count >= busyCount ? window.patience : 0
      if patience > 0, opening <= now {
        let since = waitingSince ?? now
        waitingSince = since
        opening = since + patience
      }
    } else {
      let limit =
        isPlanned && best.rank.priority == .prefetch
        ? limits.connections
        : window.limit(connections: limits.connections, visible: visibleCount, now: now)
      guard count < limit else {
        // What a probe keeps busy is not all that prefetching may.
        if let end = window.probeEnd(now: now) { return .wait(until: end) }
        busyCount = count
        return .nothing
      }
    }
    return opening <= now ? .start(best) : .wait(until: opening)
  }

  /// When the request rate lets the next request pass: others than visible ones leave a reserve as long
  /// as somebody may be looking.
  private func start(of limiter: RateLimiter, isVisible: Bool) -> UInt64 {
    let start = limiter.nextStart()
    guard !isVisible else { return start }
    return min(limiter.nextStart(leavingReserve: true), max(start, window.watchedUntil))
  }

  private mutating func change(_ priority: Priority, by difference: Int) {
    if priority == .visible { visibleCount += difference } else { otherCount += difference }
  }
}

/// The hosts by name. Those about which nothing needs to be remembered are forgotten whenever the table
/// has doubled since it was last swept.
struct HostTable {
  private var hosts: ContiguousArray<Slot> = []
  private var indexes: [HostKey: Int] = [:]
  private var free: ContiguousArray<Int> = []
  private var sweepThreshold = 256

  /// A host, and its entries in the heaps of those who look at all hosts.
  struct Slot {
    var queue: HostQueue
    /// Its entry among the hosts that may start something.
    var offered: HostQueue.Entry?
    var wakeEntry: UInt64?
    var wakeTime: UInt64 = 0
  }

  /// Hosts in the table.
  var count: Int { indexes.count }

  subscript(index: Int) -> Slot {
    get { hosts[index] }
    _modify { yield &hosts[index] }
  }

  /// Where `key` stands; it is added if missing.
  mutating func index(of key: HostKey, now: UInt64, make: (HostKey) -> HostQueue) -> Int {
    if let index = indexes[key] { return index }
    if indexes.count >= sweepThreshold { sweep(now: now) }
    let host = Slot(queue: make(key))
    let index: Int
    if let vacant = free.popLast() {
      index = vacant
      hosts[index] = host
    } else {
      index = hosts.count
      hosts.append(host)
    }
    indexes[key] = index
    return index
  }

  private mutating func sweep(now: UInt64) {
    for (key, index) in indexes where hosts[index].queue.isForgettable(now: now) {
      indexes[key] = nil
      free.append(index)
    }
    sweepThreshold = max(256, 2 * indexes.count)
  }
}

/// What limits apply to: one server, not one name.
struct HostKey: Hashable {
  let name: String
  let port: Int

  init(_ address: PosterAddress) {
    name = address.host
    port = address.port
  }
}
