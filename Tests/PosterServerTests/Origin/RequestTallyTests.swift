import Testing

@testable import PosterServer

@Suite(.timeLimit(.minutes(1)))
struct RequestTallyTests {
  @Test func `a pattern counts its path, or all that begin alike`() {
    var tally = RequestTally()
    for path in ["/a", "/a", "/a/b", "/c"] { _ = tally.requestDidArrive(for: path) }
    #expect(tally.counts == ["/a": 2, "/a/b": 1, "/c": 1])
    #expect(tally.count(of: "/a") == 2)
    #expect(tally.count(of: "/a*") == 3)
    #expect(tally.count(of: "*") == 4)
    #expect(tally.count(of: "/d") == 0)
  }

  @Test func `connections are counted in the order in which they were opened`() {
    var tally = RequestTally()
    for connection in [2, 0, 2, RequestTally.connectionLimit] {
      tally.requestDidArrive(on: connection)
    }
    #expect(tally.connectionCounts == [1, 0, 2])
  }

  @Test func `a waiter who has left is not woken`() throws {
    var tally = RequestTally()
    let wait = tally.wait(for: 1, of: "/a")
    let waiter = try #require(wait)
    tally.waiterDidLeave(waiter)
    #expect(tally.requestDidArrive(for: "/a") == [])
  }

  @Test func `paths beyond the limit are counted together`() {
    var tally = RequestTally()
    for number in 0..<RequestTally.pathLimit + 5 {
      _ = tally.requestDidArrive(for: "/\(number)")
    }
    #expect(tally.counts["*"] == 5)
    #expect(tally.count(of: "*") == RequestTally.pathLimit + 5)
  }

  @Test(arguments: UInt64(1)...20)
  func `random waiters wake with the request that completes their number`(seed: UInt64) {
    var random = SeededRandom("tally \(seed)")
    var tally = RequestTally()
    var arrived: [String: Int] = [:]
    var waiting: [Int: (count: Int, pattern: PathPattern)] = [:]
    func reached(_ count: Int, _ pattern: PathPattern) -> Bool {
      arrived.reduce(0) { pattern.matches($1.key) ? $0 + $1.value : $0 } >= count
    }
    for step in 0..<400 {
      if random.below(3) > 0 {
        let path = random.pick(["/a", "/ab", "/b", "/b/c"])
        arrived[path, default: 0] += 1
        let satisfied = waiting.filter { reached($0.value.count, $0.value.pattern) }.keys.sorted()
        for waiter in satisfied { waiting[waiter] = nil }
        #expect(tally.requestDidArrive(for: path).sorted() == satisfied)
      } else {
        let pattern = PathPattern(random.pick(["/a", "/a*", "/b*", "*", "/none"]))
        let count = random.below(step + 20)
        let waiter = tally.wait(for: count, of: pattern)
        #expect((waiter == nil) == reached(count, pattern))
        if let waiter { waiting[waiter] = (count, pattern) }
      }
    }
  }
}
