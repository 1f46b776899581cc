/// Makes a source's pages of what its entries turned out to be: counts them, drops repeats, names faults
/// and ends with the caller's number of pictures.
///
/// An entry is a repeat if one of its kind had its identifier; what has no identifier is none.
struct FeedPageBuilder: Sendable {
  /// What an entry turned out to be.
  enum Entry: Sendable, Hashable {
    case item(FeedItem)
    /// It cannot be understood, and why.
    case fault(String)
  }

  /// How many entries have been looked at.
  private(set) var entryCount = 0
  /// How many pages have been made.
  private(set) var pageCount = 0
  private var picturesLeft: Int
  private var seen: Set<Identity> = []

  /// - Parameter itemLimit: how many entries with a picture to return at most, `nil` for all.
  init(itemLimit: Int?) {
    picturesLeft = max(itemLimit ?? Int.max, 0)
  }

  /// Whether the caller wants more pictures.
  var wantsMore: Bool { picturesLeft > 0 }

  /// The next page.
  ///
  /// - Parameters:
  ///   - entries: the page's entries in order.
  ///   - firstIndex: the index of the first of them in the whole list; how many have been looked at, unless
  ///     the source knows better.
  ///   - isStrict: whether an entry that cannot be understood is an error.
  /// - Throws: ``PosterError/Code/malformedPage`` that names the first such entry.
  mutating func page(
    _ entries: [Entry], firstIndex: Int? = nil, isStrict: Bool = false
  ) throws(PosterError) -> FeedPage {
    let firstIndex = firstIndex ?? entryCount
    if isStrict {
      for case (let index, .fault(let reason)) in entries.enumerated() {
        throw PosterError(
          .malformedPage, FeedPage.Fault(.item(firstIndex + index), reason).description)
      }
    }
    pageCount += 1
    var page = FeedPage(number: pageCount, items: [], itemCount: 0, skipped: .init())
    for (index, entry) in entries.enumerated() where wantsMore {
      page.itemCount += 1
      switch entry {
      case .fault(let reason):
        page.skipped.unsupported += 1
        page.faults.append(FeedPage.Fault(.item(firstIndex + index), reason))
      case .item(let item) where isRepeat(item):
        page.skipped.duplicate += 1
      case .item(let item):
        if item.artwork == nil { page.skipped.noPath += 1 } else { picturesLeft -= 1 }
        page.items.append(item)
      }
    }
    entryCount += page.itemCount
    return page
  }

  private mutating func isRepeat(_ item: FeedItem) -> Bool {
    guard let id = item.id else { return false }
    return !seen.insert(Identity(kind: item.kind, id: id)).inserted
  }

  private struct Identity: Hashable {
    let kind: FeedItem.Kind
    let id: String
  }
}
