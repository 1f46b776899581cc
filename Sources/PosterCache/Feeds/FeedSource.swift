/// A list that gives its items page by page.
///
/// A source is a value that belongs to one task, and its copy a second reader at the same place. Every
/// source ends after a finite number of pages, whatever its server says.
public protocol FeedSource: Sendable {
  /// Whether ``nextPage()`` would ask for a page.
  var hasNextPage: Bool { get }

  /// The address of the page that ``nextPage()`` asks for, without a credential; `nil` at the end of the
  /// list, and for pages that come from no server.
  var nextPageAddress: PosterAddress? { get }

  /// Loads the next page, or returns `nil` at the end of the list.
  ///
  /// After an error the source stands where it stood, so that the next call asks for the same page again.
  /// An entry that cannot be understood is no error: it is counted, and named in ``FeedPage/faults``.
  ///
  /// - Throws: ``PosterError/Code/unauthorized`` if the credentials were refused, which ends the list.
  mutating func nextPage() async throws(PosterError) -> FeedPage?

  /// Goes on behind a page that has failed, where the source can tell what comes there; otherwise the list
  /// ends. Does nothing if no page has failed.
  mutating func skipFailedPage()
}

extension FeedSource {
  /// None: the pages come from no server.
  public var nextPageAddress: PosterAddress? { nil }
}
