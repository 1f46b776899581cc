import TestSupport
import Testing

@testable import PosterCache

/// How many prefetches are in flight, on links simulated as exactly as the rule assumes.
@Suite(.timeLimit(.minutes(1)))
struct PrefetchWindowTests {
  private static let second = nanosecondsPerSecond

  /// A link through which bodies of one size pass one after the other.
  private struct Link {
    let latency: Double
    let bytesPerSecond: Double
    let bytes = 40_000

    /// Seconds that one body takes to pass.
    var passage: Double { Double(bytes) / bytesPerSecond }

    /// What one of `count` transfers that are always in flight measures.
    func sample(inFlight count: Int) -> TransferSample {
      let whole = max(latency + passage, Double(count) * passage)
      return TransferSample(
        bytes: bytes, firstByteSeconds: whole - passage,
        bytesPerSecond: Double(count * bytes) / whole, isAlone: count == 1)
    }
  }

  /// Where the limit comes to rest with that many in flight always.
  private func restingLimit(
    _ link: Link, share: Double = 1, connections: Int = 64
  ) -> Int {
    var window = PrefetchWindow(.adaptive(share: share))
    window.requestWasMade(.prefetch, visible: 0, now: 0)
    var limit = window.limit(connections: connections, visible: 0, now: 1)
    for round in 1...600 {
      let now = UInt64(round) * Self.second / 10
      window.requestWasMade(.prefetch, visible: 0, now: now)
      window.transferDidFinish(link.sample(inFlight: limit), now: now)
      limit = window.limit(connections: connections, visible: 0, now: now)
    }
    return limit
  }

  @Test func `it settles where the link is just full`() {
    // 20 Mbit/s, 80 ms: five bodies of 40 KB on their way, and one being received.
    #expect(restingLimit(Link(latency: 0.08, bytesPerSecond: 2_500_000)) == 6)
    // 5 Mbit/s: 1.25, and one more, of which a part is a whole one.
    #expect(restingLimit(Link(latency: 0.08, bytesPerSecond: 625_000)) == 3)
    // A link so slow that one body fills it.
    #expect(restingLimit(Link(latency: 0.01, bytesPerSecond: 40_000)) == 1)
  }

  @Test func `where bandwidth is not the limit, the connections are, less a reserve`() {
    let link = Link(latency: 0.08, bytesPerSecond: 125_000_000)
    #expect(restingLimit(link, connections: 16) == 15)
    #expect(restingLimit(link, connections: 1) == 1)
  }

  @Test func `a smaller share leaves a part of the link unused`() {
    let link = Link(latency: 0.08, bytesPerSecond: 2_500_000)
    let limits = [0.5, 0.8, 1, 1.5].map { restingLimit(link, share: $0) }
    #expect(limits == limits.sorted())
    #expect(limits[0] < 4)
    #expect(limits[3] > 6)
  }

  @Test func `a visible one waits a round trip, or the time of two bodies, but not for ever`() {
    func patience(_ link: Link, inFlight count: Int = 6) -> UInt64 {
      var window = PrefetchWindow(.adaptive(share: 1))
      #expect(window.patience == 0)
      window.transferDidFinish(link.sample(inFlight: count), now: 1)
      return window.patience
    }
    #expect(patience(Link(latency: 0.08, bytesPerSecond: 2_500_000)) == 80_000_000)
    #expect(patience(Link(latency: 0.08, bytesPerSecond: 400_000), inFlight: 2) == 200_000_000)
    #expect(patience(Link(latency: 0.08, bytesPerSecond: 20_000)) == 1_000_000_000)
    #expect(PrefetchWindow(.unlimited).patience == 0)
  }

  @Test func `as many slots stay free as were visible at once, at most a quarter`() {
    var window = PrefetchWindow(.adaptive(share: 1))
    let link = Link(latency: 0.08, bytesPerSecond: 125_000_000)
    window.requestWasMade(.prefetch, visible: 0, now: 0)
    window.transferDidFinish(link.sample(inFlight: 16), now: 1)
    #expect(window.limit(connections: 16, visible: 0, now: 1) == 15)
    window.requestWasMade(.visible, visible: 3, now: 2)
    #expect(window.limit(connections: 16, visible: 0, now: 2) == 13)
    window.requestWasMade(.visible, visible: 30, now: 3)
    #expect(window.limit(connections: 16, visible: 0, now: 3) == 12)
  }

  @Test func `where nobody is looking, every connection may be used`() {
    var window = PrefetchWindow(.adaptive(share: 1))
    #expect(window.limit(connections: 16, visible: 0, now: 0) == 16)
    window.requestWasMade(.background, visible: 0, now: 0)
    #expect(window.limit(connections: 16, visible: 0, now: 0) == 16)
    window.requestWasMade(.prefetch, visible: 0, now: 0)
    #expect(window.limit(connections: 16, visible: 0, now: 0) == 4)
    let end = PrefetchWindow.attentionSpan
    #expect(window.limit(connections: 16, visible: 0, now: end - 1) == 4)
    #expect(window.limit(connections: 16, visible: 0, now: end) == 16)
  }

