/// Decides which page of a TMDB list to ask for next, and what of a page is new.
///
/// Lists shift between two requests and their totals lie, so this trusts neither: an entry counts
/// once by kind and identifier, and a list ends at the first of
/// - page `min(total_pages, 500)`: TMDB refuses later ones whatever the total says;
/// - the last entry by `total_results`, where there is no `total_pages`: what a user has put together used
///   to come whole, and its server to answer the same for every page;
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
  private let pictures: TMDBFeed.Pictures
  private let pageLimit: Int
  private var picturesLeft: Int
  private var seen: Set<Identity> = []
  private var totalPages: Int?
  /// Entries on the pages that were read.
  private var entryCount = 0
  private var failuresInRow = 0

  /// - Parameters:
  ///   - kind: what entries are that do not say it themselves.
  ///   - pictures: which pictures are wanted.
  ///   - pageLimit: how many pages to ask for at most, `nil` for all.
  ///   - itemLimit: how many entries with a picture to return at most, `nil` for all.
  init(
    kind: FeedItem.Kind, pictures: TMDBFeed.Pictures = .posters, pageLimit: Int?, itemLimit: Int?
  ) {
    self.kind = kind
    self.pictures = pictures
    self.pageLimit = min(pageLimit ?? Self.lastPage, Self.lastPage)
    picturesLeft = itemLimit ?? Int.max
    nextPage = self.pageLimit > 0 && picturesLeft > 0 ? 1 : nil
  }

  /// Takes the page that was asked for, and returns what is new in it.
  mutating func pageDidLoad(_ page: TMDBPage) -> FeedPage {
    guard let number = nextPage else { preconditionFailure("a page after the list's end") }
    var result = FeedPage(number: number, items: [], itemCount: 0, skipped: .init())
    var hasNews = false
    for entry in page.entries where picturesLeft > 0 {
      let index = entryCount + result.itemCount
      result.itemCount += 1
      switch entry {
      case .odd(let what):
        result.skipped.unsupported += 1
        result.faults.append(.init(.item(index), "no object: \(what)"))
      case .item(let item):
        guard seen.insert(Identity(of: item, kind: item.kind(in: kind))).inserted else {
          result.skipped.duplicate += 1
          continue
        }
        hasNews = true
        let new = pictures.item(item, listKind: kind)
        if let flaw = new.artwork?.flaw {
          result.skipped.unsupported += 1
          result.faults.append(.init(.item(index), "its picture is \(flaw.message)"))
          continue
        }
        if new.artwork == nil { result.skipped.noPath += 1 } else { picturesLeft -= 1 }
        result.items.append(new)
      }
    }
    entryCount += page.entries.count
    failuresInRow = 0
    totalPages = page.totalPages ?? totalPages
    let isWhole = totalPages == nil && page.totalResults.map { entryCount >= $0 } == true
    advance(isAtEnd: !hasNews || isWhole || picturesLeft == 0)
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

  /// What makes two entries the same: kind and identifier. What has no identifier is told apart by its
  /// picture, whichever it has, or else by its title.
  private struct Identity: Hashable {
    let kind: FeedItem.Kind
    let name: String
    let isIdentifier: Bool

    init(of item: TMDBPage.Item, kind: FeedItem.Kind) {
      self.kind = kind
      name =
        item.id ?? item.posterPath ?? item.profilePath ?? item.backdropPath ?? item.title ?? ""
      isIdentifier = item.id != nil
    }
  }
}
