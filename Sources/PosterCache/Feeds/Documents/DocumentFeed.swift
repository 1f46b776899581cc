/// The entries of a JSON document: of a mixed feed (``MixedItem``) or of JSON Feed 1.0 or 1.1.
///
/// Which of the two it is shows in the document. A mixed feed is one page. A JSON Feed that lies at an
/// address goes on at its `next_url`, which has to be on the same host and port, or the same host's https
/// where the page came over http: a document must not make this machine ask whatever host of its network
/// the document names. Anything else there is an error of the next page. The list ends at the first of
/// - a page without `next_url`, or whose next page has been read before;
/// - a page without a new entry;
/// - the caller's number of pages or of pictures, or page 500.
///
/// A document from a file or from standard input is one page of at most 32 MiB.
public struct DocumentFeed: FeedSource {
  /// The last page that is asked for of any document.
  public static let lastPage = 500
  /// The size of the largest document that is read from a file or standard input, in bytes.
  public static let longestDocument = 32 << 20

  /// Where the document lies.
  public let source: DocumentSource

  private enum Next: Sendable {
    case address(PosterAddress)
    case local(DocumentReader)
    /// A page that is not asked for, and why.
    case refused(PosterError)
  }

  private let isStrict: Bool
  private let pageLimit: Int
  private let load: FeedPage.Load
  private var builder: FeedPageBuilder
  private var next: Next?
  private var visited: Set<CacheKey> = []
  /// What has come of a file or of standard input until its page is taken: a pipe cannot be read twice.
  private var arrived: [UInt8] = []
  /// The same once it is whole.
  private var document: PosterBody?
  private var hasFailed = false

  /// - Parameters:
  ///   - source: where the document lies.
  ///   - isStrict: whether an entry that cannot be understood is an error
  ///     (``PosterError/Code/malformedPage``, which names its index and what it is). Default `false`: it is
  ///     counted and named in ``FeedPage/faults``.
  ///   - pageLimit: how many pages to read at most; `nil` for all, at most ``lastPage``. Default `nil`.
  ///   - itemLimit: how many entries with a picture to return at most. Default `nil`, all.
  ///   - load: loads one page.
  public init(
    _ source: DocumentSource, isStrict: Bool = false, pageLimit: Int? = nil,
    itemLimit: Int? = nil, load: @escaping FeedPage.Load
  ) {
    self.source = source
    self.isStrict = isStrict
    self.pageLimit = min(pageLimit ?? Self.lastPage, Self.lastPage)
    self.load = load
    builder = FeedPageBuilder(itemLimit: itemLimit)
    guard self.pageLimit > 0, builder.wantsMore else { return }
    switch source {
    case .address(let address): next = .address(address)
    case .file, .standardInput: next = .local(DocumentReader(source))
    }
  }

  /// Whether the list goes on behind what has been read.
  public var hasNextPage: Bool { next != nil }

  /// The address of the page that ``nextPage()`` asks for; `nil` at the end of the list, and for what is
  /// read from a file or standard input.
  public var nextPageAddress: PosterAddress? {
    if case .address(let address) = next { address } else { nil }
  }

  /// Loads the next page, or returns `nil` at the end of the list.
  ///
  /// After an error the feed stands where it stood; ``skipFailedPage()`` ends the list.
  ///
  /// - Throws: ``PosterError/Code/malformedPage`` if what lies there is neither of the two, or names a next
  ///   page on another host; ``PosterError/Code/invalidConfiguration`` if a file cannot be read,
  ///   ``PosterError/Code/bodyTooLarge`` if it is too large, ``PosterError/Code/cancelled`` if the task is
  ///   cancelled meanwhile, ``PosterError/Code/unauthorized`` and ``PosterError/Code/status(_:)`` for a
  ///   server's refusals, and what `load` throws.
  public mutating func nextPage() async throws(PosterError) -> FeedPage? {
    guard let next else { return nil }
    do throws(PosterError) {
      let content = try await content(at: next)
      let page = try builder.page(content.entries, isStrict: isStrict)
      hasFailed = false
      document = nil
      self.next = nil
      let isAtEnd =
        page.items.isEmpty || !builder.wantsMore || builder.pageCount >= pageLimit
      if case .address(let address) = next, !isAtEnd, let text = content.next {
        visited.insert(CacheKey(address))
        goOn(at: text, from: address)
      }
      return page
    } catch {
      hasFailed = error.code != .unauthorized
      if error.code == .unauthorized { self.next = nil }
      throw error
    }
  }

  /// Ends the list: only a page tells where the next one lies. Does nothing if no page has failed.
  public mutating func skipFailedPage() {
    guard hasFailed else { return }
    hasFailed = false
    next = nil
    arrived = []
    document = nil
  }

  // MARK: - Private

  private mutating func content(at place: Next) async throws(PosterError) -> DocumentPage {
    switch place {
    case .refused(let error): throw error
    case .address(let address):
      return try await FeedPage.read(PageRequest(address: address), load) {
        (response) throws(PosterError) in
        guard response.status == 200 else {
          throw DocumentSource.refusal(response.status, of: address)
        }
        return try DocumentPage(json: response.body, name: "the answer")
      }
    case .local(let reader):
      return try DocumentPage(
        json: try await whole(reader),
        name: source == .standardInput ? "standard input" : "the file")
    }
  }

  private mutating func whole(_ reader: DocumentReader) async throws(PosterError) -> PosterBody {
    if let document { return document }
    try await reader.complete(&arrived, atMost: Self.longestDocument)
    let whole = PosterBody(copying: arrived)
    arrived = []
    document = whole
    return whole
  }

  private mutating func goOn(at text: String, from page: PosterAddress) {
    let address: PosterAddress
    do throws(PosterError) {
      address = try PosterAddress(String(text.withoutSurroundingWhitespace))
    } catch {
      let words = ServerWords.oneLine(error.message, longest: 240)
      next = .refused(PosterError(.malformedPage, "the feed's next_url is \(words)"))
      return
    }
    let isUpgrade = address.isSecure && !page.isSecure && address.port == 443 && page.port == 80
    guard
      address.host == page.host,
      isUpgrade || (address.port == page.port && address.isSecure == page.isSecure)
    else {
      next = .refused(
        PosterError(
          .malformedPage,
          "the feed's next page lies on another host and is not asked for: \(address)"))
      return
    }
    if !visited.contains(CacheKey(address)) { next = .address(address) }
  }
}
