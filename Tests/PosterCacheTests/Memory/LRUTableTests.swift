import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct LRUTableTests {
  @Test func `reading counts as use, and the least recently used goes first`() {
    var table = LRUTable<String>(limit: 3)
    for name in ["A", "B", "C"] { table.insert(name, for: key(name), cost: 1) }
    let read = table.value(for: key("A"))
    #expect(read == "A")
    table.trim(to: 2)
    #expect(table.keysByRecency == [key("A"), key("C")])
    #expect(table.peek(key("B")) == nil)
  }

  @Test func `a value dearer than the limit is not kept and evicts only its earlier version`() {
    var table = LRUTable<String>(limit: 10)
    table.insert("A", for: key("A"), cost: 4)
    table.insert("B", for: key("B"), cost: 5)
    let isKept = table.insert("A, larger", for: key("A"), cost: 11)
    #expect(!isKept)
    #expect(table.keysByRecency == [key("B")])
    #expect(table.totalCost == 5)
  }

  @Test func `lowering the limit evicts no more than it must`() {
    var table = LRUTable<String>(limit: 10)
    for name in ["A", "B", "C"] { table.insert(name, for: key(name), cost: 3) }
    table.setLimit(6)
    #expect(table.keysByRecency == [key("C"), key("B")])
    table.setLimit(0)
    #expect(table.count == 0)
    #expect(table.totalCost == 0)
  }

  @Test func `peeking is no use`() {
    var table = LRUTable<String>(limit: 2)
    table.insert("A", for: key("A"), cost: 1)
    table.insert("B", for: key("B"), cost: 1)
    #expect(table.peek(key("A")) == "A")
    #expect(table.keysByRecency == [key("B"), key("A")])
  }

  /// Keys that collide in the table: only a few different lower bits.
  @Test(arguments: [UInt64.random(in: 0...UInt64.max), 1, 2, 3])
  func `random operations match a naive model`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var table = LRUTable<Int>(limit: 200)
    var model: [(key: CacheKey, value: Int, cost: Int)] = []
    var limit = 200
    for step in 0..<30_000 {
      let high = UInt64.random(in: 0..<40, using: &generator)
      let key = CacheKey(high: high, low: high % 5 &* 0xFFFF_FFFF_FFFF_FFF1)
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<50:
        let cost = Int.random(in: 0..<30, using: &generator)
        table.insert(step, for: key, cost: cost)
        model.removeAll { $0.key == key }
        if cost <= limit {
          model.insert((key, step, cost), at: 0)
          while model.reduce(0, { $0 + $1.cost }) > limit { model.removeLast() }
        }
      case 50..<85:
        let index = model.firstIndex { $0.key == key }
        let read = table.value(for: key)
        #expect(read == index.map { model[$0].value }, "seed \(seed), step \(step)")
        if let index { model.insert(model.remove(at: index), at: 0) }
      case 85..<95:
        let index = model.firstIndex { $0.key == key }
        let removed = table.remove(key)
        #expect(removed == index.map { model[$0].value }, "seed \(seed), step \(step)")
        if let index { model.remove(at: index) }
      case 95..<98:
        let cost = Int.random(in: 0...limit, using: &generator)
        table.trim(to: cost)
        while model.reduce(0, { $0 + $1.cost }) > cost { model.removeLast() }
      default:
        limit = Int.random(in: 50..<400, using: &generator)
        table.setLimit(limit)
        while model.reduce(0, { $0 + $1.cost }) > limit { model.removeLast() }
      }
      #expect(table.count == model.count, "seed \(seed), step \(step)")
      #expect(table.totalCost == model.reduce(0) { $0 + $1.cost }, "seed \(seed), step \(step)")
    }
    #expect(table.keysByRecency == model.map(\.key), "seed \(seed)")
  }

  private func key(_ name: String) -> CacheKey {
    CacheKey(high: 0, low: UInt64(name.utf8.first ?? 0))
  }
}
