/// A list that gives its items page by page.
///
/// A source is a value that belongs to one task, and its copy a second reader at the same place. Every
/// source ends after a finite number of pages, whatever its server says.
public protocol FeedSource: Sendable {
  /// Whether ``nextPage()`` would ask for a page.
  var hasNextPage: Bool { get }

  /// Loads the next page, or returns `nil` at the end of the list.
  ///
  /// After an error the source stands where it stood, so that the next call asks for the same page again.
  ///
  /// - Throws: ``PosterError/Code/unauthorized`` if the credentials were refused, which ends the list.
  mutating func nextPage() async throws(PosterError) -> FeedPage?

  /// Goes on behind a page that has failed, where the source can tell what comes there; otherwise the list
  /// ends. Does nothing if no page has failed.
  mutating func skipFailedPage()
}

/// A list that is there already, as one page.
public struct FixedFeed: FeedSource {
  private var items: [FeedItem]?

  /// - Parameter items: what the page holds, in this order.
  public init(_ items: [FeedItem]) {
    self.items = items
  }

  /// Whether the page has not been read.
  public var hasNextPage: Bool { items != nil }

  /// The page, once.
  public mutating func nextPage() -> FeedPage? {
    guard let items = items.take() else { return nil }
    return FeedPage(
      number: 1, items: items, itemCount: items.count,
      skipped: .init(noPath: items.count { $0.posterPath == nil }))
  }

  /// Does nothing: its page does not fail.
  public mutating func skipFailedPage() {}
}
