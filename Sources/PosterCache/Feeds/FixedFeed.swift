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
      skipped: .init(noPath: items.count { $0.artwork == nil }))
  }

  /// Does nothing: its page does not fail.
  public mutating func skipFailedPage() {}
}
