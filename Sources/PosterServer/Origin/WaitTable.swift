import PosterCache

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
  private var deadlines = Heap<Deadline>()
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
    case .time(let time): deadlines.insert(Deadline(time: time, id: nextID))
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
      ids.append(first.id)
      deadlines.removeFirst()
    }
    for id in ids { waiting[id] = nil }
    return ids
  }

  /// The origin ends: all that wait.
  mutating func removeAll() -> [ID] {
    defer {
      waiting.removeAll()
      gates.removeAll()
      deadlines = Heap()
    }
    return waiting.keys.sorted()
  }

  /// When a connection's time comes; among equal times the one that came first is earlier.
  private struct Deadline: Comparable {
    let time: UInt64
    let id: ID

    static func < (left: Deadline, right: Deadline) -> Bool {
      (left.time, left.id) < (right.time, right.id)
    }
  }
}
