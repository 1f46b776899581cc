import PosterServer
import TestSupport
import Testing

/// Only lower bounds of times are asserted: a slow machine makes answers later, never earlier.
@Suite(.timeLimit(.minutes(1)))
struct DemoOriginPaceTests {
  @Test func `latency delays each answer, and the first one on a connection twice`() throws {
    var configuration = DemoOrigin.Configuration()
    configuration.latencyMilliseconds = 50
    let origin = try DemoOrigin(configuration)
    let client = try PlainHTTP(port: origin.port)
    let clock = ContinuousClock()
    #expect(try clock.measure { _ = try client.get("/t/p/w92/a.jpg") } >= .milliseconds(100))
    #expect(try clock.measure { _ = try client.get("/t/p/w92/a.jpg") } >= .milliseconds(50))
  }

  @Test func `all answers share one link`() throws {
    let bytes = DemoPoster.encode(name: "a.jpg", size: .w154)
    var configuration = DemoOrigin.Configuration()
    configuration.bytesPerSecond = bytes.count * 20
    let origin = try DemoOrigin(configuration)
    let clients = try (0..<8).map { _ in try PlainHTTP(port: origin.port) }
    var bodies: [[UInt8]] = []
    let elapsed = try ContinuousClock().measure {
      for client in clients { client.send("/t/p/w154/a.jpg") }
      bodies = try clients.map { try $0.receive().body }
    }
    #expect(bodies == Array(repeating: bytes, count: 8))
    // Eight bodies of a twentieth of a second.
    #expect(elapsed >= .milliseconds(400))
  }

  @Test func `a paced body can be cut and gated, too`() throws {
    let bytes = DemoPoster.encode(name: "a.jpg", size: .w154)
    var configuration = DemoOrigin.Configuration()
    configuration.bytesPerSecond = 1_000_000
    configuration.faults = [Fault("/t/p/w154/a.jpg", .truncate(afterBytes: 5_001))]
    let origin = try DemoOrigin(configuration)
    #expect(
      try PlainHTTP.get("/t/p/w154/a.jpg", port: origin.port).body == Array(bytes.prefix(5_001)))
    let gate = origin.hold("/t/p/w154/b.jpg", afterBytes: 777)
    let client = try PlainHTTP(port: origin.port)
    client.send("/t/p/w154/b.jpg")
    #expect(try client.receive(bodyLimit: 777).body.count == 777)
    gate.release()
  }

  @Test func `a shutdown does not wait for slow answers`() async throws {
    var configuration = DemoOrigin.Configuration()
    configuration.latencyMilliseconds = 3_600_000
    configuration.bytesPerSecond = 1
    let origin = try DemoOrigin(configuration)
    let client = try PlainHTTP(port: origin.port)
    client.send("/t/p/w92/a.jpg")
    await origin.waitForRequests(1, of: "*")
    origin.shutdown()
    #expect(try client.receiveUntilClosed() == [])
  }
}
