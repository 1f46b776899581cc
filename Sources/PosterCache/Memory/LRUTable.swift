/// Values by key in exact order of use, bounded by the sum of their costs.
///
/// A struct without lock or clock. The slots lie in one array, linked by index into a list from the
/// most to the least recently used; an open-addressing table of slot numbers (linear probing, at
/// most half full, deletion by shifting back) finds them. A cache key is a uniform hash already, so
/// its lower half is the table position: no second hashing, and a hit touches three cache lines.
/// Every operation takes constant time; inserting takes as long as what it evicts.
struct LRUTable<Value: Sendable>: Sendable {
  /// The sum of costs that is never exceeded.
  private(set) var limit: Int
  /// The sum of the costs of what is kept.
  private(set) var totalCost = 0
  /// The number of values kept.
  private(set) var count = 0

  private var slots: ContiguousArray<Slot> = []
  private var firstFree = none
  private var positions: ContiguousArray<Int32>
  private var mostRecent = none
  private var leastRecent = none

  private static var none: Int32 { -1 }

  private struct Slot: Sendable {
    var key: CacheKey
    var value: Value?
    var cost: Int
    /// The slot used just after this one.
    var newer: Int32
    /// The slot used just before this one, or the next free slot.
    var older: Int32
  }

  /// - Parameter limit: the largest sum of costs, at least 0.
  init(limit: Int) {
    precondition(limit >= 0, "negative limit \(limit)")
    self.limit = limit
    positions = ContiguousArray(repeating: Self.none, count: 16)
  }

  /// The value for `key`, which becomes the most recently used.
  mutating func value(for key: CacheKey) -> Value? {
    let slot = positions[position(of: key)]
    guard slot != Self.none else { return nil }
    let first = mostRecent
    guard slot != first else { return slots[Int(slot)].value }
    mostRecent = slot
    // Moved to the front with one check that the array is ours alone instead of one for each link.
    return slots.withUnsafeMutableBufferPointer { slots in
      let moved = slots.baseAddress! + Int(slot)  // not empty: it holds `slot`
      let (newer, older) = (moved.pointee.newer, moved.pointee.older)
      slots[Int(newer)].older = older
      if older == Self.none { leastRecent = newer } else { slots[Int(older)].newer = newer }
      moved.pointee.newer = Self.none
      moved.pointee.older = first
      slots[Int(first)].newer = slot
      return moved.pointee.value
    }
  }

  /// The value for `key`, without counting as use.
  func peek(_ key: CacheKey) -> Value? {
    let slot = positions[position(of: key)]
    return slot == Self.none ? nil : slots[Int(slot)].value
  }

  /// Stores `value` as the most recently used, replacing an earlier one for `key`, and evicts from
  /// the least recently used end until the limit holds.
  ///
  /// - Returns: whether it is kept; a value that costs more than the limit is not, and evicts
  ///   nothing but its own earlier version.
  @discardableResult
  mutating func insert(_ value: Value, for key: CacheKey, cost: Int) -> Bool {
    precondition(cost >= 0, "negative cost \(cost)")
    remove(key)
    guard cost <= limit else { return false }
    trim(to: limit - cost)
    let slot = takeSlot(Slot(key: key, value: value, cost: cost, newer: -1, older: -1))
    if (count + 1) * 2 > positions.count { growPositions() }
    positions[position(of: key)] = slot
    linkAsMostRecent(slot)
    count += 1
    totalCost += cost
    return true
  }

  /// Forgets the value for `key` and returns it.
  @discardableResult
  mutating func remove(_ key: CacheKey) -> Value? {
    let place = position(of: key)
    let slot = positions[place]
    guard slot != Self.none else { return nil }
    vacate(place)
    unlink(slot)
    let value = slots[Int(slot)].value
    totalCost -= slots[Int(slot)].cost
    count -= 1
    slots[Int(slot)].value = nil
    slots[Int(slot)].older = firstFree
    firstFree = slot
    return value
  }

  /// Evicts the least recently used values until the sum of costs is at most `cost`.
  mutating func trim(to cost: Int) {
    while totalCost > cost, leastRecent != Self.none {
      remove(slots[Int(leastRecent)].key)
    }
  }

  /// Sets the limit, which holds at once.
  mutating func setLimit(_ limit: Int) {
    precondition(limit >= 0, "negative limit \(limit)")
    self.limit = limit
    trim(to: limit)
  }

  /// The keys from the most to the least recently used; takes time proportional to their number.
  var keysByRecency: [CacheKey] {
    var keys: [CacheKey] = []
    keys.reserveCapacity(count)
    var slot = mostRecent
    while slot != Self.none {
      keys.append(slots[Int(slot)].key)
      slot = slots[Int(slot)].older
    }
    return keys
  }

  // MARK: - The list

  private mutating func linkAsMostRecent(_ slot: Int32) {
    slots[Int(slot)].newer = Self.none
    slots[Int(slot)].older = mostRecent
    if mostRecent != Self.none { slots[Int(mostRecent)].newer = slot }
    mostRecent = slot
    if leastRecent == Self.none { leastRecent = slot }
  }

  private mutating func unlink(_ slot: Int32) {
    let newer = slots[Int(slot)].newer
    let older = slots[Int(slot)].older
    if newer == Self.none { mostRecent = older } else { slots[Int(newer)].older = older }
    if older == Self.none { leastRecent = newer } else { slots[Int(older)].newer = newer }
  }

  private mutating func takeSlot(_ content: Slot) -> Int32 {
    guard firstFree != Self.none else {
      slots.append(content)
      return Int32(slots.count - 1)
    }
    let slot = firstFree
    firstFree = slots[Int(slot)].older
    slots[Int(slot)] = content
    return slot
  }

  // MARK: - The table

  /// Where `key` stands in `positions`, or the vacant place where it would.
  private func position(of key: CacheKey) -> Int {
    let mask = positions.count - 1
    var place = Int(truncatingIfNeeded: key.low) & mask
    while true {
      let slot = positions[place]
      if slot == Self.none || slots[Int(slot)].key == key { return place }
      place = (place + 1) & mask
    }
  }

  /// Empties a place and moves back what had been pushed past it (Knuth, volume 3, 6.4, R).
  private mutating func vacate(_ vacated: Int) {
    let mask = positions.count - 1
    var hole = vacated
    var place = vacated
    while true {
      place = (place + 1) & mask
      let slot = positions[place]
      guard slot != Self.none else { break }
      let home = Int(truncatingIfNeeded: slots[Int(slot)].key.low) & mask
      if (place - home) & mask >= (place - hole) & mask {
        positions[hole] = slot
        hole = place
      }
    }
    positions[hole] = Self.none
  }

  private mutating func growPositions() {
    positions = ContiguousArray(repeating: Self.none, count: positions.count * 2)
    var slot = mostRecent
    while slot != Self.none {
      positions[position(of: slots[Int(slot)].key)] = slot
      slot = slots[Int(slot)].older
    }
  }
}
