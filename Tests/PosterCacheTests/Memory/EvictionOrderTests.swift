import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct EvictionOrderTests {
  private typealias Use = EvictionOrder.Use

  private static func unused(_: Int32) -> Use { Use(time: 0, isSeen: false) }

  @Test func `the least recently used goes first, as it is asked about`() {
    var order = EvictionOrder(limit: 100)
    for slot in 0..<4 as Range<Int32> {
      order.enter(slot, cost: 10, Use(time: UInt64(slot) + 1, isSeen: true), isPinned: false)
    }
    // Slot 0 has been used since, and then slot 1.
    let uses: [Int32: Use] = [0: Use(time: 9, isSeen: true), 1: Use(time: 10, isSeen: true)]
    let latest = { slot in uses[slot] ?? Self.unused(slot) }
    #expect(order.order(latest) == [2, 3, 0, 1])
    var went: [Int32] = []
    while let next = order.next(latest) {
      went.append(next)
      order.leave(next)
    }
    #expect(went == [2, 3, 0, 1])
    #expect(order.count == 0 && order.totalCost == 0)
  }

  @Test func `what nobody has seen goes before what somebody has`() {
    var order = EvictionOrder(limit: 100)
    order.enter(0, cost: 10, Use(time: 1, isSeen: true), isPinned: false)
    order.enter(1, cost: 10, Use(time: 2, isSeen: false), isPinned: false)
    order.enter(2, cost: 10, Use(time: 3, isSeen: false), isPinned: false)
    let next = order.next(Self.unused)
    #expect(next == 1)
    // A look by somebody promotes the one, and one by nobody only moves the other.
    let uses: [Int32: Use] = [1: Use(time: 4, isSeen: true), 2: Use(time: 5, isSeen: false)]
    #expect(order.order { uses[$0] ?? Self.unused($0) } == [2, 0, 1])
  }

  @Test func `what is pinned does not go, and leaves less room`() {
    var order = EvictionOrder(limit: 100)
    for slot in 0..<10 as Range<Int32> {
      order.enter(slot, cost: 10, Use(time: UInt64(slot) + 1, isSeen: false), isPinned: slot == 0)
    }
    for slot in 1..<9 as Range<Int32> { order.pin(slot) }
    #expect(order.pinnedCost == 90)
    #expect(order.admits(10))
    let next = order.next(Self.unused)
    #expect(next == 9)
    order.pin(9)
    let none = order.next(Self.unused)
    #expect(none == nil)
    #expect(!order.admits(1) && order.admits(0))
    order.unpin(3, time: 20)
    order.unpin(2, time: 21)
    #expect(order.order(Self.unused) == [3, 2])
    order.leave(4)
    #expect(order.pinnedCost == 70 && order.totalCost == 90)
  }

  @Test(arguments: [
    (100, 10, true), (100, 11, false), (109, 10, true), (9, 0, true), (9, 1, false),
  ])
  func `only what costs at most a tenth of the limit is kept`(limit: Int, cost: Int, isKept: Bool) {
    #expect(EvictionOrder(limit: limit).admits(cost) == isKept)
  }

  @Test(arguments: [UInt64.random(in: 0...UInt64.max), 1, 2])
  func `random operations match a naive model`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let limit = 1000
    let slots: Int32 = 60
    var order = EvictionOrder(limit: limit)
    var model = NaiveCache<CacheKey, Int32>(limit: limit)
    var uses = [Use](repeating: Self.unused(0), count: Int(slots))
    func key(_ slot: Int32) -> CacheKey { CacheKey(high: 0, low: UInt64(slot)) }
    for time in 1...30_000 as ClosedRange<UInt64> {
      let slot = Int32.random(in: 0..<slots, using: &generator)
      let isThere = model.items.contains { $0.key == key(slot) }
      let isSeen = Bool.random(using: &generator)
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<30 where !isThere:
        let cost = Int.random(in: 0...100, using: &generator)
        let isPinned = model.isPinned(key(slot))
        let isKept = model.insert(slot, for: key(slot), cost: cost, isSeen: isSeen)
        try #require(order.admits(cost) == isKept, "seed \(seed), time \(time)")
        guard isKept else { continue }
        while order.totalCost > limit - cost, let next = order.next({ uses[Int($0)] }) {
          order.leave(next)
        }
        uses[Int(slot)] = Self.unused(slot)
        order.enter(slot, cost: cost, Use(time: time, isSeen: isSeen), isPinned: isPinned)
      case 0..<70 where isThere:
        _ = model.value(for: key(slot), isSeen: isSeen)
        uses[Int(slot)] = Use(time: time, isSeen: isSeen || uses[Int(slot)].isSeen)
      case 70..<80 where isThere:
        model.remove { $0 == key(slot) }
        order.leave(slot)
      case 80..<86 where isThere && !model.isPinned(key(slot)):
        model.pin(key(slot))
        order.pin(slot)
      case 86..<94 where isThere && model.isPinned(key(slot)):
        _ = model.unpin(key(slot))
        order.unpin(slot, time: time)
      case 94..<95:
        let cost = Int.random(in: 0...limit, using: &generator)
        model.trim(to: cost)
        while order.totalCost > cost, let next = order.next({ uses[Int($0)] }) { order.leave(next) }
      default: break
      }
      try #require(order.totalCost == model.totalCost, "seed \(seed), time \(time)")
      try #require(order.pinnedCost == model.pinnedCost, "seed \(seed), time \(time)")
      try #require(order.count == model.items.count, "seed \(seed), time \(time)")
      if time % 100 == 0 {
        let expected = model.keysByEviction
        let found = order.order({ uses[Int($0)] }).map(key)
        try #require(found == expected, "seed \(seed), time \(time)")
      }
    }
  }
}
