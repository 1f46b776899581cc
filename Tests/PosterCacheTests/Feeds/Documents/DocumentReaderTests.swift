import CTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import PosterCache

/// Lists that come through pipes, and long ones.
@Suite(.timeLimit(.minutes(2)))
struct DocumentReaderTests {
  private static let unused: FeedPage.Load = { _ throws(PosterError) in
    throw PosterError(.network, "unused")
  }

  private static func lines(_ numbers: Range<Int>) -> String {
    numbers.map { "https://images.example/posters/\($0).jpg\n" }.joined()
  }

  @Test func `waiting for a pipe can be cancelled, and nothing is lost`() async throws {
    let directory = TemporaryDirectory()
    let path = TextFile.pipe(in: directory.path)
    let reader = DocumentReader(.file(path))
    for _ in 0..<20 {
      let waiting = Task { () async throws(PosterError) in try await reader.piece(at: 0) }
      waiting.cancel()
      let error = await #expect(throws: PosterError.self) { try await waiting.value }
      #expect(error?.code == .cancelled)
    }
    let writer = TextFile.openForWriting(path)
    TextFile.write("/a.jpg", to: writer)
    guard case .bytes(let bytes) = try await reader.piece(at: 0) else {
      Issue.record("no bytes")
      return
    }
    #expect(bytes == Array("/a.jpg".utf8))
    guard case .pause = try await reader.piece(at: 6, patienceMilliseconds: 0) else {
      Issue.record("more bytes")
      return
    }
    close(writer)
    guard case .end = try await reader.piece(at: 6) else {
      Issue.record("no end")
      return
    }
  }

  @Test func `a cancelled feed goes on where it stood`() async throws {
    let directory = TemporaryDirectory()
    let path = TextFile.pipe(in: directory.path)
    let feed = URLListFeed(.file(path), load: Self.unused)
    let waiting = Task { () async throws(PosterError) in
      var feed = feed
      return try await feed.nextPage()
    }
    waiting.cancel()
    let error = await #expect(throws: PosterError.self) { try await waiting.value }
    #expect(error?.code == .cancelled)
    let writer = TextFile.openForWriting(path)
    TextFile.write("/a.jpg\n/b", to: writer)
    var copy = feed
    #expect(try await copy.nextPage()?.items.map(\.posterPath) == ["/a.jpg"])
    TextFile.write(".jpg", to: writer)
    close(writer)
    let last = try await copy.nextPage()
    #expect(last?.items.map(\.posterPath) == ["/b.jpg"] && last?.number == 2)
    #expect(try await copy.nextPage() == nil)
  }

