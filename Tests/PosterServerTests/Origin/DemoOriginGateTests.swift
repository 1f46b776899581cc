import PosterServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DemoOriginGateTests {
  private static let path = "/t/p/w92/a.jpg"
  private static let whole = DemoPoster.encode(name: "a.jpg", size: .w92)

  @Test func `held requests wait, others do not, and a release lets all go`() async throws {
    let origin = try DemoOrigin()
    let gate = origin.hold("/t/p/w92/a.jpg")
    let held = try (0..<5).map { _ in try PlainHTTP(port: origin.port) }
    for client in held { client.send(Self.path) }
    await gate.waitForRequests(5)
    #expect(try PlainHTTP.get("/t/p/w92/b.jpg", port: origin.port).status == 200)
    gate.release()
    gate.release()
    for client in held { #expect(try client.receive().body == Self.whole) }
    #expect(try PlainHTTP.get(Self.path, port: origin.port).body == Self.whole)
    #expect(origin.requestCount(of: "/t/p/w92/a.jpg") == 6)
  }

  @Test func `a gate counts from when it was made`() async throws {
    let origin = try DemoOrigin()
    for _ in 0..<3 { _ = try PlainHTTP.get(Self.path, port: origin.port) }
    let gate = origin.hold("/t/p/*")
    let client = try PlainHTTP(port: origin.port)
    client.send(Self.path)
    await gate.waitForRequests(1)
    await origin.waitForRequests(4, of: "/t/p/*")
    gate.release()
    #expect(try client.receive().body == Self.whole)
  }

  @Test func `a gate in the body lets its first bytes through`() async throws {
    let origin = try DemoOrigin()
    let gate = origin.hold("/t/p/*", afterBytes: 1_000)
    let client = try PlainHTTP(port: origin.port)
    client.send(Self.path)
    let beginning = try client.receive(bodyLimit: 1_000)
    #expect(beginning.body == Array(Self.whole.prefix(1_000)))
    gate.release()
    let other = try PlainHTTP.get(Self.path, port: origin.port)
    #expect(other.body == Self.whole)
  }

  @Test func `of several gates the newest holds`() async throws {
    let origin = try DemoOrigin()
    let old = origin.hold("/t/*")
    let new = origin.hold("/t/p/*")
    let client = try PlainHTTP(port: origin.port)
    client.send(Self.path)
    await new.waitForRequests(1)
    new.release()
    #expect(try client.receive().body == Self.whole)
    old.release()
  }

  @Test func `a shutdown ends held requests and those who wait for more`() async throws {
    let origin = try DemoOrigin()
    let gate = origin.hold("*")
    let clients = try (0..<20).map { _ in try PlainHTTP(port: origin.port) }
    for client in clients { client.send(Self.path) }
    await gate.waitForRequests(20)
    async let never: Void = gate.waitForRequests(1_000)
    origin.shutdown()
    await never
    for client in clients { #expect(try client.receiveUntilClosed() == []) }
  }

  @Test func `a cancelled task waits no longer`() async throws {
    let origin = try DemoOrigin()
    let waiter = Task { await origin.waitForRequests(1, of: "*") }
    waiter.cancel()
    await waiter.value
    #expect(origin.requestCounts == [:])
  }

  @Test func `an origin that nobody holds any longer shuts down`() throws {
    let port = try DemoOrigin().port
    #expect(throws: PlainHTTP.Failure.self) { try PlainHTTP(port: port) }
  }
}
