/// Which suspended connections wait for what: a moment, a gate, or nothing but the end.
struct WaitTable {
  /// Names a waiting connection.
  typealias ID = Int
  /// Names a gate.
  typealias GateID = Int

  /// What a connection waits for.
  enum Wish: Equatable {
    /// A monotonic time in nanoseconds.
    case time(UInt64)
    /// The opening of a gate.
    case gate(GateID)
    /// The end of the origin.
    case end
  }

  private var waiting: [ID: Wish] = [:]
  private var gates: [GateID: [ID]] = [:]
  /// A binary heap, the earliest first.
  private var deadlines: [(time: UInt64, id: ID)] = []
  private var nextID: ID = 0

  /// The number of waiting connections.
  var count: Int { waiting.count }

  /// When ``expire(at:)`` has something to do next.
  var nextDeadline: UInt64? { deadlines.first?.time }

  /// A connection starts to wait.
  mutating func insert(_ wish: Wish) -> ID {
    nextID += 1
    waiting[nextID] = wish
    switch wish {
    case .time(let time): push((time, nextID))
    case .gate(let gate): gates[gate, default: []].append(nextID)
    case .end: break
    }
    return nextID
  }

  /// `gate` was opened: the connections that waited for it, in the order in which they came.
  mutating func gateDidOpen(_ gate: GateID) -> [ID] {
    let ids = gates.removeValue(forKey: gate) ?? []
    for id in ids { waiting[id] = nil }
    return ids
  }

  /// It is `now`: the connections whose time has come, the earliest first.
  mutating func expire(at now: UInt64) -> [ID] {
    var ids: [ID] = []
    while let first = deadlines.first, first.time <= now {
      ids.append(popFirst())
    }
    for id in ids { waiting[id] = nil }
    return ids
  }

  /// The origin ends: all that wait.
  mutating func removeAll() -> [ID] {
    defer {
      waiting.removeAll()
      gates.removeAll()
      deadlines.removeAll()
    }
    return waiting.keys.sorted()
  }

  // MARK: Heap

  private mutating func push(_ element: (time: UInt64, id: ID)) {
    deadlines.append(element)
    var child = deadlines.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard isBefore(child, parent) else { return }
      deadlines.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func popFirst() -> ID {
    deadlines.swapAt(0, deadlines.count - 1)
    let first = deadlines.removeLast()
    var parent = 0
    while true {
      var earliest = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < deadlines.count && isBefore(child, earliest) { earliest = child }
      guard earliest != parent else { return first.id }
      deadlines.swapAt(parent, earliest)
      parent = earliest
    }
  }

  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    let (left, right) = (deadlines[left], deadlines[right])
    // Among equal times the one that came first.
    return (left.time, left.id) < (right.time, right.id)
  }
}
