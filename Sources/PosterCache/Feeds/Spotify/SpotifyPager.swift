/// Decides where the next page of a Spotify list begins.
///
/// What a page says about those behind it need not be true, so that a list ends at the first of
/// - a page without entries, or with repeats only;
/// - a page that says that there is none behind it, or whose total does not reach farther where it does not
///   say that;
/// - the caller's number of pages, or page ``lastPage``;
/// - a refusal, a failed page of which nobody knows whether the list reaches beyond it, or the third page in
///   a row that failed or had no item.
///
/// The next page begins where this one ends: behind the entries that came, or, as a page may lack some of
/// them, behind those that it has by its own account, but never more than were asked for.
struct SpotifyPager: Sendable {
  /// What a page says.
  struct Claims: Sendable, Hashable {
    /// Whether there is a page behind it.
    enum Next: Sendable, Hashable {
      case none, some, unsaid
    }

    /// How many entries it has, null ones counting.
    var entryCount = 0
    /// How many entries such a page has at most.
    var limit: Int?
    /// How many entries the list has.
    var total: Int?
    var next = Next.unsaid
  }

  /// The last page that is asked for of any list: 10,000 entries, and Spotify's have some hundreds.
  static let lastPage = 200
  /// The largest offset that is asked for.
  static let lastOffset = 999_999
  /// How many pages in a row without an item end the list.
  static let barrenLimit = 3

  /// Where the page to ask for begins, `nil` at the end.
  private(set) var nextOffset: Int?

  private let pageSize: Int
  private let pageLimit: Int
  private var pageCount = 0
  private var total: Int?
  private var barrenInRow = 0

  /// - Parameters:
  ///   - pageSize: how many entries a page is asked for.
  ///   - pageLimit: how many pages to ask for at most, `nil` for all.
  init(pageSize: Int, pageLimit: Int?) {
    self.pageSize = pageSize
    self.pageLimit = min(pageLimit ?? Self.lastPage, Self.lastPage)
    nextOffset = self.pageLimit > 0 ? 0 : nil
  }

  /// Takes note of the page that was asked for.
  ///
  /// - Parameters:
  ///   - claims: what it says.
  ///   - itemCount: how many items it has that are no repeats.
  ///   - faultCount: how many of its entries cannot be understood.
  mutating func pageDidLoad(_ claims: Claims, itemCount: Int, faultCount: Int) {
    guard let offset = nextOffset else { preconditionFailure("a page after the list's end") }
    barrenInRow = itemCount > 0 ? 0 : barrenInRow + 1
    total = claims.total ?? total
    let limit = claims.limit.flatMap { (1...pageSize).contains($0) ? $0 : nil }
    let end = offset + max(claims.entryCount, limit ?? 0)
    let goesOn =
      switch claims.next {
      case .none: false
      case .some: true
      case .unsaid: (claims.total ?? 0) > end
      }
    let hasNews = itemCount + faultCount > 0 && barrenInRow < Self.barrenLimit
    advance(to: end, isAtEnd: !goesOn || !hasNews || claims.entryCount == 0)
  }

  /// Takes note that the page that was asked for cannot be had; the list goes on behind it if it is known to
  /// reach that far.
  ///
  /// - Parameter isRefusal: whether the server refused the credentials, as it would again.
  mutating func pageDidFail(isRefusal: Bool) {
    guard let offset = nextOffset else { return }
    barrenInRow += 1
    let end = offset + pageSize
    let reachesBeyond = (total ?? 0) > end && barrenInRow < Self.barrenLimit
    advance(to: end, isAtEnd: isRefusal || !reachesBeyond)
  }

  /// Takes note that the caller has all the pictures it wants.
  mutating func end() {
    nextOffset = nil
  }

  private mutating func advance(to offset: Int, isAtEnd: Bool) {
    pageCount += 1
    nextOffset = isAtEnd || pageCount >= pageLimit || offset > Self.lastOffset ? nil : offset
  }
}