  @Test func `a document that was half read when its reader was cancelled is read to its end`()
    async throws
  {
    let directory = TemporaryDirectory()
    let path = TextFile.pipe(in: directory.path)
    let writer = TextFile.openForWriting(path)
    TextFile.write(#"{"data":[{"type":"TITLE_ONLY","#, to: writer)
    let waiting = Task {
      var feed = DocumentFeed(.file(path), load: Self.unused)
      let error = await #expect(throws: PosterError.self) { try await feed.nextPage() }
      #expect(error?.code == .cancelled)
      return feed
    }
    var state = pollfd(fd: writer, events: Int16(POLLIN), revents: 0)
    while poll(&state, 1, 0) == 1 { await Task.yield() }
    waiting.cancel()
    var feed = await waiting.value
    TextFile.write(#""title":"A"}]}"#, to: writer)
    close(writer)
    #expect(try await feed.nextPage()?.items.map(\.title) == ["A"])
    #expect(!feed.hasNextPage)
  }

  @Test func `a document from a pipe that is no feed is the same one the next time`() async throws {
    let directory = TemporaryDirectory()
    let path = TextFile.pipe(in: directory.path)
    let writer = TextFile.openForWriting(path)
    TextFile.write("<html>", to: writer)
    let first = Task {
      var feed = DocumentFeed(.file(path), load: Self.unused)
      let error = await #expect(throws: PosterError.self) { try await feed.nextPage() }
      return (feed, error)
    }
    var state = pollfd(fd: writer, events: Int16(POLLIN), revents: 0)
    while poll(&state, 1, 0) == 1 { await Task.yield() }
    close(writer)
    let message = "not a feed: the file is HTML or XML instead of JSON"
    var (feed, error) = await first.value
    #expect(error?.message == message)
    error = await #expect(throws: PosterError.self) { try await feed.nextPage() }
    #expect(error?.message == message)
  }

  @Test func `pipes that nobody writes to hold up nobody else`() async throws {
    let pipes = (0..<8).map { _ in TemporaryDirectory() }
    // They go away with their last use.
    defer { withExtendedLifetime(pipes) {} }
    let waiting = pipes.map { directory in
      let path = TextFile.pipe(in: directory.path)
      return Task { () async throws(PosterError) in
        var feed = URLListFeed(.file(path), load: Self.unused)
        return try await feed.nextPage()
      }
    }
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/urls.txt"
    try TextFile.write("/a.jpg", to: path)
    for _ in 0..<10 {
      var feed = URLListFeed(.file(path), load: Self.unused)
      #expect(try await feed.nextPage()?.items.count == 1)
    }
    for task in waiting { task.cancel() }
    for task in waiting {
      let error = await #expect(throws: PosterError.self) { try await task.value }
      #expect(error?.code == .cancelled)
    }
  }

  @Test func `standard input is read from where it stands`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/urls.txt"
    try TextFile.write("skipped\n/a.jpg\n/b.jpg", to: path)
    let file = open(path, O_RDONLY | O_CLOEXEC)
    #expect(lseek(file, 8, SEEK_SET) == 8)
    let own = dup(STDIN_FILENO)
    #expect(dup2(file, STDIN_FILENO) == STDIN_FILENO)
    defer {
      // A process without standard input has none afterwards.
      if own >= 0 { dup2(own, STDIN_FILENO) } else { close(STDIN_FILENO) }
      close(own)
      close(file)
    }
    var feed = URLListFeed(.standardInput, load: Self.unused)
    let page = try await feed.nextPage()
    #expect(page?.items.map(\.posterPath) == ["/a.jpg", "/b.jpg"])
    #expect(try await feed.nextPage() == nil)

    try TextFile.write(#"{"data":[{"type":"IMAGE_ONLY","image":"/a.jpg"}, 7]}"#, to: path)
    #expect(lseek(file, 0, SEEK_SET) == 0)
    var document = DocumentFeed(.standardInput, isStrict: true, load: Self.unused)
    // What standard input held is still there for the second try.
    for _ in 0..<2 {
      let error = await #expect(throws: PosterError.self) { try await document.nextPage() }
      #expect(error?.message == "item 1: no JSON object")
    }
  }

  /// AddressSanitizer keeps what has been freed: nothing can be measured then.
  @Test(.enabled(if: postercache_allocated_bytes() > 0))
  func `a million lines from a pipe begin at once and take no memory`() async throws {
    let directory = TemporaryDirectory()
    let path = TextFile.pipe(in: directory.path)
    #if POSTERCACHE_THREAD_SANITIZER
      // Unoptimised, and each access is looked at.
      let count = 20_000
    #else
      let count = 1_000_000
    #endif
    let hasFirst = Monitor(false)
    let thread = WorkerThread(name: "list writer") {
      let writer = open(path, O_WRONLY | O_CLOEXEC)
      TextFile.write(Self.lines(0..<1_000), to: writer)
      // The first page is there before the rest of the list is.
      hasFirst.wait(untilNanoseconds: { _ in nil }) { $0 ? () : nil }
      for start in stride(from: 1_000, to: count, by: 1_000) {
        TextFile.write(Self.lines(start..<start + 1_000), to: writer)
      }
      close(writer)
    }
    let start = try Self.residentBytes()
    var feed = URLListFeed(.file(path), load: Self.unused)
    let first = try #require(try await feed.nextPage())
    #expect(first.items.count == URLListFeed.linesPerPage)
    hasFirst.withLock { $0 = true }
    hasFirst.signal()
    var (items, pages, most, early) = (first.items.count, 1, 0, 0)
    while let page = try await feed.nextPage() {
      items += page.items.count
      pages += 1
      if pages % 20 == 0 { most = max(most, try Self.residentBytes()) }
      // When the memory for repeats is full.
      if pages == 300 { early = most }
    }
    thread.join()
    #expect(items == count && pages >= count / URLListFeed.linesPerPage)
    let late = early > 0 ? most - early : 0
    print("\(count) lines took \((most - start) >> 10) KiB, \(late >> 10) of them late")
    #expect(most - start < 16 << 20 && late < 4 << 20)
  }

  /// Resident bytes of this process.
  private static func residentBytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    let fields = text.split(separator: " ")
    return try #require(Int(fields[1])) * sysconf(Int32(_SC_PAGESIZE))
  }
}
