import PosterCache
import TestSupport
import Testing

@testable import PosterServer

@Suite(.timeLimit(.minutes(1)))
struct DemoSiteTests {
  private static let site = DemoSite(authority: "127.0.0.1:1", requiresCredential: true)

  @Test(arguments: [
    ("/3/trending/all/day", "public, max-age=300"), ("/3/tv/popular", "public, max-age=300"),
    ("/3/search/multi", "public, max-age=300"), ("/3/list/1", "public, max-age=300"),
    ("/3/configuration", "public, max-age=3600"),
    ("/v1/browse/new-releases", "private, max-age=0"),
    ("/v1/recommendations", "private, max-age=0"),
  ])
  func `lists say how long they may be kept, and are not sent again to who has them`(
    path: String, cacheControl: String
  ) throws {
    let answer = Self.site.answer(to: path)
    #expect(answer.header("Cache-Control") == cacheControl)
    let etag = try #require(answer.header("ETag"))
    #expect(etag.hasPrefix("W/\"") && etag == Self.site.answer(to: path).header("ETag"))
    let unchanged = answer.satisfying { $0 == "If-None-Match" ? etag : nil }
    #expect(unchanged.status == 304 && unchanged.range.isEmpty)
    #expect(unchanged.header("ETag") == etag)
    #expect(unchanged.header("Cache-Control") == cacheControl)
    #expect(answer.satisfying { $0 == "If-None-Match" ? "W/\"0\"" : nil }.status == 200)
  }

  @Test func `pages and languages have validators of their own`() {
    let tags = [[:], ["page": "2"], ["language": "ko"], ["page": "2", "language": "ko"]].map {
      Self.site.answer(to: "/3/movie/popular", $0).header("ETag")
    }
    #expect(Set(tags).count == 4)
  }

  @Test(arguments: [
    ("poster", "w342", 200), ("poster", "original", 200), ("poster", "w300", 404),
    ("poster", "w1280", 404), ("poster", "h632", 404), ("poster", "w45", 404),
    ("B_one", "w300", 200), ("B_one", "w780", 200), ("B_one", "w1280", 200),
    ("B_one", "original", 200), ("B_one", "w342", 404), ("B_one", "h632", 404),
    ("P_one", "w45", 200), ("P_one", "w185", 200), ("P_one", "h632", 200),
    ("P_one", "original", 200), ("P_one", "w342", 200), ("P_one", "w1280", 404),
  ])
  func `each kind of picture comes in its sizes`(name: String, size: String, status: Int) {
    #expect(Self.site.answer(to: "/t/p/\(size)/\(name).jpg").status == status)
  }

  @Test func `pictures are as large as their kind and size say`() throws {
    for (name, size, width, height) in [
      ("B_a.jpg", "w300", 300, 169), ("B_a.jpg", "w780", 780, 439),
      ("B_a.jpg", "original", 1_600, 900), ("P_a.jpg", "w45", 45, 68),
      ("P_a.jpg", "h632", 421, 632), ("a.jpg", "w92", 92, 138),
    ] {
      let answer = Self.site.answer(to: "/t/p/\(size)/\(name)")
      let picture = try DecodedPicture(jpeg: answer.body.bytes)
      #expect((picture.width, picture.height) == (width, height))
    }
  }

  @Test func `another picture has the same shape`() throws {
    let cover = DemoCover.name(for: "x", size: .small)
    for path in ["/t/p/w300/B_a.jpg", "/t/p/w45/P_a.jpg", "/image/\(cover)"] {
      func answer(_ otherPicture: Int?) -> Answer {
        Self.site.answer(
          DemoSite.Query(
            method: "GET", path: path, otherPicture: otherPicture, parameter: { _ in nil },
            header: { _ in nil }))
      }
      let (first, other) = (answer(nil), answer(1))
      #expect(first.header("ETag") != other.header("ETag"))
      let pictures = try [first, other].map { try DecodedPicture(jpeg: $0.body.bytes) }
      #expect(pictures[0].width == pictures[1].width && pictures[0].height == pictures[1].height)
      #expect(pictures[0].difference(to: pictures[1]) > 8)
    }
  }

  @Test func `Spotify's API wants a token and says so in its own words`() {
    for headers in [[:], ["Authorization": "Basic eDp5"], ["Authorization": "Bearer "]] {
      let answer = Self.site.answer(
        to: "/v1/recommendations", ["api_key": "x"], headers: headers)
      #expect(answer.status == 401)
      #expect(
        String(decoding: answer.body.bytes, as: UTF8.self)
          == #"{"error":{"status":401,"message":"No token provided"}}"#)
    }
    let open = DemoSite(authority: "127.0.0.1:1", requiresCredential: false)
    #expect(open.answer(to: "/v1/recommendations", headers: [:]).status == 200)
    for path in ["/v1", "/v1/", "/v1/browse/categories", "/v1/browse"] {
      let answer = Self.site.answer(to: path)
      #expect(answer.status == 404)
      #expect(String(decoding: answer.body.bytes, as: UTF8.self).hasPrefix(#"{"error":{"#))
    }
  }

  @Test func `the front page lists what there is, and all of it is there`() throws {
    let text = try Self.site.text(of: "/")
    for path in [
      "/3/{movie|tv}/{id}/{similar|recommendations}", "/v1/recommendations", "/feeds/urls.txt",
      "/image/{hex}", "/t/p/{size}/{name}",
    ] {
      #expect(text.contains("<code>\(path)</code>"))
    }
    let open = DemoSite(authority: "127.0.0.1:1", requiresCredential: false)
    let links = text.split(separator: "href=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
    #expect(links.count == 16)
    for link in links {
      #expect(open.answer(to: String(link.prefix { $0 != "?" })).status == 200, "\(link)")
    }
  }

  @Test func `over HTTP a list's words are decoded, and a list is not sent twice`() throws {
    let origin = try DemoOrigin()
    let client = try PlainHTTP(port: origin.port)
    for query in ["golden+lighthouse", "golden%20lighthouse", "%EB%93%B1%EB%8C%80+golden"] {
      let target = "/3/search/multi?query=\(query)&api_key=x"
      let answer = try client.get(target)
      #expect(try AnswerTree(answer.body)["total_results"] == .number(4))
      let etag = try #require(answer["etag"])
      #expect(try client.get(target, headers: ["If-None-Match": etag]).status == 304)
    }
    origin.setFaults([Fault("/v1/*", .status(429))])
    let refused = try client.get("/v1/recommendations")
    #expect(refused.text == #"{"error":{"status":429,"message":"API rate limit exceeded"}}"#)
  }
}
