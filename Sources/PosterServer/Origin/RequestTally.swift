/// How many requests have arrived for each path and on each connection, and who waits for how many.
struct RequestTally {
  /// Names somebody who waits.
  typealias WaiterID = Int

  private(set) var counts: [String: Int] = [:]
  /// The requests on each connection, in the order in which these were opened.
  private(set) var connectionCounts: [Int] = []
  private var waiters: [WaiterID: (pattern: PathPattern, missing: Int)] = [:]
  private var nextWaiter: WaiterID = 0

  /// Paths counted by themselves; requests for further ones are counted together under `*`.
  static let pathLimit = 100_000
  /// Connections counted by themselves; requests on further ones are not counted by connection.
  static let connectionLimit = 1_000_000

  /// The number of requests for all paths that `pattern` names.
  func count(of pattern: PathPattern) -> Int {
    counts.reduce(0) { pattern.matches($1.key) ? $0 + $1.value : $0 }
  }

  /// A request has arrived on a connection, which are numbered from 0.
  mutating func requestDidArrive(on connection: Int) {
    guard connection < Self.connectionLimit else { return }
    while connectionCounts.count <= connection { connectionCounts.append(0) }
    connectionCounts[connection] += 1
  }

  /// A request for `path` has arrived.
  ///
  /// - Returns: the waiters that now have what they waited for, and are forgotten.
  mutating func requestDidArrive(for path: String) -> [WaiterID] {
    let isKnown = counts[path] != nil || counts.count < Self.pathLimit
    counts[isKnown ? path : "*", default: 0] += 1
    var satisfied: [WaiterID] = []
    for (waiter, wish) in waiters where wish.pattern.matches(path) {
      if wish.missing > 1 {
        waiters[waiter]?.missing -= 1
      } else {
        waiters[waiter] = nil
        satisfied.append(waiter)
      }
    }
    return satisfied
  }

  /// Somebody wants to know when `count` requests in all have arrived for the paths that `pattern`
  /// names.
  ///
  /// - Returns: the waiter's name, or `nil` if so many have arrived already.
  mutating func wait(for count: Int, of pattern: PathPattern) -> WaiterID? {
    let missing = count - self.count(of: pattern)
    guard missing > 0 else { return nil }
    nextWaiter += 1
    waiters[nextWaiter] = (pattern, missing)
    return nextWaiter
  }

  /// `waiter` no longer wants to know.
  mutating func waiterDidLeave(_ waiter: WaiterID) {
    waiters[waiter] = nil
  }
}
