import FoundationEssentials
import Glibc
import PosterCache
import PosterServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DemoOriginTests {
  private static let page = "/3/trending/all/day"

  // MARK: API

  @Test func `a page comes as JSON with twenty results`() throws {
    let origin = try DemoOrigin()
    let response = try PlainHTTP.get("\(Self.page)?page=2&api_key=any", port: origin.port)
    #expect(response.status == 200)
    #expect(response["content-type"] == "application/json;charset=utf-8")
    let page = try ListedPage(response.body)
    #expect(page.page == 2)
    #expect(page.results.count == 20)
  }

  @Test func `Korean arrives as UTF-8`() throws {
    let origin = try DemoOrigin()
    let response = try PlainHTTP.get(
      "\(Self.page)?language=ko-KR&api_key=any", port: origin.port)
    let title = try #require(try ListedPage(response.body).results.first).title
    #expect(title.unicodeScalars.contains { (0xAC00...0xD7A3).contains($0.value) })
    #expect(response.text.contains(title))
    #expect(response["content-length"] == String(response.body.count))
  }

  @Test(arguments: ["api_key=x", "page=1&api_key=0123456789abcdef"])
  func `any key opens`(query: String) throws {
    let origin = try DemoOrigin()
    #expect(try PlainHTTP.get("\(Self.page)?\(query)", port: origin.port).status == 200)
  }

  @Test(arguments: ["Bearer eyJ.a.b", "bearer x"])
  func `any token opens`(authorization: String) throws {
    let origin = try DemoOrigin()
    let response = try PlainHTTP.get(
      Self.page, port: origin.port, headers: ["Authorization": authorization])
    #expect(response.status == 200)
  }

  @Test(arguments: [
    ("/3/trending/all/day", [:]), ("/3/trending/all/day?api_key=", [:]), ("/3/configuration", [:]),
    ("/3/nonsense", ["Authorization": "Bearer "]), ("/3/", ["Authorization": "Basic eDp5"]),
  ])
  func `without a key everything is refused in TMDB's words`(
    target: String, headers: [String: String]
  ) throws {
    let origin = try DemoOrigin()
    let response = try PlainHTTP.get(target, port: origin.port, headers: headers)
    #expect(response.status == 401)
    #expect(
      response.text
        == #"{"status_code":7,"status_message":"Invalid API key: You must be granted a valid key.""#
        + #","success":false}"#)
  }

  @Test func `an origin that wants no key answers without one`() throws {
    var configuration = DemoOrigin.Configuration()
    configuration.requiresCredential = false
    let origin = try DemoOrigin(configuration)
    for target in ["/3/trending/all/day", "/3/configuration"] {
      #expect(try PlainHTTP.get(target, port: origin.port).status == 200)
    }
    #expect(try PlainHTTP.get("/3/nonsense", port: origin.port).status == 404)
  }

  @Test(arguments: [
    "/3/nonsense", "/3/", "/3", "/3/trending/all", "/3/trending/all/month", "/3/trending/book/day",
    "/3/trending/all/day/more", "/3/configuration/", "/3/movie/0/similar", "/3/movie/x/similar",
    "/3/person/1001/similar", "/3/all/1001/recommendations", "/3/movie/1001/reviews",
    "/3/movie/1001", "/3/movie/-1/similar",
  ])
  func `unknown resources are TMDB's 404`(path: String) throws {
    let origin = try DemoOrigin()
    let response = try PlainHTTP.get("\(path)?api_key=x", port: origin.port)
    #expect(response.status == 404)
    #expect(response.text.contains(#""status_code":34,"#))
    #expect(response.text.contains("The resource you requested could not be found."))
  }

  @Test(arguments: ["0", "501", "-1", "one", "1.5", ""])
  func `pages outside 1 to 500 are TMDB's 400`(page: String) throws {
    let origin = try DemoOrigin()
    let response = try PlainHTTP.get("\(Self.page)?api_key=x&page=\(page)", port: origin.port)
    #expect(response.status == 400)
    #expect(
      response.text
        == #"{"status_code":22,"status_message":"Invalid page: Pages start at 1 and max at 500. "#
        + #"They are expected to be an integer.","success":false}"#)
  }

  @Test(arguments: [60: 20, 61: 0, 500: 0])
  func `there are sixty pages`(page: Int, count: Int) throws {
    let origin = try DemoOrigin()
    let response = try PlainHTTP.get("\(Self.page)?api_key=x&page=\(page)", port: origin.port)
    #expect(try ListedPage(response.body).results.count == count)
  }

  @Test(arguments: ["movie", "tv"], ["similar", "recommendations"])
  func `a title has three pages of related ones`(media: String, relation: String) throws {
    let origin = try DemoOrigin()
    for (page, count) in [(1, 20), (3, 20), (4, 0)] {
      let response = try PlainHTTP.get(
        "/3/\(media)/1001/\(relation)?api_key=x&page=\(page)", port: origin.port)
      let answer = try ListedPage(response.body)
      #expect((answer.page, answer.totalPages, answer.results.count) == (page, 3, count))
    }
  }

  @Test func `the configuration names the host by which it was asked`() throws {
    struct Configuration: Decodable {
      struct Images: Decodable {
        let baseUrl: String
        let secureBaseUrl: String
        let posterSizes: [String]
      }
      let images: Images
    }
    let origin = try DemoOrigin()
    let response = try PlainHTTP.get(
      "/3/configuration?api_key=x", port: origin.port, headers: ["Host": "demo.test"])
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let images = try decoder.decode(Configuration.self, from: Data(response.body)).images
    #expect(images.baseUrl == "http://demo.test/t/p/")
    #expect(images.secureBaseUrl == "http://demo.test/t/p/")
    #expect(images.posterSizes == ImageHost.tmdb.sizes(of: .poster).map(\.rawValue))
  }

  // MARK: Pictures

  @Test func `a picture comes whole with its headers, and again on the same connection`() throws {
    let origin = try DemoOrigin()
    let client = try PlainHTTP(port: origin.port)
    for name in ["a.jpg", "a.png", "a.jpg"] {
      let response = try client.get("/t/p/w185/\(name)")
      #expect(response.status == 200)
      #expect(response.body == DemoPoster.encode(name: name, size: .w185))
      #expect(response.isComplete)
      #expect(response["content-length"] == String(response.body.count))
      #expect(response["content-type"] == (name == "a.png" ? "image/png" : "image/jpeg"))
      #expect(response["cache-control"] == "public, max-age=31536000")
      #expect(response["last-modified"] == "Wed, 01 Jan 2025 00:00:00 GMT")
      let etag = try #require(response["etag"])
      #expect(etag.hasPrefix("\"") && etag.hasSuffix("\"") && etag.count > 10)
    }
  }

  @Test(arguments: [
    "/t/p/w999/a.jpg", "/t/p/w342/a.gif", "/t/p/w342/", "/t/p/w342", "/t/p/", "/t/p/w342/a/b.jpg",
    "/t/q/w342/a.jpg", "/nothing", "/t/p/w342/a%20b.jpg",
  ])
  func `other sizes and names are 404`(path: String) throws {
    let origin = try DemoOrigin()
    let response = try PlainHTTP.get(path, port: origin.port)
    #expect(response.status == 404)
    #expect(response["content-type"] == "text/plain; charset=utf-8")
  }

  @Test func `HEAD tells the length without the picture`() throws {
    let origin = try DemoOrigin()
    let client = try PlainHTTP(port: origin.port)
    let head = try client.get("/t/p/w92/a.jpg", method: "HEAD")
    #expect(head.status == 200)
    #expect(head["content-length"] == String(DemoPoster.encode(name: "a.jpg", size: .w92).count))
    // Had a body come, it would be taken for the next answer's head.
    #expect(try client.get("/t/p/w92/b.jpg").status == 200)
  }

  @Test func `what a client has already is not sent again`() throws {
    let origin = try DemoOrigin()
    let client = try PlainHTTP(port: origin.port)
    let first = try client.get("/t/p/w92/a.jpg")
    let etag = try #require(first["etag"])
    let modified = try #require(first["last-modified"])
    for headers in [["If-None-Match": etag], ["If-Modified-Since": modified]] {
      let response = try client.get("/t/p/w92/a.jpg", headers: headers)
      #expect(response.status == 304)
      #expect(response["etag"] == etag)
      #expect(response["cache-control"] == "public, max-age=31536000")
    }
    let other = try client.get("/t/p/w92/b.jpg", headers: ["If-None-Match": etag])
    #expect(other.status == 200)
    let rest = try client.get(
      "/t/p/w92/a.jpg", headers: ["Range": "bytes=100-", "If-Range": etag])
    #expect(rest.status == 206)
    #expect(rest.body == Array(first.body[100...]))
  }

  @Test func `two origins answer alike`() throws {
    let (first, second) = (try DemoOrigin(), try DemoOrigin())
    #expect(first.port != second.port)
    for target in ["/t/p/w154/same.jpg", "/t/p/w92/same.png", "\(Self.page)?page=3&api_key=x"] {
      let answers = try [first, second].map { try PlainHTTP.get(target, port: $0.port) }
      #expect(answers[0].body == answers[1].body)
      #expect(answers[0]["etag"] == answers[1]["etag"])
    }
  }

  @Test func `other methods are refused, and the front page says what this is`() throws {
    let origin = try DemoOrigin()
    let refused = try PlainHTTP.get("/t/p/w92/a.jpg", port: origin.port, method: "DELETE")
    #expect(refused.status == 405)
    #expect(refused["allow"] == "GET, HEAD")
    let index = try PlainHTTP.get("/", port: origin.port)
    #expect(index["content-type"] == "text/html; charset=utf-8")
    #expect(index.text.contains("postercache demo origin"))
  }

  // MARK: Life

  @Test func `addresses lead to the origin`() throws {
    let origin = try DemoOrigin()
    #expect(origin.api.canonical == "http://127.0.0.1:\(origin.port)/3")
    #expect(origin.images.canonical == "http://127.0.0.1:\(origin.port)/t/p/")
    let request = try PosterRequest(path: "/x.jpg", size: .w92, images: origin.images)
    #expect(request.address.canonical == "http://127.0.0.1:\(origin.port)/t/p/w92/x.jpg")
  }

  @Test func `requests are counted by path`() throws {
    let origin = try DemoOrigin()
    let client = try PlainHTTP(port: origin.port)
    for target in ["/t/p/w92/a.jpg", "/t/p/w92/a.jpg?x=1", "/t/p/w92/b.jpg", "/nothing", Self.page]
    {
      _ = try client.get(target)
    }
    #expect(
      origin.requestCounts == [
        "/t/p/w92/a.jpg": 2, "/t/p/w92/b.jpg": 1, "/nothing": 1, Self.page: 1,
      ])
    #expect(origin.requestCount(of: "/t/p/*") == 3)
    #expect(origin.requestCount(of: "/t/p/w92/a.jpg") == 2)
  }

  @Test func `a port in use is a clear error`() throws {
    let origin = try DemoOrigin()
    var configuration = DemoOrigin.Configuration()
    configuration.port = origin.port
    let error = #expect(throws: PosterError.self) { try DemoOrigin(configuration) }
    #expect(error?.code == .network)
    #expect(
      error?.message
        == "port \(origin.port) on 127.0.0.1 is in use: choose another one, or 0 for one that is free"
    )
  }

  @Test func `an address that is none, a negative latency and no bandwidth are refused`() {
    var address = DemoOrigin.Configuration()
    address.address = "not an address"
    var latency = DemoOrigin.Configuration()
    latency.latencyMilliseconds = -1
    var bandwidth = DemoOrigin.Configuration()
    bandwidth.bytesPerSecond = 0
    for configuration in [address, latency, bandwidth] {
      let error = #expect(throws: PosterError.self) { try DemoOrigin(configuration) }
      #expect(error?.code == .invalidConfiguration)
    }
  }

  @Test func `after a shutdown the port is free again, and another shutdown does nothing`() throws {
    let origin = try DemoOrigin()
    let client = try PlainHTTP(port: origin.port)
    #expect(try client.get("/").status == 200)
    origin.shutdown()
    origin.shutdown()
    #expect(throws: PlainHTTP.Failure.closed) { try client.get("/") }
    #expect(throws: PlainHTTP.Failure.cannotConnect(ECONNREFUSED)) {
      try PlainHTTP(port: origin.port)
    }
    var configuration = DemoOrigin.Configuration()
    configuration.port = origin.port
    #expect(try DemoOrigin(configuration).port == origin.port)
  }

  @Test func `many connections are served at once`() throws {
    let origin = try DemoOrigin()
    let clients = try (0..<200).map { _ in try PlainHTTP(port: origin.port) }
    for round in 0..<3 {
      for (index, client) in clients.enumerated() {
        client.send("/t/p/w92/\(round)-\(index % 7).jpg")
      }
      let expected = (0..<7).map { DemoPoster.encode(name: "\(round)-\($0).jpg", size: .w92) }
      for (index, client) in clients.enumerated() {
        #expect(try client.receive().body == expected[index % 7])
      }
    }
    #expect(origin.requestCount(of: "*") == 600)
  }
}
