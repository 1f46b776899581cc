import PosterCache

/// What all requests of an origin share: counts, faults, gates, the link, and the connections that
/// wait, with the thread that wakes them.
final class OriginTraffic: Sendable {
  /// What a request meets when it arrives.
  struct Arrival {
    let faults: [Fault.Kind]
    /// The gate that holds it, if any.
    let gate: Gate?
  }

  /// A gate as requests see it.
  struct Gate {
    let id: WaitTable.GateID
    let pattern: PathPattern
    /// How much of the body may pass before it; `nil`: not even the headers.
    let afterBytes: Int?
  }

  private struct State {
    var tally = RequestTally()
    var faults: FaultPlan
    /// Closed gates, the newest last.
    var gates: [Gate] = []
    var nextGate: WaitTable.GateID = 0
    var link: SharedLink?
    var waits = WaitTable()
    var connections: [WaitTable.ID: HTTPConnection] = [:]
    var continuations: [RequestTally.WaiterID: CheckedContinuation<Void, Never>] = [:]
    var hasEnded = false
  }

  private let state: Monitor<State>
  /// How much one answer should send at a time, `nil` without a limit.
  let quantum: Int?

  init(faults: [Fault], bytesPerSecond: Int?) {
    let link = bytesPerSecond.map { SharedLink(bytesPerSecond: $0) }
    quantum = link?.quantum
    state = Monitor(State(faults: FaultPlan(faults), link: link))
  }

  // MARK: Requests

  /// Counts a request on the connection with this number and says what it meets.
  func requestDidArrive(for path: String, on connection: Int) -> Arrival {
    let (arrival, satisfied) = state.withLock { state in
      state.tally.requestDidArrive(on: connection)
      let satisfied = state.tally.requestDidArrive(for: path).compactMap { waiter in
        state.continuations.removeValue(forKey: waiter)
      }
      let arrival = Arrival(
        faults: state.faults.requestDidArrive(for: path),
        gate: state.gates.last { $0.pattern.matches(path) })
      return (arrival, satisfied)
    }
    for continuation in satisfied { continuation.resume() }
    return arrival
  }

  /// Suspends `connection` until `wish` is fulfilled or the origin ends.
  ///
  /// - Returns: whether it is suspended now; not so if the wish is fulfilled already or the origin
  ///   has ended.
  func suspend(_ connection: HTTPConnection, until wish: WaitTable.Wish) -> Bool {
    let isSuspended = state.withLock { state in
      guard !state.hasEnded else { return false }
      switch wish {
      case .time(let time) where time <= monotonicNanoseconds(): return false
      case .gate(let gate) where !state.gates.contains { $0.id == gate }: return false
      default: break
      }
      // Under the lock, or it could be resumed before it is suspended. It calls nothing back.
      connection.suspend()
      state.connections[state.waits.insert(wish)] = connection
      return true
    }
    if isSuspended, case .time = wish { state.signal() }
    return isSuspended
  }

  /// Whether the origin has ended: nothing more is answered.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Reserves the link for `count` bytes, ready at a monotonic time in nanoseconds; returns when
  /// they will have passed.
  func reserve(_ count: Int, readyAt ready: UInt64) -> UInt64 {
    state.withLock { $0.link?.reserve(count, readyAt: ready) ?? ready }
  }

  // MARK: Waking

  /// Wakes connections whose time has come, until the origin ends: the life of one thread.
  func run() {
    state.wait(
      untilNanoseconds: { $0.waits.nextDeadline },
      for: { state in
        Self.resume(state.waits.expire(at: monotonicNanoseconds()), in: &state)
        return state.hasEnded ? () : nil
      })
  }

  /// Wakes everybody for the last time; from now on nothing is suspended.
  func end() {
    let continuations = state.withLock { state in
      state.hasEnded = true
      state.gates.removeAll()
      Self.resume(state.waits.removeAll(), in: &state)
      defer { state.continuations.removeAll() }
      return Array(state.continuations.values)
    }
    state.signal()
    for continuation in continuations { continuation.resume() }
  }

  /// Called with the lock held: after ``end()`` none may be left suspended. It calls nothing back.
  private static func resume(_ ids: [WaitTable.ID], in state: inout State) {
    for id in ids { state.connections.removeValue(forKey: id)?.resume() }
  }

  // MARK: Control

  /// The requests so far, by path.
  var counts: [String: Int] { state.withLock { $0.tally.counts } }

  /// The requests on each connection, in the order in which these were opened.
  var connectionCounts: [Int] { state.withLock { $0.tally.connectionCounts } }

  /// The number of requests for the paths that `pattern` names.
  func count(of pattern: PathPattern) -> Int { state.withLock { $0.tally.count(of: pattern) } }

  /// Replaces all faults.
  func setFaults(_ faults: [Fault]) {
    state.withLock { $0.faults = FaultPlan(faults) }
  }

  /// Adds a fault.
  func addFault(_ fault: Fault) {
    state.withLock { $0.faults.add(fault) }
  }

  /// Closes a gate for the paths that `pattern` names; also returns how many requests for them have
  /// arrived before.
  func closeGate(
    for pattern: PathPattern, afterBytes: Int?
  ) -> (id: WaitTable.GateID, requestsBefore: Int) {
    state.withLock { state in
      state.nextGate += 1
      state.gates.append(Gate(id: state.nextGate, pattern: pattern, afterBytes: afterBytes))
      return (state.nextGate, state.tally.count(of: pattern))
    }
  }

  /// Opens a gate for good.
  func openGate(_ id: WaitTable.GateID) {
    state.withLock { state in
      state.gates.removeAll { $0.id == id }
      Self.resume(state.waits.gateDidOpen(id), in: &state)
    }
  }

  /// Returns once `count` requests in all have arrived for `pattern`, the task is cancelled, or the
  /// origin has ended.
  func waitForRequests(_ count: Int, of pattern: PathPattern) async {
    let ticket = Lock<Ticket>(.new)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isWaiting = state.withLock { state in
          guard !state.hasEnded, let waiter = state.tally.wait(for: count, of: pattern) else {
            return false
          }
          // The cancellation may have come before there was anything to cancel.
          guard ticket.withLock({ $0.start(waiter) }) else {
            state.tally.waiterDidLeave(waiter)
            return false
          }
          state.continuations[waiter] = continuation
          return true
        }
        if !isWaiting { continuation.resume() }
      }
    } onCancel: {
      guard let waiter = ticket.withLock({ $0.cancel() }) else { return }
      let continuation = state.withLock { state in
        state.tally.waiterDidLeave(waiter)
        return state.continuations.removeValue(forKey: waiter)
      }
      continuation?.resume()
    }
  }

  /// A wait that may be cancelled before it has begun.
  private enum Ticket {
    case new
    case waiting(RequestTally.WaiterID)
    case cancelled

    mutating func start(_ waiter: RequestTally.WaiterID) -> Bool {
      guard case .new = self else { return false }
      self = .waiting(waiter)
      return true
    }

    mutating func cancel() -> RequestTally.WaiterID? {
      defer { self = .cancelled }
      guard case .waiting(let waiter) = self else { return nil }
      return waiter
    }
  }
}
