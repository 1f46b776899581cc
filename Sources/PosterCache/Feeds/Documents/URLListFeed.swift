/// The pictures that a plain list names: one a line, an http or https address or the path of a poster
/// (`/abc.jpg`).
///
/// Lines that begin with `#` are comments; a `#` behind an address is its fragment, which is not part of it.
/// Byte order marks, all kinds of line ends, empty lines and white space around a line do not matter. A line
/// that names no picture is named in ``FeedPage/faults`` by its number and left out. So is one that repeats
/// an earlier one, as long as that is among the last 65,536 different ones; it counts as a duplicate.
///
/// A page has ``linesPerPage`` lines that say something. A file or standard input is read as far as the
/// page needs, in constant memory however long it is; if its writer pauses, a page ends with what is there.
/// A list that lies at an address is loaded whole with the first page. Copies of a feed that reads standard
/// input or a pipe share it: what one has read, the others do not see.
public struct URLListFeed: FeedSource {
  /// How many lines that say something a page has, but for the last one.
  public static let linesPerPage = 256

  /// Where the list lies.
  public let source: DocumentSource

  /// How long a writer may pause before the lines that are there make a page.
  private static let patienceMilliseconds: CInt = 50

  private let reader: DocumentReader?
  private let load: FeedPage.Load
  /// Bytes that have come; those before `position` have been used.
  private var piece = PosterBody(copying: [])
  private var position = 0
  /// Bytes that have been read before `piece` and with it.
  private var readBytes = 0
  private var splitter = LineSplitter()
  private var memory = RecentKeys()
  private var picturesLeft: Int
  private var isLoaded = false
  private var hasFailed = false
  /// The page that is being made, which an error does not take back.
  private var page = FeedPage(number: 1, items: [], itemCount: 0, skipped: .init())

  /// Whether there may be more lines.
  public private(set) var hasNextPage: Bool

  /// - Parameters:
  ///   - source: where the list lies.
  ///   - itemLimit: how many pictures to return at most. Default `nil`, all.
  ///   - load: loads the list if it lies at an address.
  public init(
    _ source: DocumentSource, itemLimit: Int? = nil, load: @escaping FeedPage.Load
  ) {
    self.source = source
    self.load = load
    picturesLeft = itemLimit ?? Int.max
    hasNextPage = picturesLeft > 0
    if case .address = source { reader = nil } else { reader = DocumentReader(source) }
  }

  /// The list's address until it has been loaded; `nil` afterwards, and for a file and standard input.
  public var nextPageAddress: PosterAddress? {
    if case .address(let address) = source, hasNextPage, !isLoaded { address } else { nil }
  }

  /// Reads the next lines, or returns `nil` at the end of the list.
  ///
  /// After an error the feed stands where it stood; ``skipFailedPage()`` ends the list. Lines that came
  /// before the error are a page, and the error is thrown for the next one.
  ///
  /// - Throws: ``PosterError/Code/invalidConfiguration`` if a file cannot be read, with its path;
  ///   ``PosterError/Code/cancelled`` if the task is cancelled while it waits for lines;
  ///   ``PosterError/Code/malformedPage`` if a server answers with a web page;
  ///   ``PosterError/Code/unauthorized`` and ``PosterError/Code/status(_:)`` for a server's refusals, and
  ///   what `load` throws.
  public mutating func nextPage() async throws(PosterError) -> FeedPage? {
    guard hasNextPage else { return nil }
    do throws(PosterError) {
      while true {
        takeLines()
        if page.itemCount == Self.linesPerPage || picturesLeft == 0 { break }
        guard try await read() else { break }
      }
      hasFailed = false
    } catch {
      guard error.code == .cancelled || page.itemCount == 0 else { return turnPage() }
      hasFailed = error.code != .unauthorized
      if error.code == .unauthorized { hasNextPage = false }
      throw error
    }
    if picturesLeft == 0 { hasNextPage = false }
    return turnPage()
  }

  /// Ends the list. Does nothing if no page has failed.
  public mutating func skipFailedPage() {
    guard hasFailed else { return }
    hasFailed = false
    hasNextPage = false
  }

  // MARK: - Private

  /// The page as it is; `nil` if it has nothing.
  private mutating func turnPage() -> FeedPage? {
    guard page.itemCount > 0 else { return nil }
    defer { page = FeedPage(number: page.number + 1, items: [], itemCount: 0, skipped: .init()) }
    return page
  }

  /// Gets more bytes; returns whether there is a reason to go on with this page.
  private mutating func read() async throws(PosterError) -> Bool {
    switch source {
    case .address(let address):
      guard !isLoaded else { return finish() }
      piece = try await FeedPage.read(PageRequest(address: address), load) {
        (response) throws(PosterError) in
        guard response.status == 200 else {
          throw DocumentSource.refusal(response.status, of: address)
        }
        guard !Self.isWebPage(response.body) else {
          throw PosterError(
            .malformedPage, "not a list of addresses: the answer is HTML or XML: \(address)")
        }
        return response.body
      }
      isLoaded = true
    case .file, .standardInput:
      guard let reader else { preconditionFailure("a file without a reader") }
      let patience = page.itemCount > 0 ? Self.patienceMilliseconds : nil
      switch try await reader.piece(at: readBytes, patienceMilliseconds: patience) {
      case .bytes(let bytes):
        piece = PosterBody(copying: bytes)
        readBytes += bytes.count
      case .pause: return false
      case .end: return finish()
      }
    }
    position = 0
    return true
  }

  /// Takes the last line, and ends the list.
  private mutating func finish() -> Bool {
    if let line = splitter.finish() { take(line) }
    hasNextPage = false
    return false
  }

  private mutating func takeLines() {
    let piece = piece
    piece.withUnsafeBytes { bytes in
      while page.itemCount < Self.linesPerPage, picturesLeft > 0,
        let line = splitter.nextLine(in: bytes, at: &position)
      {
        take(line)
      }
    }
  }

  private mutating func take(_ line: LineSplitter.Line) {
    let entry: URLListEntry
    do throws(PosterError) {
      guard let parsed = try URLListEntry(line.content) else { return }
      entry = parsed
    } catch {
      page.itemCount += 1
      page.skipped.unsupported += 1
      let reason = ServerWords.oneLine(error.message, longest: 240)
      page.faults.append(FeedPage.Fault(.line(line.number), reason))
      return
    }
    page.itemCount += 1
    guard memory.insert(entry.key) else {
      page.skipped.duplicate += 1
      return
    }
    picturesLeft -= 1
    page.items.append(FeedItem(id: nil, kind: .unknown(""), artwork: entry.artwork))
  }

  /// Whether `body` begins like HTML or XML: what a server says that has no such list.
  private static func isWebPage(_ body: PosterBody) -> Bool {
    body.withUnsafeBytes { bytes in
      let start = bytes.prefix(256).drop { byte in
        byte == 0x20 || (0x09...0x0D).contains(byte) || [0xEF, 0xBB, 0xBF].contains(byte)
      }
      let word = String(decoding: start.prefix(16), as: UTF8.self).lowercased()
      return ["<!doctype", "<html", "<?xml", "<head", "<body"].contains { word.hasPrefix($0) }
    }
  }
}
