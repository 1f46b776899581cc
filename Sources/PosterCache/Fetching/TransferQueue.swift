/// Decides which transfer runs when: the fetch engine without sockets, clock or locks.
///
/// Each method is an event and returns what must be done because of it. A *ticket* is one interest
/// in one address; all tickets for an address share one *transfer*. A transfer waits in its host's
/// queue (or out a back-off), is in flight, and ends by completing every ticket it has left. What may
/// start is limited for each host by its ``HostQueue`` and in all by `maximumTransfers`. Order: the
/// highest priority first, within a priority the oldest ticket; a transfer ranks as the best of its
/// tickets, always as of now.
///
/// A transfer whose last ticket is dropped is stopped, unless it is nearly done: then it goes on,
/// wanted by nobody, and serves whoever asks for its address meanwhile.
///
/// Queues are heaps with stale entries, so every event takes (amortised) logarithmic time.
package struct TransferQueue {
  /// Names a transfer from its start until the action that ends it; used again afterwards.
  package typealias TransferID = Int

  /// What is to be done.
  package enum Action: Equatable, Sendable {
    /// Make the request that ``TransferQueue/request(of:)`` names.
    case start(TransferID)
    /// Stop the transfer in flight; nobody wants to hear of it again.
    case abort(TransferID)
    /// The transfer in flight is wanted with this priority from now on.
    case prioritize(TransferID, Priority)
    /// Tell these tickets how it ended, and that is the last they hear. Without tickets: what has just
    /// been reported is wanted by nobody.
    case complete([Ticket], Ending)
  }

  /// How a ticket ended.
  package enum Ending: Equatable, Sendable {
    /// With the outcome that has just been reported.
    case finished
    /// It was dropped, or the queue was shut down.
    case cancelled
    /// The host asked for more patience than a request has, with an answer of this status; so many
    /// seconds are left.
    case held(host: String, seconds: Int, status: Int = 429)
  }

  /// How a transfer in flight ended.
  package enum Outcome: Equatable, Sendable {
    /// It succeeded, or failed so that trying again would not help.
    case final
    /// It failed, and trying again may help; not before `retryAfter` seconds, if the host said so with
    /// an answer of this status.
    case retriable(retryAfter: Double?, status: Int = 429)
    /// It brought what nobody can use, and the next one will ask for something else: at once, and without
    /// counting as another try.
    case retriableAtOnce
  }

  /// How often the last ticket of a transfer was dropped, by what the transfer was doing.
  package struct Cancellations: Hashable, Sendable {
    package var queued = 0
    package var waitingForRetry = 0
    /// Nearly done and left to finish.
    package var finishing = 0
    package var stopped = 0
  }

  private let configuration: FetchConfiguration
  private let maximumTransfers: Int
  private let longestHold: UInt64

  private var transfers = TransferTable()
  private var hosts = HostTable()
  /// Hosts that may start a transfer now, by the rank of the one that they would start.
  private var readyHosts = Heap<Entry>()
  private var wakes = Heap<Wake>()
  private var delayedCount = 0
  private var lastSerial: UInt64 = 0
  private var isShutDown = false

  /// Whether somebody plans what is prefetched, and with it how much is in flight at once: then prefetches
  /// start as they are asked for, and visible posters wait for nothing. Known from the next event on.
  package var prefetchingIsPlanned = false
  /// Transfers in flight.
  package private(set) var runningCount = 0
  /// Those among them that nobody waits for.
  private var runningOthers = 0
  /// Transfers started again after a failure.
  package private(set) var retryCount = 0
  package private(set) var cancellations = Cancellations()

  /// The longest time for which a host is left alone because of its `Retry-After`; afterwards it is
  /// asked again, if anybody still wants something of it.
  static let longestBlock = 3600 * nanosecondsPerSecond
  /// A transfer that nobody wants and that was nearly done is stopped after all if it is not done after
  /// this long: its server has stalled.
  static let longestFinish = nanosecondsPerSecond / 2

  /// - Parameters:
  ///   - configuration: limits and tries. A host that asks to wait longer than `timeoutSeconds`
  ///     fails its requests instead.
  ///   - maximumTransfers: transfers at once to all hosts together, an eighth of them for visible
  ///     posters only; bounds open descriptors.
  package init(_ configuration: FetchConfiguration, maximumTransfers: Int = 256) {
    self.configuration = configuration
    self.maximumTransfers = maximumTransfers
    longestHold = UInt64(configuration.timeoutSeconds * Double(nanosecondsPerSecond))
  }

  /// The request of a transfer that was started.
  package func request(of id: TransferID) -> FetchRequest { transfers[id].request }

  /// A number for the host of a transfer; means the same host as long as that has any transfer.
  package func host(of id: TransferID) -> Int { transfers[id].host }

  /// What is known of the way to a host.
  ///
  /// - Parameter host: a number of ``host(of:)``, before the next request is made.
  package func link(toHost host: Int) -> LinkEstimate { hosts[host].queue.window.link }

  /// What the way to a host bears, its request rate included.
  package func figures(ofHost host: Int) -> LinkFigures? { hosts[host].queue.figures }

  /// The priority with which a transfer in flight is wanted.
  package func priority(of id: TransferID) -> Priority { transfers[id].runsAs ?? .background }

  /// When ``timeDidPass(now:)`` is due, or `nil` if nothing waits for time.
  package var nextWake: UInt64? { wakes.first?.time }

  // MARK: - Events

  /// Somebody wants `request`. Tickets must arrive in ascending order.
  package mutating func requestWasMade(
    _ request: FetchRequest, ticket: Ticket, now: UInt64
  ) -> [Action] {
    if isShutDown { return [.complete([ticket], .cancelled)] }
    let key = TransferKey(request)
    let known = transfers.transfer(for: key)
    let host =
      known.map { transfers[$0].host }
      ?? hosts.index(of: HostKey(request.address), now: now) { [configuration] key in
        HostQueue(
          key: key, limits: HostLimits(host: key.name, configuration: configuration),
          window: configuration.prefetchWindow)
      }
    let id: TransferID
    if let known {
      id = known
      if transfers[id].runsAs == nil {
        // The newest signature is good for longest.
        transfers[id].request.source = request.source
        if request.isRefresh { transfers[id].request.isRefresh = true }
      }
    } else if let block = block(of: host, now: now) {
      return [.complete([ticket], block)]
    } else {
      id = transfers.insert(Transfer(request: request, host: host), for: key)
      hosts[host].queue.transferCount += 1
    }
    transfers.add(ticket, priority: request.priority, to: id)
    let isWaiting = request.priority == .visible && transfers[id].runsAs == nil
    hosts[host].queue.requestWasMade(
      request.priority, waitingVisible: isWaiting ? 1 : 0, now: now)
    if known == nil { enqueue(id, now: now) }
    return ticketsDidChange(of: id, now: now) + startReady(now: now)
  }

  /// Whoever held `ticket` lost interest. Unknown and completed tickets are ignored.
  ///
  /// - Parameter isNearlyDone: whether letting this transfer in flight finish costs less than stopping
  ///   it; also gets what is known of the way to its host.
  package mutating func ticketWasDropped(
    _ ticket: Ticket, now: UInt64,
    isNearlyDone: (TransferID, LinkEstimate) -> Bool = { _, _ in false }
  ) -> [Action] {
    guard let id = transfers.remove(ticket) else { return [] }
    let completion = Action.complete([ticket], .cancelled)
    if transfers[id].tickets.liveCount > 0 {
      return ticketsDidChange(of: id, now: now) + startReady(now: now) + [completion]
    }
    let host = transfers[id].host
    var actions: [Action] = []
    if transfers[id].runsAs == nil {
      if transfers[id].delayEntry == nil {
        cancellations.queued += 1
      } else {
        cancellations.waitingForRetry += 1
      }
      release(id)
    } else if isNearlyDone(id, hosts[host].queue.window.link) {
      cancellations.finishing += 1
      transfers[id].unwantedEntry = wake(.unwanted(id), at: now + Self.longestFinish)
      actions = ticketsDidChange(of: id, now: now)
    } else {
      cancellations.stopped += 1
      stopRunning(id, nil, now: now)
      release(id)
      actions = [.abort(id)]
    }
    offer(host, now: now)
    return actions + startReady(now: now) + [completion]
  }

  /// A transfer in flight ended.
  ///
  /// - Parameters:
  ///   - sample: what it measured.
  ///   - jitter: random, from 0 up to and without 1.
  package mutating func transferDidFinish(
    _ id: TransferID, _ outcome: Outcome, sample: TransferSample? = nil, now: UInt64, jitter: Double
  ) -> [Action] {
    precondition(transfers[id].runsAs != nil, "transfer \(id) finished without running")
    var sample = sample
    sample?.isAlone = transfers[id].isAlone
    stopRunning(id, sample, now: now)
    let host = transfers[id].host
    var completions: [Action] = []
    switch outcome {
    case .retriable(let retryAfter, let status):
      if let retryAfter { hold(host, seconds: retryAfter, status: status, now: now) }
      if let block = block(of: host, now: now) {
        completions = endEverything(waitingFor: host, block)
        completions.append(complete(id, retryAfter == nil ? .finished : block))
      } else if !hasTryLeft(id) {
        completions.append(complete(id, .finished))
      } else {
        // A host that asked for longer is held anyway; one that says "at once", as a date in the
        // past does, gets the back-off all the same.
        delay(id, jitter: jitter, now: now)
      }
    case .retriableAtOnce where transfers[id].tickets.liveCount > 0:
      if let block = block(of: host, now: now) {
        completions.append(complete(id, block))
      } else {
        transfers[id].tries -= 1
        enqueue(id, now: now)
      }
    case .final, .retriableAtOnce:
      completions.append(complete(id, .finished))
    }
    offer(host, now: now)
    return startReady(now: now) + completions
  }

  /// Whether a transfer that failed is worth another try.
  private func hasTryLeft(_ id: TransferID) -> Bool {
    transfers[id].tries < configuration.tries && transfers[id].tickets.liveCount > 0
  }

  /// Time went by: ``nextWake`` has come. Every other event does the same, too.
  package mutating func timeDidPass(now: UInt64) -> [Action] {
    startReady(now: now)
  }

  /// The engine ends: every ticket completes as cancelled, now and from now on.
  package mutating func didShutDown(now: UInt64 = 0) -> [Action] {
    isShutDown = true
    var actions: [Action] = []
    for id in transfers.all.sorted() {
      if transfers[id].runsAs != nil {
        stopRunning(id, nil, now: now)
        actions.append(.abort(id))
      }
      actions.append(complete(id, .cancelled))
    }
    return actions
  }

  // MARK: - Tickets

  /// Gives a transfer whose tickets have changed its place in the queue or, in flight, its priority.
  private mutating func ticketsDidChange(of id: TransferID, now: UInt64) -> [Action] {
    let rank = transfers.rank(of: id)
    if rank != nil { transfers[id].unwantedEntry = nil }
    if let entry = transfers[id].queueEntry {
      if rank != entry.rank { enqueue(id, now: now) }
      return []
    }
    // One that nobody wants is not in anybody's way for long: it is nearly done.
    let priority = rank?.priority ?? .background
    guard let old = transfers[id].runsAs, old != priority else { return [] }
    transfers[id].runsAs = priority
    let host = transfers[id].host
    hosts[host].queue.transferDidChange(from: old, to: priority)
    if old == .visible { runningOthers += 1 }
    if priority == .visible { runningOthers -= 1 }
    offer(host, now: now)
    return [.prioritize(id, priority)]
  }

  /// Ends a transfer that is not in flight and says so to all its tickets.
  private mutating func complete(_ id: TransferID, _ ending: Ending) -> Action {
    let left = transfers.removeTickets(of: id)
    release(id)
    return .complete(left, ending)
  }

  // MARK: - Transfers

  /// Forgets a transfer that has no tickets left and is not in flight.
  private mutating func release(_ id: TransferID) {
    leaveQueue(id)
    if transfers[id].delayEntry != nil { delayedCount -= 1 }
    transfers[id].delayEntry = nil
    transfers[id].unwantedEntry = nil
    hosts[transfers[id].host].queue.transferCount -= 1
    transfers.remove(id)
  }

  private mutating func enqueue(_ id: TransferID, now: UInt64) {
    leaveQueue(id)
    guard let rank = transfers.rank(of: id) else {
      preconditionFailure("transfer \(id) without tickets")
    }
    let host = transfers[id].host
    let entry = Entry(rank: rank, serial: nextSerial(), index: id)
    transfers[id].queueEntry = entry
    let transfers = transfers
    hosts[host].queue.insert(entry) { transfers[$0.index].queueEntry == $0 }
    offer(host, now: now)
  }

  private mutating func leaveQueue(_ id: TransferID) {
    guard transfers[id].queueEntry != nil else { return }
    transfers[id].queueEntry = nil
    hosts[transfers[id].host].queue.entryDidLeave()
  }

  /// Lets a transfer wait before its next try: 0.25 s doubled with each try, at most 8 s, of which
  /// the upper half is random so that many clients do not come back together.
  private mutating func delay(_ id: TransferID, jitter: Double, now: UInt64) {
    let full = min(0.25 * Double(1 << min(transfers[id].tries - 1, 5)), 8)
    let nanoseconds = UInt64(full * (0.5 + jitter / 2) * Double(nanosecondsPerSecond))
    transfers[id].delayEntry = wake(.transfer(id), at: now + nanoseconds)
    delayedCount += 1
  }

  private mutating func start(_ id: TransferID, as priority: Priority, now: UInt64) {
    leaveQueue(id)
    transfers[id].runsAs = priority
    if transfers[id].tries > 0 { retryCount += 1 }
    transfers[id].tries += 1
    runningCount += 1
    if priority != .visible { runningOthers += 1 }
    let host = transfers[id].host
    transfers[id].isAlone = hosts[host].queue.isIdle
    hosts[host].queue.transferDidStart(priority, now: now)
  }

  private mutating func stopRunning(_ id: TransferID, _ sample: TransferSample?, now: UInt64) {
    guard let priority = transfers[id].runsAs else { return }
    transfers[id].runsAs = nil
    runningCount -= 1
    if priority != .visible { runningOthers -= 1 }
    hosts[transfers[id].host].queue.transferDidStop(priority, sample, now: now)
  }

  // MARK: - Hosts

  /// Lets no request of `host` start for a while.
  private mutating func hold(_ host: Int, seconds: Double, status: Int, now: UInt64) {
    let longest = max(Double(Self.longestBlock), Double(longestHold))
    let nanoseconds = UInt64(min(max(seconds, 0) * Double(nanosecondsPerSecond), longest))
    // What exceeds a request's patience must still do so after capping.
    let exceeds = seconds * Double(nanosecondsPerSecond) > Double(longestHold)
    hosts[host].queue.hold(
      until: now + (exceeds ? max(nanoseconds, longestHold + 1) : nanoseconds), status: status)
  }

  /// How requests to `host` end if it is held for longer than a request's patience.
  private func block(of host: Int, now: UInt64) -> Ending? {
    let heldUntil = hosts[host].queue.heldUntil
    guard heldUntil > now, heldUntil - now > longestHold else { return nil }
    let seconds = (heldUntil - now + nanosecondsPerSecond - 1) / nanosecondsPerSecond
    let queue = hosts[host].queue
    return .held(host: queue.key.name, seconds: Int(seconds), status: queue.heldStatus)
  }

  private mutating func endEverything(waitingFor host: Int, _ ending: Ending) -> [Action] {
    transfers.all.filter { id in
      transfers[id].host == host
        && (transfers[id].queueEntry != nil || transfers[id].delayEntry != nil)
    }.sorted().map { complete($0, ending) }
  }

  /// Puts `host` among those that may start a transfer, or sets its alarm, or does nothing if it
  /// has nothing to start or no room.
  private mutating func offer(_ host: Int, now: UInt64) {
    switch next(of: host, now: now) {
    case .nothing: hosts[host].offered = nil
    case .wait(let time):
      hosts[host].offered = nil
      if hosts[host].wakeTime != time || hosts[host].wakeEntry == nil {
        hosts[host].wakeTime = time
        hosts[host].wakeEntry = wake(.host(host), at: time)
      }
    case .start(let best):
      if let offered = hosts[host].offered, offered.rank == best.rank { return }
      let entry = Entry(rank: best.rank, serial: nextSerial(), index: host)
      hosts[host].offered = entry
      readyHosts.insert(entry)
      if readyHosts.count > 2 * hosts.count + 64 {
        let hosts = hosts
        readyHosts.removeAll { hosts[$0.index].offered != $0 }
      }
    }
  }

  private mutating func next(of host: Int, now: UInt64) -> HostQueue.Next {
    let transfers = transfers
    return hosts[host].queue.next(now: now, isPlanned: prefetchingIsPlanned) {
      transfers[$0.index].queueEntry == $0
    }
  }

  private mutating func startReady(now: UInt64) -> [Action] {
    var actions = wakeUp(now: now)
    while runningCount < maximumTransfers, let ready = readyHosts.first {
      let host = ready.index
      guard hosts[host].offered == ready else {
        readyHosts.removeFirst()
        continue
      }
      // Those behind it are no better.
      let isOther = ready.rank.priority != .visible
      if isOther, runningOthers >= maximumTransfers - maximumTransfers / 8 { break }
      readyHosts.removeFirst()
      hosts[host].offered = nil
      if case .start(let best) = next(of: host, now: now), best.rank == ready.rank {
        start(best.index, as: best.rank.priority, now: now)
        actions.append(.start(best.index))
      }
      offer(host, now: now)
    }
    return actions
  }

  // MARK: - Alarms

  /// Ends the waits that are over.
  private mutating func wakeUp(now: UInt64) -> [Action] {
    var actions: [Action] = []
    while let wake = wakes.first, wake.time <= now {
      wakes.removeFirst()
      switch wake.target {
      case .transfer(let id) where transfers[id].delayEntry == wake.serial:
        transfers[id].delayEntry = nil
        delayedCount -= 1
        enqueue(id, now: now)
      case .host(let host) where hosts[host].wakeEntry == wake.serial:
        hosts[host].wakeEntry = nil
        offer(host, now: now)
      case .unwanted(let id) where transfers[id].unwantedEntry == wake.serial:
        cancellations.finishing -= 1
        cancellations.stopped += 1
        stopRunning(id, nil, now: now)
        release(id)
        actions.append(.abort(id))
        offer(transfers[id].host, now: now)
      default: break
      }
    }
    return actions
  }

  private mutating func wake(_ target: Wake.Target, at time: UInt64) -> UInt64 {
    let serial = nextSerial()
    wakes.insert(Wake(time: time, serial: serial, target: target))
    if wakes.count > 2 * (delayedCount + runningCount + hosts.count) + 64 {
      let (transfers, hosts) = (transfers, hosts)
      wakes.removeAll { wake in
        switch wake.target {
        case .transfer(let id): transfers[id].delayEntry != wake.serial && wake.serial != serial
        case .unwanted(let id):
          transfers[id].unwantedEntry != wake.serial && wake.serial != serial
        case .host(let host): hosts[host].wakeEntry != wake.serial && wake.serial != serial
        }
      }
    }
    return serial
  }

  private mutating func nextSerial() -> UInt64 {
    lastSerial += 1
    return lastSerial
  }
}
