/// Decides which page of a TMDB list to ask for next, and what of a page is new.
///
/// Lists shift between two requests and their totals lie, so this trusts neither: an entry counts
/// once by kind and identifier, and a list ends at the first of
/// - page `min(total_pages, 500)`: TMDB refuses later ones whatever the total says;
/// - a page without entries, or without a new one;
/// - the caller's number of pages or of pictures;
/// - a refusal, a failed page of which nobody knows whether the list reaches beyond it, or the
///   third failed page in a row.
///
/// So every list ends after at most 500 requests.
struct TMDBPager: Sendable {
  /// The last page that TMDB serves of any list.
  static let lastPage = 500
  /// How many failed pages in a row end the list.
  static let failureLimit = 3

  /// The page to ask for now, `nil` at the end.
  private(set) var nextPage: Int?

  private let kind: FeedItem.Kind
  private let pageLimit: Int
  private var picturesLeft: Int
  private var seen: Set<Identity> = []
  private var totalPages: Int?
  private var failuresInRow = 0

  /// - Parameters:
  ///   - kind: what entries are that do not say it themselves.
  ///   - pageLimit: how many pages to ask for at most, `nil` for all.
  ///   - itemLimit: how many entries with a picture to return at most, `nil` for all.
  init(kind: FeedItem.Kind, pageLimit: Int?, itemLimit: Int?) {
    self.kind = kind
    self.pageLimit = min(pageLimit ?? Self.lastPage, Self.lastPage)
    picturesLeft = itemLimit ?? Int.max
    nextPage = self.pageLimit > 0 && picturesLeft > 0 ? 1 : nil
  }

  /// Takes the page that was asked for, and returns what is new in it.
  mutating func pageDidLoad(_ page: TMDBPage) -> FeedPage {
    guard let number = nextPage else { preconditionFailure("a page after the list's end") }
    var result = FeedPage(number: number, items: [], itemCount: 0, skipped: .init())
    var hasNews = false
    for item in page.items where picturesLeft > 0 {
      result.itemCount += 1
      guard let item else {
        result.skipped.unsupported += 1
        continue
      }
      let kind = item.mediaType.map(FeedItem.Kind.init) ?? kind
      // What has no identifier is told apart by its picture.
      let isNew = seen.insert(Identity(kind: kind, id: item.id, path: item.posterPath)).inserted
      hasNews = hasNews || isNew
      guard isNew else {
        result.skipped.duplicate += 1
        continue
      }
      if item.posterPath == nil { result.skipped.noPath += 1 } else { picturesLeft -= 1 }
      result.items.append(
        FeedItem(id: item.id, kind: kind, title: item.title, posterPath: item.posterPath))
    }
    failuresInRow = 0
    totalPages = page.totalPages ?? totalPages
    advance(isAtEnd: !hasNews || picturesLeft == 0)
    return result
  }

  /// Takes note that the page that was asked for cannot be had; the list goes on behind it if it
  /// is known to reach that far.
  ///
  /// - Parameter isRefusal: whether the server refused the credentials, as it would again.
  mutating func pageDidFail(isRefusal: Bool) {
    failuresInRow += 1
    advance(isAtEnd: isRefusal || totalPages == nil || failuresInRow == Self.failureLimit)
  }

  private mutating func advance(isAtEnd: Bool) {
    guard let number = nextPage else { return }
    let last = min(totalPages ?? Self.lastPage, pageLimit)
    nextPage = isAtEnd || number >= last ? nil : number + 1
  }

  /// What makes two entries the same.
  private struct Identity: Hashable {
    let kind: FeedItem.Kind
    let name: String
    let isIdentifier: Bool

    init(kind: FeedItem.Kind, id: String?, path: String?) {
      self.kind = kind
      name = id ?? path ?? ""
      isIdentifier = id != nil
    }
  }
}
