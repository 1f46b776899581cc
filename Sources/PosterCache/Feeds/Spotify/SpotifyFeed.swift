/// A list of Spotify's as a sequence of pages: playlists, albums or tracks, with the name of who made them,
/// and with pictures of one or several widths or without any.
///
/// Each page is asked for when the caller wants it, one at a time, at an address that is made here: what the
/// server names as the next page is not followed. A value belongs to one task; copying it copies its
/// position in the list.
///
/// ```swift
/// var feed = try SpotifyFeed(.newReleases, credential: token, load: pipeline.page)
/// while let page = try await feed.nextPage() {
///   for item in page.items { print(item.title ?? "", item.creator ?? "") }
/// }
/// ```
public struct SpotifyFeed: FeedSource {
  /// The list that is read.
  public let list: SpotifyList

  private let base: PosterAddress
  private let credential: Credential?
  private let filters: [QueryFilter]
  private let load: FeedPage.Load
  private var builder: FeedPageBuilder
  private var pager: SpotifyPager
  /// Whether the page that ``nextPage()`` asks for has been asked for in vain.
  private var hasFailed = false

  /// - Parameters:
  ///   - list: the list to read.
  ///   - api: the API's base address, its path included. Default ``PosterAddress/spotifyAPI``.
  ///   - credential: what authorises the requests (``Credential/init(spotify:)``); sent to the API's host
  ///     only.
  ///   - filters: conditions that are passed on, such as `country=SE`; for
  ///     ``SpotifyList/recommendations`` what they should go with, such as `seed_genres=pop`. Default none.
  ///   - pageLimit: how many pages to ask for at most; `nil` for all, at most 200. Default `nil`.
  ///   - itemLimit: how many entries with a picture to return at most. Default `nil`, all.
  ///   - load: loads one page.
  /// - Throws: ``PosterError/Code/invalidConfiguration`` if a filter is called `limit` or `offset`,
  ///   ``PosterError/Code/invalidAddress`` if `api` and `filters` are too long for an address.
  public init(
    _ list: SpotifyList, api: PosterAddress = .spotifyAPI, credential: Credential?,
    filters: [QueryFilter] = [], pageLimit: Int? = nil, itemLimit: Int? = nil,
    load: @escaping FeedPage.Load
  ) throws(PosterError) {
    for filter in filters where ["limit", "offset"].contains(filter.name.lowercased()) {
      throw PosterError(
        .invalidConfiguration, "\(filter.name) is no filter; the list is asked for page by page")
    }
    self.list = list
    self.credential = credential
    self.filters = filters
    self.load = load
    base = try api.appending(list.path)
    builder = FeedPageBuilder(itemLimit: itemLimit)
    pager = SpotifyPager(
      pageSize: list.pageSize, pageLimit: list.isPaged ? pageLimit : min(pageLimit ?? 1, 1))
    if !builder.wantsMore { pager.end() }
    // No page's address is longer than the last one's, so that none of them can fail later.
    _ = try address(at: SpotifyPager.lastOffset)
  }

  /// Whether the list goes on behind what has been read.
  public var hasNextPage: Bool { pager.nextOffset != nil }

  /// The address of the page that ``nextPage()`` asks for, without a credential; `nil` at the end of the
  /// list.
  public var nextPageAddress: PosterAddress? {
    pager.nextOffset.map { offset in
      try! address(at: offset)  // see `init`
    }
  }

  private func address(at offset: Int) throws(PosterError) -> PosterAddress {
    var parameters = ["limit=\(list.pageSize)"]
    if list.isPaged { parameters.append("offset=\(offset)") }
    parameters += filters.map(\.parameter)
    return try PosterAddress("\(base.canonical)?\(parameters.joined(separator: "&"))")
  }

  /// Loads the next page, or returns `nil` at the end of the list.
  ///
  /// After an error the feed stands where it stood: the next call asks for the same page again, and
  /// ``skipFailedPage()`` goes on behind it. Refused credentials end the list.
  ///
  /// - Throws: ``PosterError/Code/unauthorized`` if the server refused the token,
  ///   ``PosterError/Code/malformedPage`` if it answered something else than a page,
  ///   ``PosterError/Code/status(_:)`` for other refusals, and what `load` throws.
  public mutating func nextPage() async throws(PosterError) -> FeedPage? {
    guard let address = nextPageAddress, let offset = pager.nextOffset else { return nil }
    do throws(PosterError) {
      let request = PageRequest(address: address, credential: credential)
      let content = try await FeedPage.read(request, load, content)
      let page = try builder.page(content.entries, firstIndex: offset)
      pager.pageDidLoad(
        content.claims, itemCount: page.items.count, faultCount: page.faults.count)
      if !builder.wantsMore { pager.end() }
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

  /// Goes on behind the page that has failed, or ends the list if there is no sense in it: the first page
  /// failed, or the third in a row. Does nothing if no page has failed.
  public mutating func skipFailedPage() {
    guard hasFailed else { return }
    hasFailed = false
    pager.pageDidFail(isRefusal: false)
  }

  private func content(of response: PageResponse) throws(PosterError) -> SpotifyPage {
    guard response.status == 200 else { throw error(response) }
    do {
      return try SpotifyPage(list, json: response.body)
    } catch {
      guard SpotifyErrorBody(json: response.body) != nil else { throw error }
      throw self.error(response)
    }
  }

  private func error(_ response: PageResponse) -> PosterError {
    SpotifyErrorBody.error(
      status: response.status, body: SpotifyErrorBody(json: response.body),
      credential: credential, list: list,
      isSeeded: filters.contains { $0.name.hasPrefix("seed_") })
  }
}
