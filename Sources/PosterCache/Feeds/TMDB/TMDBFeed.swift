/// A TMDB list as a sequence of pages.
///
/// Each page is asked for when the caller wants it, one at a time. A value belongs to one task;
/// copying it copies its position in the list.
///
/// ```swift
/// var feed = try TMDBFeed(
///   .trending(media: .all, window: .day), credential: token, load: pipeline.page)
/// while let page = try await feed.nextPage() {
///   for item in page.items { print(item.title ?? "") }
/// }
/// ```
public struct TMDBFeed: FeedSource {
  /// The list that is read.
  public let list: TMDBList

  private let base: PosterAddress
  /// What follows the page's number in each address.
  private let parameters: String
  private let credential: Credential?
  private let load: FeedPage.Load
  private var pager: TMDBPager
  /// Whether the page that ``nextPage()`` asks for has been asked for in vain.
  private var hasFailed = false

  /// - Parameters:
  ///   - list: the list to read.
  ///   - api: the API's base address, its path included. Default ``PosterAddress/tmdbAPI``.
  ///   - credential: what authorises the requests; sent to the API's host only.
  ///   - language: a language and region such as `ko-KR`; `nil` (the default) for TMDB's own.
  ///   - region: a country by its two letters (ISO 3166-1) in either case, such as `KR`, for lists that
  ///     depend on where films are shown; `nil` (the default) for TMDB's own.
  ///   - pictures: which pictures are wanted. Default ``Pictures/posters``.
  ///   - pageLimit: how many pages to ask for at most; `nil` for all, at most 500. Default `nil`.
  ///   - itemLimit: how many entries with a picture of their own to return at most. Default `nil`, all.
  ///   - load: loads one page.
  /// - Throws: ``PosterError/Code/invalidConfiguration`` if `language` is no language, `region` no country
  ///   or a condition of the list at the same time, there is no such list as `list`, or titles have no such
  ///   `pictures`, ``PosterError/Code/invalidAddress`` if a page's address would be longer than
  ///   ``PosterAddress/maximumLength``.
  public init(
    _ list: TMDBList, api: PosterAddress = .tmdbAPI, credential: Credential?,
    language: String? = nil, region: String? = nil, pictures: Pictures = .posters,
    pageLimit: Int? = nil, itemLimit: Int? = nil, load: @escaping FeedPage.Load
  ) throws(PosterError) {
    try list.validate()
    try pictures.validate()
    self.list = list
    self.credential = credential
    self.load = load
    base = try api.appending(list.path)
    var parameters: [String] = []
    if let language { parameters.append("language=\(try Self.language(language))") }
    if let region { parameters.append("region=\(try Self.region(region, of: list))") }
    parameters += list.parameters
    self.parameters = parameters.map { "&\($0)" }.joined()
    // No page's address is longer than the last one's, so that none of them can fail later.
    _ = try Self.address(ofPage: TMDBPager.lastPage, base: base, parameters: self.parameters)
    pager = TMDBPager(
      kind: list.kind, pictures: pictures, pageLimit: pageLimit, itemLimit: itemLimit)
  }

  private static func language(_ text: String) throws(PosterError) -> String {
    let isTag = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) || $0 == "-" }
    guard isTag, (2...35).contains(text.utf8.count) else {
      throw PosterError(
        .invalidConfiguration,
        "not a language: \(ServerWords.oneLine(text, longest: 40)); write one such as en-US or ko-KR"
      )
    }
    return text
  }

  private static func region(_ text: String, of list: TMDBList) throws(PosterError) -> String {
    guard text.utf8.count == 2, text.allSatisfy({ $0.isASCII && $0.isLetter }) else {
      throw PosterError(
        .invalidConfiguration,
        "not a region: \(ServerWords.oneLine(text, longest: 40));"
          + " write a country's two letters (ISO 3166-1) such as US or KR"
      )
    }
    if case .discover(media: _, let filters) = list,
      filters.contains(where: { $0.name == "region" })
    {
      throw PosterError(.invalidConfiguration, "the region is given twice, once as a filter")
    }
    // TMDB knows countries in upper case only.
    return text.uppercased()
  }

  /// The number of the page that ``nextPage()`` asks for, `nil` at the end of the list.
  public var nextPageNumber: Int? { pager.nextPage }

  /// Whether the list goes on behind what has been read.
  public var hasNextPage: Bool { pager.nextPage != nil }

  /// The address of the page that ``nextPage()`` asks for, without a credential; `nil` at the end
  /// of the list.
  public var nextPageAddress: PosterAddress? {
    pager.nextPage.map { number in
      // A canonical address with an escaped query is one, and short enough.
      try! Self.address(ofPage: number, base: base, parameters: parameters)  // see `init`
    }
  }

  private static func address(
    ofPage number: Int, base: PosterAddress, parameters: String
  ) throws(PosterError) -> PosterAddress {
    try PosterAddress("\(base.canonical)?page=\(number)\(parameters)")
  }

  /// Loads the next page, or returns `nil` at the end of the list.
  ///
  /// After an error the feed stands where it stood: the next call asks for the same page again, and
  /// ``skipFailedPage()`` goes on behind it. Refused credentials end the list.
  ///
  /// - Throws: ``PosterError/Code/unauthorized`` if the server refused the credential,
  ///   ``PosterError/Code/malformedPage`` if it answered something else than a page,
  ///   ``PosterError/Code/status(_:)`` for other refusals, and what `load` throws.
  public mutating func nextPage() async throws(PosterError) -> FeedPage? {
    guard let address = nextPageAddress else { return nil }
    do {
      let content = try await FeedPage.read(
        PageRequest(address: address, credential: credential), load, page(from:))
      let page = pager.pageDidLoad(content)
      hasFailed = false
      return page
    } catch {
      if error.code == .unauthorized {
        pager.pageDidFail(isRefusal: true)
      } else {
        hasFailed = true
      }
      throw error
    }
  }

  /// Goes on behind the page that has failed; ``nextPageNumber`` is `nil` if there is no sense in it: the
  /// first page failed, or the third in a row. Does nothing if no page has failed.
  public mutating func skipFailedPage() {
    guard hasFailed else { return }
    hasFailed = false
    pager.pageDidFail(isRefusal: false)
  }

  private func page(from response: PageResponse) throws(PosterError) -> TMDBPage {
    guard response.status == 200 else {
      let body = TMDBErrorBody(json: response.body)
      throw TMDBErrorBody.error(status: response.status, body: body, credential: credential)
    }
    do {
      return try TMDBPage(json: response.body)
    } catch {
      guard let body = TMDBErrorBody(json: response.body) else { throw error }
      throw TMDBErrorBody.error(status: 200, body: body, credential: credential)
    }
  }
}
