import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct LRUTableTests {
  @Test func `reading counts as use, and the least recently used goes first`() {
    var table = LRUTable<String>(limit: 3)
    for name in ["A", "B", "C"] { table.insert(name, for: key(name), cost: 1) }
    #expect(table.value(for: key("A")) == "A")
    table.trim(to: 2)
    #expect(table.keysByRecency == [key("A"), key("C")])
  }

  private func key(_ name: String) -> CacheKey {
    CacheKey(high: 0, low: UInt64(name.utf8.first ?? 0))
  }
}
