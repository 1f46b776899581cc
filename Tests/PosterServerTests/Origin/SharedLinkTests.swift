import Testing

@testable import PosterServer

@Suite(.timeLimit(.minutes(1)))
struct SharedLinkTests {
  @Test func `bytes take their time, one after the other, and an idle link saves nothing up`() {
    var link = SharedLink(bytesPerSecond: 1_000)
    #expect(link.reserve(100, readyAt: 0) == 100_000_000)
    #expect(link.reserve(100, readyAt: 0) == 200_000_000)
    #expect(link.reserve(100, readyAt: 1_000_000_000) == 1_100_000_000)
  }

  @Test(arguments: [(1, 256), (1_000_000, 4_000), (1_000_000_000, 65_536)])
  func `a piece takes about four milliseconds`(bytesPerSecond: Int, quantum: Int) {
    #expect(SharedLink(bytesPerSecond: bytesPerSecond).quantum == quantum)
  }

  @Test(arguments: UInt64(1)...20)
  func `whatever the order, a busy link carries exactly its bandwidth`(seed: UInt64) {
    var random = SeededRandom("link \(seed)")
    let bytesPerSecond = 1_000 * (1 + random.below(50_000))
    var link = SharedLink(bytesPerSecond: bytesPerSecond)
    // Each sender asks again when its last piece has passed.
    var ready = (0..<8).map { _ in UInt64(random.below(1_000_000)) }
    var sent = [Int](repeating: 0, count: ready.count)
    var end: UInt64 = 0
    for _ in 0..<4_000 {
      let sender = ready.indices.min { ready[$0] < ready[$1] } ?? 0
      end = link.reserve(link.quantum, readyAt: ready[sender])
      ready[sender] = end
      sent[sender] += link.quantum
    }
    let seconds = Double(end) / 1e9
    let total = Double(sent.reduce(0, +))
    #expect(abs(total / seconds / Double(bytesPerSecond) - 1) < 0.01)
    #expect((sent.max() ?? 0) - (sent.min() ?? 0) <= 2 * link.quantum)
  }
}
