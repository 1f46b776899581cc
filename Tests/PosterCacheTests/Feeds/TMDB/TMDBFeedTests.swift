import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct TMDBFeedTests {
  @Test func `pages are asked for by number and language, below the API's path`() async throws {
    let server = Server { _ in (200, Self.onePicture) }
    var feed = try TMDBFeed(
      .trending(media: .tv, window: .week), api: PosterAddress("https://api.example/3/"),
      credential: .apiKey(Self.key), language: "ko-KR", pageLimit: 1, load: server.load)
    #expect(feed.list.description == "trending/tv/week")
    #expect(feed.nextPageNumber == 1)
    let page = try #require(try await feed.nextPage())
    #expect(page.items == [FeedItem(id: "1", kind: .tv, title: "T", posterPath: "/a.jpg")])
    #expect(try await feed.nextPage() == nil)
    #expect(feed.nextPageNumber == nil && feed.nextPageAddress == nil)
    let requests = await server.requests
    #expect(
      requests.map(\.address.canonical) == [
        "https://api.example/3/trending/tv/week?page=1&language=ko-KR"
      ])
    #expect(requests.map(\.credential) == [.apiKey(Self.key)])
  }

  @Test func `entries of related lists are what the title is, unless they say otherwise`()
    async throws
  {
    let json =
      #"{"page":1,"results":[{"id":1,"poster_path":"/a.jpg"},"#
      + #"{"id":2,"media_type":"tv","poster_path":"/b.jpg"}],"total_pages":1}"#
    let lists: [(TMDBList, String)] = [
      (.similar(media: .movie, id: 550), "movie/550/similar"),
      (.recommendations(media: .movie, id: 550), "movie/550/recommendations"),
    ]
    for (list, path) in lists {
      let server = Server { _ in (200, json) }
      var feed = try TMDBFeed(
        list, api: PosterAddress("https://api.example/3"), credential: nil, load: server.load)
      let page = try #require(try await feed.nextPage())
      #expect(page.items.map(\.kind) == [.movie, .tv])
      #expect(
        await server.requests.map(\.address.canonical) == ["https://api.example/3/\(path)?page=1"])
      #expect(list.description == path)
    }
  }

  @Test(arguments: [
    TMDBList.similar(media: .all, id: 1), .recommendations(media: .person, id: 1),
    .similar(media: .tv, id: -1),
  ])
  func `lists that TMDB cannot have are refused`(list: TMDBList) {
    let error = #expect(throws: PosterError.self) {
      _ = try TMDBFeed(list, credential: nil) { _ throws(PosterError) in
        throw PosterError(.network, "unused")
      }
    }
    #expect(error?.code == .invalidConfiguration)
  }

  @Test func `the default API is TMDB's`() throws {
    #expect(PosterAddress.tmdbAPI.canonical == "https://api.themoviedb.org/3")
    let feed = try TMDBFeed(.trending(media: .all, window: .day), credential: nil) {
      _ throws(PosterError) in throw PosterError(.network, "unused")
    }
    #expect(
      feed.nextPageAddress?.canonical == "https://api.themoviedb.org/3/trending/all/day?page=1")
  }

  @Test func `an API address that leaves no room for pages is refused`() throws {
    let prefix = "https://api.example/"
    let suffix = "/trending/all/day?page=500&language=ko-KR"
    let room = PosterAddress.maximumLength - prefix.utf8.count - suffix.utf8.count
    for (length, fits) in [(room, true), (room + 1, false)] {
      let api = try PosterAddress(prefix + String(repeating: "x", count: length))
      func feed() throws(PosterError) -> TMDBFeed {
        try TMDBFeed(
          .trending(media: .all, window: .day), api: api, credential: nil, language: "ko-KR"
        ) { _ throws(PosterError) in throw PosterError(.network, "unused") }
      }
      if fits {
        #expect(try feed().nextPageAddress != nil)
      } else {
        let error = #expect(throws: PosterError.self) { _ = try feed() }
        #expect(error?.code == .invalidAddress)
      }
    }
  }

  @Test(arguments: ["", "x", "ko KR", "en&page=9", "é-FR", String(repeating: "a", count: 36)])
  func `what is no language is refused`(language: String) throws {
    let error = #expect(throws: PosterError.self) {
      _ = try TMDBFeed(
        .trending(media: .all, window: .day), credential: nil, language: language
      ) { _ throws(PosterError) in throw PosterError(.network, "unused") }
    }
    #expect(error?.code == .invalidConfiguration)
  }

  @Test(arguments: [
    (401, #"{"status_code":7,"status_message":"Invalid API key.","success":false}"#),
    (200, #"{"status_code":3,"status_message":"Authentication failed."}"#),
    (404, #"{"status_code":10,"status_message":"Suspended API key"}"#),
    (400, #"{"status_code":14,"status_message":"Authentication failed."}"#),
    (401, "<html>"), (403, ""),
  ])
  func `a refusal of the credential is told as such and ends the list`(
    status: Int, body: String
  ) async throws {
    let (error, feed) = try await failure(status, body)
    #expect(error.code == .unauthorized)
    #expect(error.message.contains("API key"))
    #expect(feed.nextPageNumber == nil)
  }

  @Test(arguments: [
    (404, #"{"status_code":34,"status_message":"Not found."}"#, 404, "does not know"),
    (429, #"{"status_code":25,"status_message":"Over the limit"}"#, 429, "rate"),
    (200, #"{"status_code":25,"status_message":"Over the limit"}"#, 429, "rate"),
    (503, "<html>Service unavailable</html>", 503, "trouble"),
    (400, #"{"status_code":22,"status_message":"Invalid page"}"#, 400, "Invalid page"),
    (204, "", 204, "HTTP 204"),
  ])
  func `other refusals keep their status and the server's words`(
    status: Int, body: String, expected: Int, words: String
  ) async throws {
    let (error, _) = try await failure(status, body)
    #expect(error.code == .status(expected))
    #expect(error.message.contains(words), "\(error.message)")
  }

  @Test func `HTML instead of a page is malformed`() async throws {
    let (error, _) = try await failure(200, "<!doctype html><title>Log in to the hotel</title>")
    #expect(error.code == .malformedPage)
    #expect(error.message.contains("HTML"))
  }

  @Test func `a server that repeats the key in its words does not get it into the message`()
    async throws
  {
    let body = #"{"status_code":7,"status_message":"Bad key \#(Self.key)\nsecond line\u0007."}"#
    let (error, _) = try await failure(401, body)
    #expect(!error.description.contains(Self.key))
    #expect(error.message.contains("Bad key … second line"))
    #expect(!error.message.contains("\n"))
  }

  @Test func `words of a server that turn the direction of writing do not get into the message`()
    async throws
  {
    let (error, _) = try await failure(
      400, #"{"status_code":22,"status_message":"page \u202Egnp.exe\u2028next"}"#)
    #expect(error.message.contains("page  gnp.exe next"), "\(error.message)")
  }

  @Test func `a byte order mark before a page does not matter`() async throws {
    let page = Self.picture(1, total: 1)
    let server = Server { _ in (200, "\u{FEFF}\(page)") }
    var feed = try TMDBFeed(
      .trending(media: .movie, window: .day), credential: nil, load: server.load)
    #expect(try await feed.nextPage()?.items.count == 1)
  }

  @Test func `the list goes on behind a page that failed if its reader wants that`() async throws {
    let server = Server { page in
      page == 2 ? (500, "") : (200, Self.picture(page, total: 3))
    }
    var feed = try TMDBFeed(
      .trending(media: .movie, window: .day), credential: nil, load: server.load)
    #expect(try await feed.nextPage()?.number == 1)
    await #expect(throws: PosterError.self) { try await feed.nextPage() }
    #expect(feed.nextPageNumber == 2 && feed.hasNextPage)
    feed.skipFailedPage()
    #expect(feed.nextPageNumber == 3)
    feed.skipFailedPage()
    #expect(feed.nextPageNumber == 3)
    #expect(try await feed.nextPage()?.items.map(\.id) == ["3"])
    #expect(try await feed.nextPage() == nil)
  }

  @Test func `a page that failed is asked for again, as often as its reader likes`() async throws {
    let server = Server { request in
      request <= 5 ? (500, "") : (200, Self.picture(request, total: 2))
    }
    var feed = try TMDBFeed(
      .trending(media: .movie, window: .day), credential: nil, load: server.load)
    for _ in 0..<5 {
      await #expect(throws: PosterError.self) { try await feed.nextPage() }
      #expect(feed.nextPageNumber == 1)
    }
    #expect(try await feed.nextPage()?.number == 1)
    #expect(try await feed.nextPage()?.number == 2)
    #expect(!feed.hasNextPage)
  }

  @Test(arguments: ["", "<html>", #"{"results":[{"id":1"#, "{}"])
  func `a page that is none is asked for once more, past every cache`(odd: String) async throws {
    let server = Server { request in (200, request == 1 ? odd : Self.picture(1, total: 1)) }
    var feed = try TMDBFeed(
      .trending(media: .movie, window: .day), credential: nil, load: server.load)
    #expect(try await feed.nextPage()?.items.map(\.id) == ["1"])
    let requests = await server.requests
    #expect(requests.map(\.mode) == [nil, .refresh])
    #expect(Set(requests.map(\.address)).count == 1)
    // Another refusal than that is an answer.
    let refusing = Server { _ in (404, "<html>") }
    var other = try TMDBFeed(
      .trending(media: .movie, window: .day), credential: nil, load: refusing.load)
    await #expect(throws: PosterError.self) { try await other.nextPage() }
    #expect(await refusing.requests.count == 1)
  }

  // MARK: -

  private static let key = "0123456789abcdef0123456789abcdef"
  private static let onePicture = picture(1, total: 500)

  private static func picture(_ id: Int, total: Int) -> String {
    #"{"results":[{"id":\#(id),"name":"T","poster_path":"a.jpg"}],"total_pages":\#(total)}"#
  }

  private func failure(_ status: Int, _ body: String) async throws -> (PosterError, TMDBFeed) {
    let server = Server { _ in (status, body) }
    var feed = try TMDBFeed(
      .trending(media: .all, window: .day), credential: .apiKey(Self.key), load: server.load)
    do {
      _ = try await feed.nextPage()
    } catch {
      return (error, feed)
    }
    throw PosterError(.network, "the page did not fail")
  }

  /// Answers pages by number and keeps what was asked.
  private actor Server {
    private(set) var requests: [PageRequest] = []
    private let answer: @Sendable (Int) -> (Int, String)

    init(_ answer: @escaping @Sendable (Int) -> (Int, String)) {
      self.answer = answer
    }

    private func respond(to request: PageRequest) -> PageResponse {
      requests.append(request)
      let (status, body) = answer(requests.count)
      return PageResponse(status: status, body: PosterBody(copying: body.utf8))
    }

    nonisolated var load: FeedPage.Load {
      { request async throws(PosterError) in await self.respond(to: request) }
    }
  }
}
