import PosterServer
import TestSupport
import Testing

@testable import PosterCache

/// What requests to TMDB's API look like on the wire.
@Suite(.timeLimit(.minutes(1)))
struct TMDBConnectionTests {
  @Test func `a key and a token both get the demo's configuration`() async throws {
    let origin = try DemoOrigin()
    let pipeline = try PosterPipeline(.init())
    for credential in [Credential.apiKey(Self.key), .bearerToken("eyJhbGciOiJub25lIn0.e30.")] {
      let host = try await ImageHost.loaded(
        api: origin.api, credential: credential, load: pipeline.page)
      #expect(host == ImageHost(origin.images))
    }
    let error = await #expect(throws: PosterError.self) {
      _ = try await ImageHost.loaded(api: origin.api, credential: nil, load: pipeline.page)
    }
    #expect(error?.code == .unauthorized)
    await pipeline.shutdown()
  }

  @Test func `no query reaches a header, and no filter the page, over real connections`()
    async throws
  {
    let server = ScriptedServer { _ in
      [.response(body: Array(#"{"results":[{"id":1}],"total_pages":2}"#.utf8))]
    }
    let pipeline = try PosterPipeline(.init())
    let odd = "a\r\nX-Odd: 1\r\n\r\nGET /x HTTP/1.1\r\n&page=9&api_key=b#c?d=%00\u{0}e"
    let lists: [TMDBList] = [
      .search(media: .all, query: odd),
      .discover(media: .movie, filters: [try QueryFilter("with_x=\(odd)")]),
    ]
    for list in lists {
      var feed = try TMDBFeed(
        list, api: PosterAddress(server.address("/3")), credential: .apiKey(Self.key),
        language: "ko-KR", region: "KR", load: pipeline.page)
      _ = try await feed.nextPage()
      _ = try await feed.nextPage()
    }
    await pipeline.shutdown()
    server.stop()
    let escaped =
      "a%0D%0AX-Odd%3A%201%0D%0A%0D%0AGET%20%2Fx%20HTTP%2F1.1%0D%0A%26page%3D9%26api_key%3Db"
      + "%23c%3Fd%3D%2500%00e"
    #expect(
      server.requests.map(\.target) == [
        "/3/search/multi?page=1&language=ko-KR&region=KR&query=\(escaped)&api_key=\(Self.key)",
        "/3/search/multi?page=2&language=ko-KR&region=KR&query=\(escaped)&api_key=\(Self.key)",
        "/3/discover/movie?page=1&language=ko-KR&region=KR&with_x=\(escaped)&api_key=\(Self.key)",
        "/3/discover/movie?page=2&language=ko-KR&region=KR&with_x=\(escaped)&api_key=\(Self.key)",
      ])
    #expect(server.requests.allSatisfy { $0.headers["x-odd"] == nil })
  }

  private static let key = "0123456789abcdef0123456789abcdef"
}
