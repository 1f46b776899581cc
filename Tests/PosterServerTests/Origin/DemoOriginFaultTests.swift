import PosterServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DemoOriginFaultTests {
  private static let path = "/t/p/w154/a.jpg"
  private static let whole = DemoPoster.encode(name: "a.jpg", size: .w154)

  private static func origin(_ kinds: Fault.Kind..., first: Int? = nil) throws -> DemoOrigin {
    var configuration = DemoOrigin.Configuration()
    configuration.faults = kinds.map { Fault("/t/p/*", $0, first: first) }
    return try DemoOrigin(configuration)
  }

  @Test func `a status with its headers, for the first requests only`() throws {
    let origin = try Self.origin(.status(503, headers: ["Retry-After": "2"]), first: 2)
    let client = try PlainHTTP(port: origin.port)
    for _ in 0..<2 {
      let response = try client.get(Self.path)
      #expect(response.status == 503)
      #expect(response["retry-after"] == "2")
      #expect(response["content-type"] == "text/plain; charset=utf-8")
    }
    #expect(try client.get(Self.path).body == Self.whole)
    // Another path has its own first requests.
    #expect(try client.get("/t/p/w154/b.jpg").status == 503)
    #expect(origin.requestCount(of: "/t/p/*") == 4)
  }

  @Test func `below the API a status has TMDB's body`() throws {
    let origin = try DemoOrigin()
    origin.setFaults([Fault("/3/*", .status(429))])
    let response = try PlainHTTP.get("/3/configuration?api_key=x", port: origin.port)
    #expect(response.status == 429)
    #expect(response.text.contains(#""status_code":25,"#))
  }

  @Test func `a redirection`() throws {
    let origin = try Self.origin(.redirect(to: "/elsewhere", status: 301))
    let response = try PlainHTTP.get(Self.path, port: origin.port)
    #expect(response.status == 301)
    #expect(response["location"] == "/elsewhere")
  }

  @Test func `HTML with status 200`() throws {
    let origin = try Self.origin(.wrongType)
    let response = try PlainHTTP.get(Self.path, port: origin.port)
    #expect(response.status == 200)
    #expect(response["content-type"] == "text/html; charset=utf-8")
    #expect(response.text.hasPrefix("<!doctype html>"))
  }

  @Test func `a dropped connection has no answer`() throws {
    let origin = try Self.origin(.drop, first: 1)
    #expect(throws: PlainHTTP.Failure.closed) { try PlainHTTP.get(Self.path, port: origin.port) }
    #expect(try PlainHTTP.get(Self.path, port: origin.port).body == Self.whole)
  }

  @Test(arguments: [0, 1, 1_000, 5_000])
  func `a body cut short has its whole length announced`(count: Int) throws {
    let origin = try Self.origin(.truncate(afterBytes: count))
    let response = try PlainHTTP.get(Self.path, port: origin.port)
    #expect(response.status == 200)
    #expect(response["content-length"] == String(Self.whole.count))
    #expect(response.body == Array(Self.whole.prefix(count)))
    #expect(!response.isComplete)
  }

  @Test func `a cut behind the end cuts nothing`() throws {
    let origin = try Self.origin(.truncate(afterBytes: 10_000_000))
    #expect(try PlainHTTP.get(Self.path, port: origin.port).body == Self.whole)
  }

  @Test func `a stalled body stops after its bytes, and other requests go on`() throws {
    let origin = try DemoOrigin()
    origin.addFault(Fault("/t/p/w154/a.jpg", .stall(afterBytes: 3_000)))
    let stalled = try PlainHTTP(port: origin.port)
    stalled.send(Self.path)
    let beginning = try stalled.receive(bodyLimit: 3_000)
    #expect(beginning["content-length"] == String(Self.whole.count))
    #expect(beginning.body == Array(Self.whole.prefix(3_000)))
    #expect(try PlainHTTP.get("/t/p/w154/b.jpg", port: origin.port).isComplete)
    origin.shutdown()
    #expect(try stalled.receiveUntilClosed() == [])
  }

  @Test func `a stalled answer has no headers`() async throws {
    let origin = try Self.origin(.stall())
    let stalled = try PlainHTTP(port: origin.port)
    stalled.send(Self.path)
    await origin.waitForRequests(1, of: "/t/p/*")
    origin.shutdown()
    #expect(try stalled.receiveUntilClosed() == [])
  }

  @Test(arguments: [nil, 2_000])
  func `a body without a length ends with the connection`(count: Int?) throws {
    let origin = try Self.origin(.closeWithoutLength(afterBytes: count))
    let response = try PlainHTTP.get(Self.path, port: origin.port)
    #expect(response["content-length"] == nil)
    #expect(response["transfer-encoding"] == nil)
    #expect(response.body == Array(Self.whole.prefix(count ?? .max)))
  }

  @Test(arguments: [nil, 2_000])
  func `a body in chunks, complete or cut`(count: Int?) throws {
    let origin = try Self.origin(.chunked(afterBytes: count))
    let response = try PlainHTTP.get(Self.path, port: origin.port)
    #expect(response["transfer-encoding"]?.lowercased() == "chunked")
    #expect(response.body == Array(Self.whole.prefix(count ?? .max)))
    #expect(response.isComplete == (count == nil))
  }

  @Test func `headers are replaced, added and removed, and conditions follow them`() throws {
    let origin = try Self.origin(
      .header(name: "etag", value: "\"mine\""), .header(name: "Last-Modified", value: nil),
      .header(name: "X-New", value: "yes"), .header(name: "Content-Type", value: "text/html"))
    let client = try PlainHTTP(port: origin.port)
    let response = try client.get(Self.path)
    #expect(response.headers.filter { $0.name == "etag" }.map(\.value) == ["\"mine\""])
    #expect(response["last-modified"] == nil)
    #expect(response["x-new"] == "yes")
    #expect(response["content-type"] == "text/html")
    #expect(response.body == Self.whole)
    #expect(try client.get(Self.path, headers: ["If-None-Match": "\"mine\""]).status == 304)
  }

  @Test func `faults can be combined and replaced while it runs`() throws {
    let origin = try Self.origin(.truncate(afterBytes: 10), .header(name: "ETag", value: nil))
    let spoilt = try PlainHTTP.get(Self.path, port: origin.port)
    #expect(spoilt.body.count == 10)
    #expect(spoilt["etag"] == nil)
    origin.setFaults([])
    #expect(try PlainHTTP.get(Self.path, port: origin.port).body == Self.whole)
  }
}
