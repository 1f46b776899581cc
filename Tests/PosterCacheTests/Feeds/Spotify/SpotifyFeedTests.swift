import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct SpotifyFeedTests {
  private static let token = "BQDsecret-token_123"
  private static let api = "https://api.example/v1"

  private func feed(
    _ list: SpotifyList, _ script: PageScript, filters: [String] = [], pageLimit: Int? = nil,
    itemLimit: Int? = nil
  ) throws -> SpotifyFeed {
    try SpotifyFeed(
      list, api: PosterAddress(Self.api), credential: .bearerToken(Self.token),
      filters: filters.map { try QueryFilter($0) }, pageLimit: pageLimit, itemLimit: itemLimit,
      load: script.load)
  }

  private func all(_ feed: SpotifyFeed) async throws -> [FeedPage] {
    var feed = feed
    var pages: [FeedPage] = []
    while let page = try await feed.nextPage() { pages.append(page) }
    return pages
  }

  /// A page of albums with these numbers.
  private static func albums(
    _ numbers: [Int?], next: String? = "https://evil.example/next", total: Int = 500
  ) -> String {
    let items = numbers.map { number in
      number.map { #"{"id":"\#($0)","name":"A","images":[{"url":"https://i.example/\#($0)"}]}"# }
        ?? "null"
    }.joined(separator: ",")
    let next = next.map { #""\#($0)""# } ?? "null"
    return #"{"albums":{"items":[\#(items)],"next":\#(next),"total":\#(total)}}"#
  }

  @Test func `pages are asked for by offset, at addresses made here`() async throws {
    let script = PageScript { _, count in
      switch count {
      case 1: (200, Self.albums(Array(0..<50)))
      // Shifted by two, and with an entry that is none.
      case 2: (200, Self.albums([48, 49, nil, 50]))
      default: (200, Self.albums([51], next: nil))
      }
    }
    let found = try await all(feed(.newReleases, script, filters: ["country=SE", "x=a&b c"]))
    let query = "country=SE&x=a%26b%20c"
    #expect(
      await script.addresses == [
        "\(Self.api)/browse/new-releases?limit=50&offset=0&\(query)",
        "\(Self.api)/browse/new-releases?limit=50&offset=50&\(query)",
        "\(Self.api)/browse/new-releases?limit=50&offset=54&\(query)",
      ])
    #expect(
      await script.requests.allSatisfy { $0.credential == .bearerToken(Self.token) })
    #expect(found.map(\.number) == [1, 2, 3] && found.map(\.items.count) == [50, 1, 1])
    #expect(found[1].skipped == .init(duplicate: 2, unsupported: 1))
    #expect(found[1].faults.map(\.description) == ["item 52: no JSON object"])
  }

  @Test func `recommendations are one page that wants seeds`() async throws {
    let script = PageScript(#"{"tracks":[{"id":"1","name":"A"},null]}"#)
    let found = try await all(feed(.recommendations, script, filters: ["seed_genres=pop,rock"]))
    #expect(
      await script.addresses == ["\(Self.api)/recommendations?limit=100&seed_genres=pop%2Crock"])
    #expect(found.map(\.skipped) == [.init(noPath: 1, unsupported: 1)])
    let body = #"{"error":{"status":400,"message":"invalid request"}}"#
    let refusal = PageScript(body, status: 400)
    for (filters, words) in [
      ([], "recommendations want a filter seed_artists, seed_genres or seed_tracks"),
      (["seed_tracks=1"], "refused the page (HTTP 400: invalid request)"),
    ] {
      var feed = try feed(.recommendations, refusal, filters: filters)
      let error = await #expect(throws: PosterError.self) { try await feed.nextPage() }
      #expect(error?.code == .status(400) && error?.message.contains(words) == true)
    }
  }

  @Test func `no more pages and pictures than wanted`() async throws {
    let script = PageScript { _, count in
      (200, Self.albums(Array(count * 50..<count * 50 + 50)))
    }
    #expect(try await all(feed(.newReleases, script, pageLimit: 2)).count == 2)
    let limited = try await all(feed(.newReleases, script, itemLimit: 60))
    #expect(limited.map(\.items.count) == [50, 10])
    for feed in [
      try feed(.newReleases, script, pageLimit: 0), try feed(.newReleases, script, itemLimit: 0),
      try feed(.recommendations, script, pageLimit: 0),
    ] {
      #expect(!feed.hasNextPage && feed.nextPageAddress == nil)
    }
    let endless = try await all(feed(.newReleases, script))
    #expect(endless.count == SpotifyPager.lastPage)
  }

  @Test func `the default API is Spotify's, and paging is no filter`() throws {
    #expect(PosterAddress.spotifyAPI.canonical == "https://api.spotify.com/v1")
    let script = PageScript("")
    for filter in ["limit=5", "offset=7", "Offset=7"] {
      let error = #expect(throws: PosterError.self) {
        _ = try feed(.newReleases, script, filters: [filter])
      }
      #expect(error?.code == .invalidConfiguration)
    }
    let long = "market=" + String(repeating: "x", count: PosterAddress.maximumLength)
    let error = #expect(throws: PosterError.self) {
      _ = try feed(.newReleases, script, filters: [long])
    }
    #expect(error?.code == .invalidAddress)
  }

  @Test(arguments: [
    (
      401, #"{"error":{"status":401,"message":"The access token expired"}}"#,
      PosterError.Code.unauthorized,
      "refused the bearer token (HTTP 401: The access token expired)"
    ),
    (
      403, #"{"error":{"status":403,"message":"Insufficient client scope"}}"#, .unauthorized,
      "refused the bearer token (HTTP 403: Insufficient client scope)"
    ),
    (
      400, #"{"error":"invalid_client","error_description":"Invalid client"}"#, .unauthorized,
      "refused the bearer token (HTTP 400: invalid_client: Invalid client)"
    ),
    (
      200, #"{"error":{"status":401,"message":"Invalid access token"}}"#, .unauthorized,
      "refused the bearer token (HTTP 401: Invalid access token)"
    ),
    (401, "<html>", .unauthorized, "refused the bearer token (HTTP 401)"),
    (
      404, #"{"error":{"status":404,"message":"Not found."}}"#, .status(404),
      "Spotify's browse/new-releases is closed to new applications (HTTP 404: Not found)"
    ),
    (
      429, #"{"error":{"status":429,"message":"API rate limit exceeded"}}"#, .status(429),
      "limits the rate of requests, try again later (HTTP 429: API rate limit exceeded)"
    ),
    (503, "", .status(503), "is in trouble (HTTP 503)"),
    (400, #"{"error":{"status":400,"message":7}}"#, .status(400), "refused the page (HTTP 400)"),
    (
      400, #"{"error":"invalid_request"}"#, .status(400),
      "refused the page (HTTP 400: invalid_request)"
    ),
    (
      401, #"{"error":{"message":"no \#(token)\u0007, really"}}"#, .unauthorized,
      "(HTTP 401: no … , really)"
    ),
    (200, "[]", .malformedPage, "not a list page"),
  ])
  func `a server's errors are told in its words, without the token`(
    status: Int, body: String, code: PosterError.Code, words: String
  ) async throws {
    // What is no page although the server says so is asked for once more.
    let failures = status == 200 ? 2 : 1
    let script = PageScript { _, count in
      count <= failures ? (status, body) : (200, Self.albums([1], next: nil))
    }
    var feed = try feed(.newReleases, script)
    let error = await #expect(throws: PosterError.self) { try await feed.nextPage() }
    #expect(error?.code == code)
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains(Self.token) == false)
    #expect(error?.message.contains("\u{7}") == false)
    // Refused credentials end the list; after everything else the same page is asked for again.
    if code == .unauthorized {
      #expect(!feed.hasNextPage)
    } else {
      #expect(try await feed.nextPage()?.items.count == 1)
      #expect(await Set(script.addresses).count == 1)
    }
  }

  @Test func `a request without a token is told to want one`() async throws {
    let script = PageScript(#"{"error":{"status":401,"message":"No token provided"}}"#, status: 401)
    var feed = try SpotifyFeed(.newReleases, credential: nil, load: script.load)
    let error = await #expect(throws: PosterError.self) { try await feed.nextPage() }
    #expect(
      error?.message == "the list's server wants an access token (HTTP 401: No token provided)")
  }

  @Test func `a failed page is skipped where the list is known to go on`() async throws {
    let script = PageScript { _, count in
      count == 2
        ? (500, "") : (200, Self.albums(Array(count * 50..<count * 50 + 50), total: 150))
    }
    var feed = try feed(.newReleases, script)
    _ = try await feed.nextPage()
    await #expect(throws: PosterError.self) { try await feed.nextPage() }
    feed.skipFailedPage()
    feed.skipFailedPage()
    #expect(feed.nextPageAddress?.canonical.contains("offset=100") == true)
    #expect(try await feed.nextPage()?.items.count == 50)
  }

  @Test(arguments: ["BQD-_.~+/=x", "  BQD \n"])
  func `a token is visible ASCII`(text: String) throws {
    let token = text.split(whereSeparator: \.isWhitespace).joined()
    #expect(try Credential(spotify: text) == .bearerToken(token))
  }

  @Test(arguments: ["", " \n", "a b", "a\r\nX: y", "tökén", "a\u{0}b", "Bearer abc"])
  func `what is no token is refused without being shown`(text: String) {
    let error = #expect(throws: PosterError.self) { try Credential(spotify: text) }
    #expect(error?.code == .unauthorized)
    #expect(error?.message.contains("X: y") == false && error?.message.contains("abc") == false)
  }
}
