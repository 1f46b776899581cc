import ScrollReplay
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SimulatedLinkTests {
  private func events(_ link: inout SimulatedLink) -> [(Double, SimulatedLink.Event)] {
    var events: [(Double, SimulatedLink.Event)] = []
    while let event = link.takeNext() { events.append((link.seconds, event)) }
    return events
  }

  private func expect(
    _ events: [(Double, SimulatedLink.Event)], _ expected: [(Double, SimulatedLink.Event)]
  ) {
    #expect(events.map(\.1) == expected.map(\.1))
    let differences = zip(events, expected).map { abs($0.0 - $1.0) }
    #expect(differences.allSatisfy { $0 < 1e-9 }, "\(events)")
  }

  @Test func `one transfer has the link for itself`() {
    var link = SimulatedLink(bytesPerSecond: 1000)
    link.start(0, bytes: 500, latency: 0.1)
    expect(events(&link), [(0.1, .firstByte(0)), (0.6, .finished(0))])
    #expect(abs(link.receivedBytes - 500) < 1e-9)
  }

  @Test func `two equal transfers share the link`() {
    var link = SimulatedLink(bytesPerSecond: 1000)
    link.start(0, bytes: 500, latency: 0.1)
    link.start(1, bytes: 500, latency: 0.1)
    expect(
      events(&link),
      [
        (0.1, .firstByte(0)), (0.1, .firstByte(1)), (1.1, .finished(0)), (1.1, .finished(1)),
      ])
  }

  /// The first has 100 ms for itself, the second 200 ms at its end.
  @Test func `whoever comes later gets an equal share from then on`() {
    var link = SimulatedLink(bytesPerSecond: 1000)
    link.start(0, bytes: 300, latency: 0.1)
    link.start(1, bytes: 400, latency: 0.2)
    expect(
      events(&link),
      [(0.1, .firstByte(0)), (0.2, .firstByte(1)), (0.6, .finished(0)), (0.8, .finished(1))])
  }

  @Test func `what is given up leaves its share to the others`() {
    var link = SimulatedLink(bytesPerSecond: 1000)
    link.start(0, bytes: 500, latency: 0)
    link.start(1, bytes: 500, latency: 0)
    link.start(2, bytes: 500, latency: 5)
    _ = link.takeNext()
    _ = link.takeNext()
    link.advance(to: 0.2)
    let left = link.bytesLeft(of: 0) ?? 0
    #expect(abs(left - 400) < 1e-9)
    #expect(link.bytesLeft(of: 2) == nil)
    let received = link.stop(1)
    #expect(abs(received - 100) < 1e-9)
    let nothing = link.stop(2)
    #expect(nothing == 0)
    expect(events(&link), [(0.6, .finished(0))])
  }

  @Test func `nothing is lost of any mixture`() {
    var random = SeededGenerator()
    var link = SimulatedLink(bytesPerSecond: 12_345)
    var total = 0.0
    for id in 0..<200 {
      let bytes = Double(Int.random(in: 1...5000, using: &random))
      total += bytes
      link.start(id, bytes: bytes, latency: Double.random(in: 0...3, using: &random))
    }
    var finished = 0
    var before = 0.0
    while let event = link.takeNext() {
      #expect(link.seconds >= before, "seed \(random.seed)")
      before = link.seconds
      if case .finished = event { finished += 1 }
    }
    #expect(finished == 200)
    #expect(abs(link.receivedBytes - total) < 1e-3, "seed \(random.seed)")
  }
}
