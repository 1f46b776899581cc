import Testing

@testable import PosterCache

/// Which pictures a feed gives to entries of which kind.
@Suite(.timeLimit(.minutes(1)))
struct TMDBPicturesTests {
  @Test func `posters are what is wanted unless something else is said`() async throws {
    let page = try await page(.posters)
    #expect(TMDBFeed.Pictures() == .posters)
    #expect(
      page.items.map(\.artwork) == [
        .path("/m.jpg", .poster), .path("/s.jpg", .poster), nil, .path("/c.jpg", .poster), nil, nil,
      ])
    #expect(page.items.map(\.kind) == Self.kinds)
    #expect(page.items.allSatisfy { $0.knownFor.isEmpty })
    #expect(page.skipped == .init(noPath: 3, unsupported: 1))
    #expect(page.faults.map(\.description) == ["item 4: no object: a string"])
  }

  @Test func `backdrops instead of posters`() async throws {
    let page = try await page(.init(titles: .backdrop))
    #expect(
      page.items.map(\.artwork) == [
        .path("/M.jpg", .backdrop), nil, nil, .path("/C.jpg", .backdrop),
        .path("/W.jpg", .backdrop), nil,
      ])
    #expect(page.items.allSatisfy { $0.knownFor.isEmpty && $0.posterPath == nil })
    #expect(page.skipped.noPath == 3)
  }

  @Test func `people with their own pictures and what they are known for`() async throws {
    let page = try await page(.init(includesPeople: true))
    #expect(
      page.items.map(\.artwork) == [
        .path("/m.jpg", .poster), .path("/s.jpg", .poster), .path("/p.jpg", .profile),
        .path("/c.jpg", .poster), nil, nil,
      ])
    #expect(
      page.items[2].knownFor == [
        FeedItem(id: "7", kind: .movie, title: "Known", posterPath: "/k.jpg"),
        FeedItem(id: nil, kind: .tv, title: "Nameless", posterPath: "/n.jpg"),
        FeedItem(id: nil, kind: .tv, title: "Nameless", posterPath: "/n.jpg"),
        FeedItem(id: "8", kind: .unknown(""), posterPath: nil),
      ])
    #expect(page.skipped.noPath == 2)
  }

  @Test func `people, and backdrops of what they are known for`() async throws {
    let page = try await page(.init(titles: .backdrop, includesPeople: true))
    #expect(page.items[2].artwork == .path("/p.jpg", .profile))
    #expect(
      page.items[2].knownFor.map(\.artwork) == [.path("/K.jpg", .backdrop), nil, nil, nil])
    #expect(page.items[1].artwork == nil)
  }

  @Test func `pictures are asked for in a size that there is of their kind`() async throws {
    let page = try await page(.init(includesPeople: true))
    func addresses(_ size: PosterSize) -> [String?] {
      page.items.prefix(3).map { $0.request(size: size)?.address.canonical }
    }
    let base = "https://image.tmdb.org/t/p"
    #expect(
      addresses(.w342) == ["\(base)/w342/m.jpg", "\(base)/w342/s.jpg", "\(base)/h632/p.jpg"])
    #expect(addresses(.w92) == ["\(base)/w92/m.jpg", "\(base)/w92/s.jpg", "\(base)/w185/p.jpg"])
  }

  @Test func `an entry of a user's list is a film unless it says otherwise`() async throws {
    let json = #"""
      {"id":"8136","name":"Mine","item_count":4,"items":[
        {"id":1,"title":"A","poster_path":"/a.jpg"},
        {"id":1,"media_type":"tv","name":"B","poster_path":"/b.jpg"}, 3.5,
        {"id":2,"media_type":"movie","title":"C","poster_path":"null"}]}
      """#
    var feed = try TMDBFeed(.list(id: "8136"), credential: nil, load: Self.answering(json))
    let page = try #require(try await feed.nextPage())
    #expect(page.items.map(\.kind) == [.movie, .tv, .movie])
    #expect(page.items.map(\.posterPath) == ["/a.jpg", "/b.jpg", nil])
    #expect(page.faults.map(\.description) == ["item 2: no object: a number"])
    // It said that it has four, and came whole.
    #expect(try await feed.nextPage() == nil)
  }

  @Test func `no path leads out of the image host's directory or into a header`() async throws {
    let paths = [
      "/../../etc/passwd", "/..", "/%2e%2e/x.jpg", "http://evil.test/x.jpg", "//evil.test/x.jpg",
      #"/a\r\nX-Odd: 1.jpg"#, #"/a?b=c#d\u0000.jpg"#, #"/\\..\\x.jpg"#,
    ]
    for key in ["poster_path", "backdrop_path", "profile_path"] {
      let type = key == "profile_path" ? "person" : "tv"
      let entries = paths.map { #"{"media_type":"\#(type)","\#(key)":"\#($0)"}"# }
      let json =
        #"{"results":[{"media_type":"person","known_for":[\#(entries.joined(separator: ","))]},"#
        + "\(entries.joined(separator: ","))]}"
      var feed = try TMDBFeed(
        .trending(media: .all, window: .day), credential: nil,
        pictures: .init(titles: key == "backdrop_path" ? .backdrop : .poster, includesPeople: true),
        load: Self.answering(json))
      let page = try #require(try await feed.nextPage())
      let requests = (page.items + page.items.flatMap(\.knownFor)).compactMap { $0.request() }
      // At the top and beneath: three leave the directory, two hold what no address can.
      #expect(requests.count == 2 * (paths.count - 5), "\(requests.map(\.address.canonical))")
      #expect(page.faults.count == 5 && page.skipped.unsupported == 5)
      for request in requests {
        let address = request.address.canonical
        #expect(address.hasPrefix("https://image.tmdb.org/t/p/"), "\(address)")
        #expect(address.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "\(address)")
        #expect(!address.contains("/../") && !address.contains("?"), "\(address)")
        #expect(address.split(separator: "/").count >= 5, "\(address)")
      }
    }
  }

  private static let kinds: [FeedItem.Kind] = [
    .movie, .tv, .person, .collection, .unknown("wiki"), .unknown(""),
  ]

  private func page(_ pictures: TMDBFeed.Pictures) async throws -> FeedPage {
    let json = #"""
      {"page":1,"total_pages":1,"results":[
        {"id":1,"media_type":"movie","title":"M","poster_path":"/m.jpg","backdrop_path":"M.jpg",
         "profile_path":"/x.jpg"},
        {"id":2,"media_type":"tv","name":"S","poster_path":"//s.jpg","backdrop_path":"null"},
        {"id":3,"media_type":"person","name":"P","profile_path":"p.jpg","known_for":[
          {"id":7,"media_type":"movie","title":"Known","poster_path":"/k.jpg",
           "backdrop_path":"/K.jpg"},
          {"media_type":"tv","name":"Nameless","poster_path":"n.jpg","backdrop_path":null},
          {"media_type":"tv","name":"Nameless","poster_path":"n.jpg"}, null, {"id":8}]},
        {"id":4,"media_type":"collection","name":"C","poster_path":"/c.jpg",
         "backdrop_path":"/C.jpg"},
        "odd",
        {"id":5,"media_type":"wiki","backdrop_path":"/W.jpg"},
        {"id":6,"poster_path":""}]}
      """#
    var feed = try TMDBFeed(
      .search(media: .all, query: "x"), credential: nil, pictures: pictures,
      load: Self.answering(json))
    return try #require(try await feed.nextPage())
  }

  private static func answering(_ json: String) -> FeedPage.Load {
    { _ throws(PosterError) in PageResponse(status: 200, body: PosterBody(copying: json.utf8)) }
  }
}
