import PosterServer
import TestSupport
import Testing

/// What a client meets that continues a broken transfer, and how its connections are counted.
@Suite(.timeLimit(.minutes(1)))
struct DemoOriginRangeTests {
  private static let path = "/t/p/w154/a.jpg"
  private static let whole = DemoPoster.encode(name: "a.jpg", size: .w154)

  private let origin: DemoOrigin
  private let client: PlainHTTP

  init() throws {
    origin = try DemoOrigin()
    client = try PlainHTTP(port: origin.port)
  }

  private func rest(from start: Int, if validator: String? = nil) throws -> PlainHTTP.Response {
    var headers = ["Range": "bytes=\(start)-"]
    headers["If-Range"] = validator
    return try client.get(Self.path, headers: headers)
  }

  @Test func `the rest fits the beginning`() throws {
    let etag = try #require(try client.get(Self.path)["etag"])
    let response = try rest(from: 1_000, if: etag)
    #expect(response.status == 206)
    #expect(response.body == Array(Self.whole[1_000...]))
    let last = Self.whole.count - 1
    #expect(response["content-range"] == "bytes 1000-\(last)/\(Self.whole.count)")
    #expect(response["etag"] == etag)
    #expect(try rest(from: Self.whole.count, if: etag).status == 416)
    #expect(try rest(from: 1_000, if: "\"other\"").body == Self.whole)
  }

  @Test(arguments: [(500, 1_500), (-500, 500), (-5_000, 0)])
  func `a part from another offset says so`(distance: Int, start: Int) throws {
    origin.addFault(Fault("/t/p/*", .otherRange(by: distance)))
    let response = try rest(from: 1_000)
    #expect(response.status == 206)
    #expect(response.body == Array(Self.whole[start...]))
    let last = Self.whole.count - 1
    #expect(response["content-range"] == "bytes \(start)-\(last)/\(Self.whole.count)")
    #expect(try client.get(Self.path).body == Self.whole)
  }

  @Test func `a part behind the end is the last byte`() throws {
    origin.addFault(Fault("/t/p/*", .otherRange(by: 10_000_000)))
    #expect(try rest(from: 1_000).body == Array(Self.whole.suffix(1)))
  }

  @Test func `a short part says so, too`() throws {
    origin.addFault(Fault("/t/p/*", .shortRange(bytes: 10)))
    let response = try rest(from: 1_000)
    #expect(response.status == 206)
    #expect(response.body == Array(Self.whole[1_000..<1_010]))
    #expect(response.isComplete)
    #expect(response["content-range"] == "bytes 1000-1009/\(Self.whole.count)")
    #expect(try client.get(Self.path).body == Self.whole)
  }

  @Test func `a part that is cut has its length announced`() throws {
    origin.addFault(Fault("/t/p/*", .truncate(afterBytes: 10)))
    let response = try rest(from: 1_000)
    #expect(response.status == 206)
    #expect(response["content-length"] == "\(Self.whole.count - 1_000)")
    #expect(response.body == Array(Self.whole[1_000..<1_010]))
    #expect(!response.isComplete)
  }

  @Test func `a range can be refused whatever it is`() throws {
    origin.addFault(Fault("/t/p/*", .unsatisfiableRange))
    let response = try rest(from: 1_000)
    #expect(response.status == 416)
    #expect(response["content-range"] == "bytes */\(Self.whole.count)")
    #expect(response.body == [])
    #expect(try client.get(Self.path).body == Self.whole)
  }

  @Test func `a file is replaced between two requests`() throws {
    origin.setFaults([
      Fault("/t/p/*", .otherPicture(), first: 1), Fault("/t/p/*", .otherPicture(2), first: 2),
    ])
    let first = try client.get(Self.path)
    #expect(first.body == DemoPoster.encode(name: "other1-a.jpg", size: .w154))
    let etag = try #require(first["etag"])
    // What belongs to the first picture does not continue the second.
    let second = try rest(from: 1_000, if: etag)
    #expect(second.status == 200)
    #expect(second.body == DemoPoster.encode(name: "other2-a.jpg", size: .w154))
    #expect(second["etag"] != etag)
    let third = try client.get(Self.path, headers: ["If-None-Match": etag])
    #expect(third.status == 200)
    #expect(third.body == Self.whole)
    #expect(origin.requestCount(of: PathPattern(Self.path)) == 3)
  }

  @Test func `requests are counted by connection`() throws {
    for _ in 0..<3 { _ = try client.get("/") }
    let other = try PlainHTTP(port: origin.port)
    _ = try other.get("/")
    _ = try client.get("/")
    #expect(origin.requestCountsByConnection == [4, 1])
    #expect(origin.connectionCount == 2)
    origin.shutdown()
    #expect(origin.connectionCount == 2)
  }
}
