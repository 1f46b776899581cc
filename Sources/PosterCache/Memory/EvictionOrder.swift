/// Decides what goes when room is needed: exact order of use by the bytes of what is kept.
///
/// A struct without lock, clock or keys: it knows numbered slots, what is in each costs, and when it was
/// used last, a number that grows with every use. What nobody has seen yet goes before what somebody has,
/// and among each the least recently used first; what is pinned does not go at all. What costs more than a
/// tenth of the limit is not kept, so that no single picture empties the cache.
///
/// Uses need not be reported: ``next(_:)`` asks for those of the slot that seems to be next. What has been
/// used meanwhile is put back to where that belongs and the next one asked about, so that the order is
/// exact, each use costs at most one step down a heap, and many uses of one slot cost as much as one.
struct EvictionOrder: Sendable {
  /// The sum of costs that is never exceeded.
  let limit: Int
  /// The sum of the costs of what is kept.
  private(set) var totalCost = 0
  /// That of what is pinned.
  private(set) var pinnedCost = 0
  /// The number of slots in use.
  private(set) var count = 0

  private var states: ContiguousArray<State> = []
  private var unseen = SlotHeap()
  private var seen = SlotHeap()

  /// When something was used last, and whether somebody has seen it.
  struct Use: Sendable, Hashable {
    /// Grows with every use; 0 if there was none.
    var time: UInt64
    var isSeen: Bool
  }

  private enum Rank {
    case vacant, unseen, seen, pinned
  }

  private struct State {
    var cost = 0
    var rank = Rank.vacant
  }

  /// - Parameter limit: the largest sum of costs, at least 0.
  init(limit: Int) {
    precondition(limit >= 0, "negative limit \(limit)")
    self.limit = limit
  }

  /// Whether something of `cost` can be kept, if everything goes that may go: it costs at most a tenth of
  /// the limit, and what is pinned leaves room for it.
  func admits(_ cost: Int) -> Bool {
    precondition(cost >= 0, "negative cost \(cost)")
    return cost <= limit / 10 && cost <= limit - pinnedCost
  }

  /// Takes a vacant slot. What does not fit is a programming error: make room first.
  ///
  /// - Parameter use: that of being entered.
  mutating func enter(_ slot: Int32, cost: Int, _ use: Use, isPinned: Bool) {
    while states.count <= Int(slot) { states.append(State()) }
    precondition(states[Int(slot)].rank == .vacant, "slot \(slot) is taken")
    precondition(cost >= 0 && cost <= limit - totalCost, "no room for \(cost) in slot \(slot)")
    states[Int(slot)].cost = cost
    totalCost += cost
    count += 1
    if isPinned { pinnedCost += cost }
    setRank(of: slot, isPinned ? .pinned : use.isSeen ? .seen : .unseen, use.time)
  }

  /// Vacates a slot that is in use, whatever its rank.
  mutating func leave(_ slot: Int32) {
    let state = states[Int(slot)]
    precondition(state.rank != .vacant, "slot \(slot) is vacant")
    if state.rank == .pinned { pinnedCost -= state.cost }
    setRank(of: slot, .vacant, 0)
    totalCost -= state.cost
    count -= 1
  }

  /// Whether somebody has seen what is in a slot; `latest` says what has not been asked about yet.
  func isSeen(_ slot: Int32, latest: Use) -> Bool {
    latest.isSeen || states[Int(slot)].rank == .seen || states[Int(slot)].rank == .pinned
  }

  /// Keeps what is in a slot until ``unpin(_:time:)``. Once for each slot: others count.
  mutating func pin(_ slot: Int32) {
    precondition(states[Int(slot)].rank != .pinned, "slot \(slot) is pinned")
    pinnedCost += states[Int(slot)].cost
    setRank(of: slot, .pinned, 0)
  }

  /// Makes what was pinned until now the most recently used and seen.
  mutating func unpin(_ slot: Int32, time: UInt64) {
    precondition(states[Int(slot)].rank == .pinned, "slot \(slot) is not pinned")
    pinnedCost -= states[Int(slot)].cost
    setRank(of: slot, .seen, time)
  }

  /// What goes next; `nil` if nothing may go. It stays until ``leave(_:)``.
  ///
  /// - Parameter latest: the last use of a slot that has not been told otherwise.
  mutating func next(_ latest: (Int32) -> Use) -> Int32? {
    while let first = unseen.first {
      let use = latest(first.slot)
      if use.isSeen {
        setRank(of: first.slot, .seen, max(first.use, use.time))
      } else if use.time > first.use {
        unseen.renewFirst(use: use.time)
      } else {
        return first.slot
      }
    }
    while let first = seen.first {
      let use = latest(first.slot)
      guard use.time > first.use else { return first.slot }
      seen.renewFirst(use: use.time)
    }
    return nil
  }

  /// The slots that may go, in the order in which they would; takes time proportional to their number and
  /// its logarithm.
  func order(_ latest: (Int32) -> Use) -> [Int32] {
    let ranked = (unseen.all + seen.all).map { element in
      let use = latest(element.slot)
      return (
        element.slot, isSeen(element.slot, latest: use) ? 1 : 0, max(element.use, use.time)
      )
    }
    return ranked.sorted { ($0.1, $0.2) < ($1.1, $1.2) }.map(\.0)
  }

  private mutating func setRank(of slot: Int32, _ rank: Rank, _ time: UInt64) {
    switch states[Int(slot)].rank {
    case .unseen: unseen.remove(slot)
    case .seen: seen.remove(slot)
    case .vacant, .pinned: break
    }
    states[Int(slot)].rank = rank
    switch rank {
    case .unseen: unseen.insert(slot, use: time)
    case .seen: seen.insert(slot, use: time)
    case .vacant, .pinned: break
    }
  }
}
