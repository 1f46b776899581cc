import TestSupport
import Testing

@testable import PosterCache

/// Unusual addresses all the way: asked for, fetched, stored and found again.
@Suite(.timeLimit(.minutes(1)))
struct AddressTransferTests {
  @Test(arguments: [
    ("http://bücher.example/ä.jpg", "xn--bcher-kva.example", "/%C3%A4.jpg"),
    (
      "http://BÜCHER.example/ä%20b.jpg?größe=50%", "xn--bcher-kva.example",
      "/%C3%A4%20b.jpg?gr%C3%B6%C3%9Fe=50%25"
    ),
    ("http://例え。テスト/画像/一.jpg", "xn--r8jz45g.xn--zckzah", "/%E7%94%BB%E5%83%8F/%E4%B8%80.jpg"),
    ("http://h.test/t/p/w342//a.jpg#x", "h.test", "/t/p/w342/a.jpg"),
    ("http://h.test?x", "h.test", "/?x"),
    ("http://h.test/a//b/%2e%2e/c|[d]", "h.test", "/a//c%7C%5Bd%5D"),
    ("http://h.test/\(String(repeating: "x", count: 8_000))", "h.test", nil),
    ("http://h.test/a?\(String(repeating: "é", count: 2_600))", "h.test", nil),
  ])
  func `a picture behind it is fetched once and found again`(
    text: String, host: String, target: String?
  ) async throws {
    let directory = TemporaryDirectory()
    let server = ScriptedServer { _ in [.response(body: TestPicture.png)] }
    defer { server.stop() }
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = directory.path
    configuration.fetching.connectTo = ["\(host):80:127.0.0.1:\(server.port)"]
    let request = try PosterRequest(text)
    for source in [Poster.Source.network, .disk] {
      let pipeline = try PosterPipeline(configuration)
      let poster = try await pipeline.poster(for: request)
      #expect(poster.source == source)
      #expect(poster.body.bytes == TestPicture.png)
      #expect(poster.metadata.address == request.address)
      await pipeline.shutdown()
    }
    let requests = server.requests
    try #require(requests.count == 1)
    let expected = target ?? String(request.address.canonical.dropFirst("http://\(host)".count))
    #expect(requests[0].target == expected)
    #expect(requests[0].headers["host"] == host)
  }

  @Test func `a redirected picture is kept under the address asked for`() async throws {
    let server = ScriptedServer { request in
      request.target == "/old.jpg"
        ? [.response(301, ["Location: /new.jpg"])] : [.response(body: TestPicture.png)]
    }
    defer { server.stop() }
    let pipeline = try PosterPipeline(PosterPipeline.Configuration())
    let old = try PosterRequest(server.address("/old.jpg"))
    let poster = try await pipeline.poster(for: old)
    #expect(poster.metadata.address == old.address)
    #expect(pipeline.cachedPoster(for: old)?.stored === poster.stored)
    #expect(pipeline.cachedPoster(for: try PosterRequest(server.address("/new.jpg"))) == nil)
    await pipeline.shutdown()
  }
}