  @Test func `a fixed window and none`() {
    #expect(PrefetchWindow(.fixed(3)).limit(connections: 16, visible: 5, now: 0) == 8)
    #expect(PrefetchWindow(.unlimited).limit(connections: 16, visible: 5, now: 0) == 16)
  }

  @Test func `the estimate takes the best of what was seen lately`() {
    var link = LinkEstimate()
    #expect(link.pipeBytes == nil)
    let samples = [(0.1, 1e6), (0.05, 2e6), (0.2, 1.5e6)]
    for (index, (latency, rate)) in samples.enumerated() {
      link.transferDidFinish(
        TransferSample(bytes: 40_000, firstByteSeconds: latency, bytesPerSecond: rate),
        now: UInt64(index))
    }
    #expect(link.bandwidth == 2e6)
    #expect(link.latencySeconds == 0.05)
    #expect(link.pipeBytes == 100_000)
    #expect(link.pipeBodies == 2.5)
    // An answer without a body says nothing about bandwidth or size.
    link.transferDidFinish(
      TransferSample(bytes: 0, firstByteSeconds: 0.04, bytesPerSecond: 9e9), now: 10)
    #expect(link.bandwidth == 2e6)
    #expect(link.meanBytes == 40_000)
    #expect(link.latencySeconds == 0.04)
  }

  @Test func `a standing queue is not taken for latency for long`() {
    var window = PrefetchWindow(.adaptive(share: 1))
    let link = Link(latency: 0.08, bytesPerSecond: 2_500_000)
    window.requestWasMade(.prefetch, visible: 0, now: 0)
    var now: UInt64 = 0
    func finish(inFlight count: Int) {
      now += Self.second / 10
      window.requestWasMade(.prefetch, visible: 0, now: now)
      window.transferDidFinish(link.sample(inFlight: count), now: now)
    }
    func limit(visible: Int = 0) -> Int {
      window.limit(connections: 64, visible: visible, now: now)
    }
    // Sixteen in flight from the start: 240 ms to the first byte, of which 80 are latency.
    for _ in 0..<99 { finish(inFlight: 16) }
    #expect(limit() == 16)
    finish(inFlight: 16)
    #expect(limit() == 1)
    #expect(limit(visible: 1) == 0)
    finish(inFlight: 1)
    #expect(limit() == 6)
    // Where nothing queues, every answer begins that soon, and nothing has to be tried.
    for _ in 0..<300 { finish(inFlight: 6) }
    #expect(limit() == 6)
    // One that never comes to an end does not hold up the others for more than a second.
    var stalled = window
    stalled.requestWasMade(.prefetch, visible: 0, now: now + 10 * Self.second)
    let probe = now + 10 * Self.second
    #expect(stalled.limit(connections: 64, visible: 0, now: probe) == 1)
    #expect(stalled.probeEnd(now: probe) == probe + Self.second)
    #expect(stalled.limit(connections: 64, visible: 1, now: probe + Self.second) == 6)
    #expect(stalled.probeEnd(now: probe + Self.second) == nil)
    // A queue has built up: it is drained, but where nothing is ever alone not for longer than a second.
    for _ in 0..<100 { finish(inFlight: 9) }
    #expect(limit() == 1)
    for _ in 0..<10 { finish(inFlight: 9) }
    #expect(limit() >= 6)
  }

  @Test func `a slower link is noticed within two spans`() {
    var link = LinkEstimate()
    func note(_ rate: Double, at second: UInt64) {
      link.transferDidFinish(
        TransferSample(bytes: 1000, firstByteSeconds: 0.1, bytesPerSecond: rate),
        now: second * Self.second)
    }
    note(2e6, at: 1)
    note(1e6, at: 11)
    #expect(link.bandwidth == 2e6)
    note(1e6, at: 22)
    #expect(link.bandwidth == 1e6)
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `the largest value lately is one of the last two spans and no older one`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var maximum = RecentMaximum(span: 100)
    var noted: [(time: UInt64, value: Double)] = []
    var now: UInt64 = 0
    for _ in 0..<200 {
      now += .random(in: 0...60, using: &random)
      let value = Double.random(in: 0...1000, using: &random)
      noted.append((now, value))
      maximum.note(value, now: now)
      let surely = noted.filter { $0.time + 100 > now }.map(\.value).max()
      let atMost = noted.filter { $0.time + 200 > now }.map(\.value).max()
      #expect(maximum.value ?? 0 >= surely ?? 0, "seed \(seed)")
      #expect(maximum.value ?? 0 <= atMost ?? 0, "seed \(seed)")
    }
  }
}
