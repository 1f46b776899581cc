import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct TMDBListTests {
  @Test func `every list has its address, and its entries a kind`() throws {
    let filters = [
      try QueryFilter("with_genres=18,35"), try QueryFilter("sort_by=popularity.desc"),
    ]
    let lists: [(TMDBList, String, FeedItem.Kind)] = [
      (.trending(media: .all, window: .week), "trending/all/week?page=1", .unknown("")),
      (.trending(media: .person, window: .day), "trending/person/day?page=1", .person),
      (.popular(.movie), "movie/popular?page=1", .movie),
      (.popular(.tv), "tv/popular?page=1", .tv),
      (.popular(.person), "person/popular?page=1", .person),
      (.topRated(.movie), "movie/top_rated?page=1", .movie),
      (.topRated(.tv), "tv/top_rated?page=1", .tv),
      (.nowPlaying, "movie/now_playing?page=1", .movie),
      (.upcoming, "movie/upcoming?page=1", .movie),
      (.onTheAir, "tv/on_the_air?page=1", .tv),
      (.airingToday, "tv/airing_today?page=1", .tv),
      (.similar(media: .tv, id: 1399), "tv/1399/similar?page=1", .tv),
      (.recommendations(media: .movie, id: 0), "movie/0/recommendations?page=1", .movie),
      (.search(media: .all, query: "star"), "search/multi?page=1&query=star", .unknown("")),
      (.search(media: .movie, query: "a b"), "search/movie?page=1&query=a%20b", .movie),
      (.search(media: .tv, query: "a"), "search/tv?page=1&query=a", .tv),
      (.search(media: .person, query: "a"), "search/person?page=1&query=a", .person),
      (
        .discover(media: .movie, filters: filters),
        "discover/movie?page=1&with_genres=18%2C35&sort_by=popularity.desc", .movie
      ),
      (.discover(media: .tv, filters: []), "discover/tv?page=1", .tv),
      (.list(id: "8136"), "list/8136?page=1", .movie),
      (.list(id: "509ec17b_19c2950a-0600"), "list/509ec17b_19c2950a-0600?page=1", .movie),
    ]
    for (list, address, kind) in lists {
      let feed = try TMDBFeed(list, credential: .bearerToken("eyJ"), load: Self.unused)
      #expect(feed.nextPageAddress?.canonical == "https://api.themoviedb.org/3/\(address)")
      #expect(list.kind == kind, "\(list)")
      #expect(list.description == String(address.prefix { $0 != "?" }))
    }
  }

  @Test(arguments: [
    TMDBList.popular(.all), .topRated(.all), .topRated(.person),
    .discover(media: .all, filters: []),
    .discover(media: .person, filters: []), .similar(media: .all, id: 1),
    .recommendations(media: .person, id: 1), .similar(media: .tv, id: -1),
    .search(media: .all, query: ""), .search(media: .movie, query: " \t\n\u{A0}"),
    .list(id: ""), .list(id: "1/2"), .list(id: ".."), .list(id: "."), .list(id: "1?page=2"),
    .list(id: "1 2"), .list(id: "a\nb"), .list(id: "é"), .list(id: "%2e%2e"), .list(id: "~"),
    .list(id: "1#2"), .list(id: String(repeating: "1", count: 65)),
  ])
  func `lists that TMDB cannot have are refused`(list: TMDBList) {
    let error = #expect(throws: PosterError.self) {
      _ = try TMDBFeed(list, credential: nil, load: Self.unused)
    }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.contains("\n") == false)
  }

  @Test func `language and region come before a list's own parameters`() throws {
    let list = TMDBList.search(media: .movie, query: "기생충 & co?#=+%/\\\"'")
    let feed = try TMDBFeed(
      list, api: PosterAddress("http://h.test/3"), credential: .apiKey("k"), language: "ko-KR",
      region: "kr", load: Self.unused)
    #expect(
      feed.nextPageAddress?.canonical
        == "http://h.test/3/search/movie?page=1&language=ko-KR&region=KR"
        + "&query=%EA%B8%B0%EC%83%9D%EC%B6%A9%20%26%20co%3F%23%3D%2B%25%2F%5C%22%27")
    // Messages tell neither what somebody searches for nor a key.
    #expect(
      feed.nextPageAddress?.redacted
        == "http://h.test/3/search/movie?page=1&language=ko-KR&region=KR&query=…")
  }

  @Test(arguments: ["", "K", "KOR", "K1", "ÅB", "é", "k&", "\r\n", "k\n", "🇰🇷"])
  func `what is no country is refused`(region: String) {
    let error = #expect(throws: PosterError.self) {
      _ = try TMDBFeed(.nowPlaying, credential: nil, region: region, load: Self.unused)
    }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.contains("ISO 3166-1") == true)
    #expect(error?.message.contains("\n") == false)
  }

  @Test func `a region is a setting or a filter, not both`() throws {
    let list = TMDBList.discover(media: .movie, filters: [try QueryFilter("region=KR")])
    #expect(
      try TMDBFeed(list, credential: nil, load: Self.unused).nextPageAddress?.canonical
        == "https://api.themoviedb.org/3/discover/movie?page=1&region=KR")
    let error = #expect(throws: PosterError.self) {
      _ = try TMDBFeed(list, credential: nil, region: "US", load: Self.unused)
    }
    #expect(error?.code == .invalidConfiguration)
  }

  @Test func `titles have no profiles`() {
    let error = #expect(throws: PosterError.self) {
      _ = try TMDBFeed(
        .nowPlaying, credential: nil, pictures: .init(titles: .profile), load: Self.unused)
    }
    #expect(error?.code == .invalidConfiguration)
  }

  @Test func `a query that leaves no room for pages is refused`() throws {
    let start = "https://api.themoviedb.org/3/search/multi?page=500&query="
    let room = PosterAddress.maximumLength - start.utf8.count
    func feed(_ query: String) throws(PosterError) -> TMDBFeed {
      try TMDBFeed(.search(media: .all, query: query), credential: nil, load: Self.unused)
    }
    #expect(try feed(String(repeating: "x", count: room)).nextPageAddress != nil)
    for query in [
      String(repeating: "x", count: room + 1), String(repeating: "é", count: room / 6 + 1),
    ] {
      let error = #expect(throws: PosterError.self) { _ = try feed(query) }
      #expect(error?.code == .invalidAddress)
    }
  }

  @Test func `whatever is searched for is one parameter, and comes out as it went in`() throws {
    var random = SeededGenerator()
    let odd = Array("&=?#%+/\\;:@ \t\r\n\u{0}\u{7F}'\"<>[]{}|^`~.aZ9é한🎬\u{301}\u{202E}")
    for _ in 0..<500 {
      let query = String(
        (0..<Int.random(in: 1...12, using: &random)).map { _ in
          odd.randomElement(using: &random) ?? "a"
        })
      let filter = try QueryFilter("with_x=\(query)")
      for (list, prefix) in [
        (TMDBList.search(media: .all, query: "q\(query)"), "query=q"),
        (.discover(media: .tv, filters: [filter]), "with_x="),
      ] {
        let feed = try TMDBFeed(list, credential: nil, region: "KR", load: Self.unused)
        let address = try #require(feed.nextPageAddress?.canonical)
        #expect(address.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "seed \(random.seed)")
        let parts = address.split(separator: "?", omittingEmptySubsequences: false)
        try #require(parts.count == 2, "seed \(random.seed)")
        let parameters = parts[1].split(separator: "&", omittingEmptySubsequences: false)
        try #require(parameters.count == 3, "seed \(random.seed)")
        #expect(parameters[0] == "page=1" && parameters[1] == "region=KR")
        #expect(parameters[2].hasPrefix(prefix), "seed \(random.seed)")
        let value = parameters[2].dropFirst(prefix.count)
        #expect(!value.contains("=") && !value.contains("#"), "seed \(random.seed)")
        let bytes = PercentEncoding.decoded(value.utf8)
        #expect(bytes.map { String(decoding: $0, as: UTF8.self) } == query, "seed \(random.seed)")
      }
    }
  }

  private static let unused: FeedPage.Load = { _ throws(PosterError) in
    throw PosterError(.network, "unused")
  }
}
