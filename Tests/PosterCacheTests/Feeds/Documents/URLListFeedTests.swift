import Glibc
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct URLListFeedTests {
  private static let unused: FeedPage.Load = { _ throws(PosterError) in
    throw PosterError(.network, "unused")
  }

  /// All pages of a list, however it is read.
  private func pages(
    _ text: String, itemLimit: Int? = nil
  ) async throws -> [FeedPage] {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/urls.txt"
    try TextFile.write(text, to: path)
    let address = try PosterAddress("http://a.example/urls.txt")
    let script = PageScript(text)
    let fromFile = try await all(
      URLListFeed(.file(path), itemLimit: itemLimit, load: Self.unused))
    let fromServer = try await all(
      URLListFeed(.address(address), itemLimit: itemLimit, load: script.load))
    #expect(fromFile == fromServer)
    #expect(await script.requests.count == (itemLimit == 0 ? 0 : 1))
    return fromFile
  }

  private func all(_ feed: URLListFeed) async throws -> [FeedPage] {
    var feed = feed
    var pages: [FeedPage] = []
    while let page = try await feed.nextPage() { pages.append(page) }
    #expect(!feed.hasNextPage)
    return pages
  }

  private func item(_ artwork: Artwork) -> FeedItem {
    FeedItem(id: nil, kind: .unknown(""), artwork: artwork)
  }

  @Test func `lines are addresses or paths, and bad ones are named by their numbers`()
    async throws
  {
    let long = "http://a.example/" + String(repeating: "x", count: 20_000)
    let list = """
      \u{FEFF}# posters\r
      http://a.example/1.jpg\r

        HTTPS://A.example:443/2.jpg#fragment\t
      /abc.jpg
      not an address
      http://a.example/1.jpg#other
      ftp://a.example/3.jpg
      //a.example/4.jpg
      /abc.jpg # the same
      http://a.example/5.jpg # with a word behind it
      \(long)
      /../etc/passwd
      http://user:secret@a.example/6.jpg
      http://a.example/7.jpg?token=secret
      http://a.example/8.jpg\u{7}x
      \u{3000}# still a comment
      http://a.example/last.jpg
      """
    let found = try await pages(list)
    #expect(found.count == 1)
    let page = try #require(found.first)
    #expect(
      try page.items
        == [
          .address(PosterAddress("http://a.example/1.jpg")),
          .address(PosterAddress("https://a.example/2.jpg")), .path("/abc.jpg", .poster),
          .address(PosterAddress("http://a.example/5.jpg")),
          .address(PosterAddress("http://a.example/7.jpg?token=secret")),
          .address(PosterAddress("http://a.example/last.jpg")),
        ].map(item))
    #expect(page.skipped == .init(duplicate: 2, unsupported: 7))
    #expect(page.itemCount == 15)
    let usable = "not a usable address"
    #expect(
      page.faults.map(\.description) == [
        "line 6: \(usable), no http:// or https://: not an address",
        "line 8: \(usable), scheme ftp instead of http or https: ftp://a.example/3.jpg",
        "line 9: \(usable), no http:// or https://: //a.example/4.jpg",
        "line 12: longer than 16384 bytes", "line 13: not a usable poster path: /../etc/passwd",
        "line 14: \(usable), it must not hold a user name or password: http://…@a.example/6.jpg",
        "line 16: \(usable), it holds a control character: http://a.example/8.jpg?x",
      ])
  }

  @Test func `bytes that are no text are bad lines`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/urls.txt"
    try TextFile.write(bytes: [0xFF, 0xFE, 0x0A] + Array("/a\0b.jpg\n/c.jpg".utf8), to: path)
    let found = try await all(URLListFeed(.file(path), load: Self.unused))
    #expect(found.map(\.items) == [[item(.path("/c.jpg", .poster))]])
    #expect(found[0].faults.map(\.place) == [.line(1), .line(2)])
    #expect(found[0].faults[0].reason == "not UTF-8")
  }

  @Test func `a list without lines has no page`() async throws {
    #expect(try await pages("") == [])
    #expect(try await pages("\u{FEFF}# nothing\n\n") == [])
    #expect(try await pages("/a.jpg", itemLimit: 0) == [])
  }

  @Test func `a page has 256 lines that say something`() async throws {
    let lines = (0..<600).map { $0 % 7 == 0 ? "# \($0)\n" : "/\($0).jpg\n" }.joined()
    let found = try await pages(lines)
    #expect(found.map(\.number) == [1, 2, 3])
    #expect(found.map(\.items.count) == [256, 256, 2])
    #expect(
      found.flatMap(\.items).map(\.posterPath)
        == (0..<600).filter { $0 % 7 != 0 }.map { "/\($0).jpg" })
    let limited = try await pages(lines, itemLimit: 300)
    #expect(limited.map(\.items.count) == [256, 44])
  }

  @Test func `a copy reads a file from the same place`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/urls.txt"
    try TextFile.write((0..<20_000).map { "/\($0).jpg\n" }.joined(), to: path)
    var feed = URLListFeed(.file(path), load: Self.unused)
    _ = try await feed.nextPage()
    let copy = feed
    let (first, second) = (try await all(feed), try await all(copy))
    let isSame = first == second
    #expect(isSame && first.count == 78 && first[0].items[0].posterPath == "/256.jpg")
  }

  @Test(arguments: ["<!DOCTYPE html><html>", "\u{FEFF}\n<HTML>", "<?xml version='1.0'?>"])
  func `a web page is no list`(body: String) async throws {
    let script = PageScript(body)
    let address = try PosterAddress("http://a.example/urls.txt")
    var feed = URLListFeed(.address(address), load: script.load)
    #expect(feed.nextPageAddress == address)
    let error = await #expect(throws: PosterError.self) { try await feed.nextPage() }
    #expect(error?.code == .malformedPage)
    #expect(feed.hasNextPage)
    feed.skipFailedPage()
    #expect(!feed.hasNextPage && feed.nextPageAddress == nil)
  }

  @Test func `a server's refusal is an error, and the next call asks again`() async throws {
    let script = PageScript { _, count in count == 1 ? (503, "") : (200, "/a.jpg") }
    let address = try PosterAddress("http://a.example/urls.txt")
    var feed = URLListFeed(.address(address), load: script.load)
    let error = await #expect(throws: PosterError.self) { try await feed.nextPage() }
    #expect(error?.code == .status(503))
    #expect(try await feed.nextPage()?.items.count == 1)
    #expect(try await feed.nextPage() == nil)
  }

  // MARK: - What cannot be read

  @Test func `what cannot be read is told with its path, on one line`() async throws {
    let directory = TemporaryDirectory()
    let closed = "\(directory.path)/closed"
    try TextFile.write("/a.jpg", to: closed)
    chmod(closed, 0)
    var wanted = [
      (directory.path, "Is a directory"), ("\(directory.path)/none", "No such file or directory"),
      ("\(directory.path)/a\0b", "No such file or directory"), ("", "No such file or directory"),
    ]
    // Nothing is unreadable to the administrator.
    if getuid() != 0 { wanted.append((closed, "Permission denied")) }
    for (path, reason) in wanted {
      let name = path.replacing("\0", with: " ")
      var list = URLListFeed(.file(path), load: Self.unused)
      var document = DocumentFeed(.file(path), load: Self.unused)
      for error in [
        await #expect(throws: PosterError.self, performing: { try await list.nextPage() }),
        await #expect(throws: PosterError.self, performing: { try await document.nextPage() }),
      ] {
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.description == "cannot read \(name): \(reason)")
      }
      #expect(list.hasNextPage && document.hasNextPage)
      list.skipFailedPage()
      document.skipFailedPage()
      #expect(!list.hasNextPage && !document.hasNextPage)
    }
  }

  @Test func `symbolic links are followed`() async throws {
    let directory = TemporaryDirectory()
    try TextFile.write("/a.jpg", to: "\(directory.path)/urls.txt")
    let link = "\(directory.path)/link"
    #expect(symlink("urls.txt", link) == 0)
    #expect(try await all(URLListFeed(.file(link), load: Self.unused)).count == 1)
  }
}
