import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct DocumentFeedTests {
  private let address: PosterAddress

  init() throws {
    address = try PosterAddress("http://a.example/feeds/mixed.json")
  }

  /// All pages, and the error that ended the list.
  private func all(
    _ feed: DocumentFeed
  ) async -> (pages: [FeedPage], error: PosterError?) {
    var feed = feed
    var pages: [FeedPage] = []
    do throws(PosterError) {
      while let page = try await feed.nextPage() { pages.append(page) }
      return (pages, nil)
    } catch {
      return (pages, error)
    }
  }

  private static let mixed = #"""
    {"data":[{"type":"TITLE_ONLY","title":"News"},
    {"type":"IMAGE_ONLY","id":1,"imageURL":"/a.jpg"},null,[1],
    {"type":"VIDEO","url":"x"},{"title":"none"},
    {"type":"CONTENT_WITH_TITLE","id":"2","title":"B","content":"C","imageURL":"gopher://x/"},
    {"type":"CONTENT_WITH_TITLE","id":"3","title":"D","content":"E","imageURL":null},
    {"type":"IMAGE_ONLY","id":1,"imageURL":"/a.jpg"},
    {"type":"IMAGE_ONLY","id":4,"image_url":"https://b.example/c.png"}]}
    """#

  @Test func `entries of a mixed feed that cannot be understood are named and left out`()
    async throws
  {
    let script = PageScript(Self.mixed)
    let feed = DocumentFeed(.address(address), load: script.load)
    #expect(feed.hasNextPage && feed.nextPageAddress == address)
    let (pages, error) = await all(feed)
    #expect(error == nil && pages.count == 1)
    let page = try #require(pages.first)
    #expect(page.number == 1 && page.itemCount == 10)
    #expect(
      page.items == [
        FeedItem(id: nil, kind: .unknown("TITLE_ONLY"), title: "News", artwork: nil),
        FeedItem(id: "1", kind: .unknown("IMAGE_ONLY"), artwork: .path("/a.jpg", .poster)),
        FeedItem(id: "3", kind: .unknown("CONTENT_WITH_TITLE"), title: "D", artwork: nil),
        FeedItem(
          id: "4", kind: .unknown("IMAGE_ONLY"),
          artwork: .address(try PosterAddress("https://b.example/c.png"))),
      ])
    #expect(page.skipped == .init(noPath: 2, duplicate: 1, unsupported: 5))
    #expect(
      page.faults.map(\.description) == [
        "item 2: no JSON object", "item 3: no JSON object", "item 4: unknown type VIDEO",
        "item 5: no type",
        "item 6: its picture is not a usable address, "
          + "scheme gopher instead of http or https: gopher://x/",
      ])
  }

  @Test func `a strict feed ends with its first fault`() async throws {
    let script = PageScript(Self.mixed.replacing("null,[1],", with: ""))
    var feed = DocumentFeed(.address(address), isStrict: true, load: script.load)
    for _ in 0..<2 {
      let (pages, error) = await all(feed)
      #expect(pages.isEmpty && error?.code == .malformedPage)
      #expect(error?.message == "item 2: unknown type VIDEO")
    }
    _ = try? await feed.nextPage()
    feed.skipFailedPage()
    #expect(!feed.hasNextPage)
    let good = PageScript(#"{"data":[{"type":"TITLE_ONLY","title":"A"}]}"#)
    let (pages, error) = await all(DocumentFeed(.address(address), isStrict: true, load: good.load))
    #expect(pages.map(\.items.count) == [1] && error == nil)
  }

  @Test func `no more pictures than wanted, and no page if none`() async {
    let script = PageScript(Self.mixed)
    let (pages, _) = await all(DocumentFeed(.address(address), itemLimit: 1, load: script.load))
    #expect(pages.map(\.itemCount) == [2])
    for feed in [
      DocumentFeed(.address(address), itemLimit: 0, load: script.load),
      DocumentFeed(.address(address), pageLimit: 0, load: script.load),
    ] {
      #expect(!feed.hasNextPage && feed.nextPageAddress == nil)
    }
  }

  @Test func `a byte order mark and an empty feed are fine`() async {
    let script = PageScript("\u{FEFF} {\"data\":[]}")
    let (pages, error) = await all(DocumentFeed(.address(address), load: script.load))
    #expect(pages == [FeedPage(number: 1, items: [], itemCount: 0, skipped: .init())])
    #expect(error == nil)
  }

  @Test(arguments: [
    ("", "the answer is empty"), ("<html>", "the answer is HTML or XML instead of JSON"),
    (#"{"data":[{"type":"#, "the answer is broken or cut JSON"), ("nope", "the answer is no JSON"),
    (#"{"data":{}}"#, "the answer is JSON without the data"),
    (#"{"results":[]}"#, "the answer is JSON without the data"),
    ("[]", "the answer is JSON without"),
    (#"{"items":[]}"#, "the answer is JSON without"),
    (#"{"version":"https://jsonfeed.org/version/2","items":[]}"#, "the answer is JSON without"),
    (#"{"version":"https://jsonfeed.org/version/1.1","items":null}"#, "the answer is JSON without"),
  ])
  func `what is neither of the two is told as what it is`(body: String, words: String) async {
    let script = PageScript(body)
    let (pages, error) = await all(DocumentFeed(.address(address), load: script.load))
    #expect(pages.isEmpty && error?.code == .malformedPage)
    #expect(error?.message.hasPrefix("not a feed: \(words)") == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    (401, PosterError.Code.unauthorized), (403, .unauthorized), (404, .status(404)),
    (500, .status(500)),
  ])
  func `other answers are errors, and the next call asks again`(
    status: Int, code: PosterError.Code
  ) async throws {
    let script = PageScript { _, count in
      count == 1 ? (status, "<html>") : (200, #"{"data":[{"type":"TITLE_ONLY","title":"A"}]}"#)
    }
    var feed = DocumentFeed(.address(address), load: script.load)
    let error = await #expect(throws: PosterError.self) { try await feed.nextPage() }
    #expect(error?.code == code)
    #expect(error?.message.contains("HTTP \(status)") == true)
    #expect(feed.hasNextPage == (code != .unauthorized))
    if feed.hasNextPage { #expect(try await feed.nextPage()?.items.count == 1) }
  }

  @Test func `an answer that is no feed is asked for once more, past every cache`() async throws {
    for half in ["<html>", #"{"data":[{"type":"IMAGE_ON"#] {
      let script = PageScript { _, count in
        (200, count == 1 ? half : #"{"data":[{"type":"IMAGE_ONLY","image":"/a.jpg"}]}"#)
      }
      let (pages, error) = await all(DocumentFeed(.address(address), load: script.load))
      #expect(pages.map(\.items.count) == [1] && error == nil)
      #expect(await script.requests.map(\.mode) == [nil, .refresh])
      let list = PageScript { _, count in (200, count == 1 ? "<html>" : "/a.jpg") }
      var urls = URLListFeed(.address(address), load: list.load)
      #expect(try await urls.nextPage()?.items.count == 1)
      #expect(await list.requests.map(\.mode) == [nil, .refresh])
    }
  }

  // MARK: - JSON Feed

  @Test func `an item's picture is its image, else its banner`() async throws {
    let script = PageScript(
      #"""
      {"version":"https://jsonfeed.org/version/1.1","title":"F","authors":[{"name":"All"}],"items":[
      {"id":"1","title":"A","image":"https://b.example/1.jpg","banner_image":"https://b.example/x.jpg",
      "authors":[{"name":"P"},{"url":"u"},{"name":"Q"}],"attachments":[{"url":"http://b.example/a"}]},
      {"id":2,"image":null,"banner_image":"https://b.example/2.jpg","author":{"name":"R"}},
      {"id":"3","title":"C","image":"/rel.jpg","banner_image":"https://b.example/3.jpg"},
      {"id":"4","title":"D","image":"/rel.jpg"},{"id":"5","image":""},7,
      {"id":"1","image":"https://b.example/1.jpg"}]}
      """#)
    let (pages, error) = await all(DocumentFeed(.address(address), load: script.load))
    #expect(error == nil && pages.count == 1)
    func item(_ id: String, _ title: String?, _ creator: String) throws -> FeedItem {
      let picture = try PosterAddress("https://b.example/\(id).jpg")
      return FeedItem(
        id: id, kind: .unknown(""), title: title, creator: creator,
        artwork: id == "5" ? nil : .address(picture))
    }
    #expect(
      try pages[0].items == [
        item("1", "A", "P, Q"), item("2", nil, "R"), item("3", "C", "All"), item("5", nil, "All"),
      ])
    #expect(pages[0].skipped == .init(noPath: 1, duplicate: 1, unsupported: 2))
    #expect(
      pages[0].faults.map(\.description) == [
        "item 3: its image is not a usable address, no http:// or https://: /rel.jpg",
        "item 5: no JSON object",
      ])
  }

  /// A page of JSON Feed with one item, and where it says that it goes on.
  private static func page(_ id: Int, next: String?) -> String {
    let next = next.map { #","next_url":"\#($0)""# } ?? ""
    return #"{"version":"https://jsonfeed.org/version/1","items":"#
      + #"[{"id":"\#(id)","image":"https://b.example/\#(id).jpg"}]\#(next)}"#
  }

  @Test func `a JSON Feed goes on at its next_url`() async throws {
    let first = "http://a.example/feeds/mixed.json"
    let script = PageScript { request, count in
      (200, Self.page(count, next: count < 3 ? "\(first)?page=\(count + 1)" : nil))
    }
    let (pages, error) = await all(DocumentFeed(.address(address), load: script.load))
    #expect(error == nil && pages.map(\.number) == [1, 2, 3])
    #expect(await script.addresses == [first, "\(first)?page=2", "\(first)?page=3"])
    let again = PageScript { _, count in (200, Self.page(count, next: "\(first)?\(count)")) }
    let limited = await all(DocumentFeed(.address(address), pageLimit: 2, load: again.load))
    #expect(limited.pages.count == 2 && limited.error == nil)
  }

  @Test func `pages that lead in a circle end, and so do endless ones`() async {
    let circle = PageScript { request, count in
      let other = request.address.canonical.hasSuffix("?b") ? "" : "?b"
      return (200, Self.page(count, next: "http://a.example/feeds/mixed.json\(other)"))
    }
    let (pages, error) = await all(DocumentFeed(.address(address), load: circle.load))
    #expect(pages.count == 2 && error == nil)
    let endless = PageScript { _, count in
      (200, Self.page(count, next: "http://a.example/\(count)"))
    }
    let (many, none) = await all(DocumentFeed(.address(address), load: endless.load))
    #expect(many.count == DocumentFeed.lastPage && none == nil)
    let repeats = PageScript { _, count in (200, Self.page(1, next: "http://a.example/\(count)")) }
    let (two, _) = await all(DocumentFeed(.address(address), load: repeats.load))
    #expect(two.count == 2)
  }

  @Test(arguments: [
    ("http://a.example/2", true), ("HTTP://A.EXAMPLE:80/2", true), ("https://a.example/2", true),
    ("", nil), ("http://b.example/2", false), ("http://a.example:8080/2", false),
    ("https://a.example:8443/2", false), ("http://a.example.evil.example/2", false),
    ("file:///etc/passwd", false), ("/2", false), ("ftp://a.example/2", false),
    ("http://u:p@a.example/2", false),
  ])
  func `the next page is asked of the same host only`(next: String, isFollowed: Bool?) async {
    let script = PageScript { _, count in (200, Self.page(count, next: count == 1 ? next : nil)) }
    var feed = DocumentFeed(.address(address), load: script.load)
    _ = try? await feed.nextPage()
    #expect(feed.hasNextPage == (isFollowed != nil))
    let (pages, error) = await all(feed)
    #expect(pages.count == (isFollowed == true ? 1 : 0))
    #expect(error?.code == (isFollowed == false ? .malformedPage : nil))
    #expect(await script.requests.count == (isFollowed == true ? 2 : 1))
    if let error {
      #expect(error.message.contains("next") && !error.message.contains("u:p"))
      _ = try? await feed.nextPage()
      feed.skipFailedPage()
      #expect(!feed.hasNextPage)
    }
  }

  @Test func `a page that came over https goes on over https only`() async throws {
    let script = PageScript { _, count in (200, Self.page(count, next: "http://a.example/2")) }
    let secure = try PosterAddress("https://a.example/1")
    let (pages, error) = await all(DocumentFeed(.address(secure), load: script.load))
    #expect(pages.count == 1 && error?.code == .malformedPage)
  }

  // MARK: - Files

  private static let unused: FeedPage.Load = { _ throws(PosterError) in
    throw PosterError(.network, "unused")
  }

  @Test func `documents are read from files, and go on nowhere`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/feed.json"
    try TextFile.write(Self.page(1, next: "http://a.example/2"), to: path)
    let (pages, error) = await all(DocumentFeed(.file(path), load: Self.unused))
    #expect(pages.map(\.items.count) == [1] && error == nil)
    try TextFile.write("<html>", to: path)
    let (none, malformed) = await all(DocumentFeed(.file(path), load: Self.unused))
    #expect(none.isEmpty)
    #expect(malformed?.message == "not a feed: the file is HTML or XML instead of JSON")
  }

  @Test func `a document that is too large is not read to its end`() async {
    let (pages, error) = await all(DocumentFeed(.file("/dev/zero"), load: Self.unused))
    #expect(pages.isEmpty && error?.code == .bodyTooLarge)
    #expect(error?.message == "the list is larger than 32.0 MiB: /dev/zero")
  }

  @Test func `people write sources as addresses, paths or a dash`() throws {
    #expect(try DocumentSource("-") == .standardInput)
    #expect(try DocumentSource("a/b.json") == .file("a/b.json"))
    #expect(try DocumentSource("http://a.example/feeds/mixed.json") == .address(address))
    for (text, code) in [
      ("", PosterError.Code.invalidConfiguration), ("ftp://a.example/", .invalidAddress),
    ] {
      let error = #expect(throws: PosterError.self) { try DocumentSource(text) }
      #expect(error?.code == code)
    }
    #expect(DocumentSource.file("a\nb").description == "a b")
    let secret = try DocumentSource("http://a.example/?key=abc")
    #expect(secret.description == "http://a.example/?key=…")
  }
}
