import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct PartialStoreTests {
  private func partial(_ name: String, bytes: Int, of total: Int) throws -> PartialBody {
    var builder = PosterBody.Builder(announced: total)
    [UInt8](repeating: 7, count: bytes).withUnsafeBytes { builder.append($0) }
    return PartialBody(
      address: try PosterAddress("http://host.test/\(name)"), validator: "\"1\"", total: total,
      builder: builder)
  }

  @Test func `what was kept is handed over once`() throws {
    var store = PartialStore()
    store.insert(try partial("a", bytes: 10_000, of: 20_000))
    let address = try PosterAddress("http://host.test/a")
    #expect(store.bytes == 20_000)
    #expect(store.take(try PosterAddress("http://host.test/b")) == nil)
    #expect(store.take(address)?.count == 10_000)
    #expect(store.take(address) == nil)
    #expect(store.bytes == 0)
  }

  @Test func `the later of two beginnings of one picture is kept`() throws {
    var store = PartialStore()
    store.insert(try partial("a", bytes: 10_000, of: 20_000))
    store.insert(try partial("a", bytes: 15_000, of: 30_000))
    #expect(store.count == 1)
    #expect(store.bytes == 30_000)
    #expect(store.take(try PosterAddress("http://host.test/a"))?.count == 15_000)
  }

  @Test func `the oldest go first, and the sum of what they occupy is bounded`() throws {
    var store = PartialStore(limit: 100_000)
    for number in 0..<7 { store.insert(try partial("\(number)", bytes: 5_000, of: 30_000)) }
    #expect(store.count == 3)
    #expect(store.bytes == 90_000)
    #expect(store.take(try PosterAddress("http://host.test/3")) == nil)
    #expect(store.take(try PosterAddress("http://host.test/4")) != nil)
    store.insert(try partial("large", bytes: 5_000, of: 100_001))
    #expect(store.take(try PosterAddress("http://host.test/large")) == nil)
    #expect(store.count == 2)
  }

  @Test func `what is shorter than a request for it is not kept`() throws {
    var store = PartialStore()
    store.insert(try partial("a", bytes: PartialStore.shortest - 1, of: 30_000))
    #expect(store.count == 0)
    store.insert(try partial("a", bytes: PartialStore.shortest, of: 30_000))
    #expect(store.count == 1)
  }
}
