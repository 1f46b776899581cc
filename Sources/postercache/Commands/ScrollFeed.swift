import PosterCache

/// A list that remembers which of its pages could not be had.
struct ScrollFeed: FeedSource {
  /// Pages that could not be had so far. Any thread.
  final class Failures: Sendable {
    /// A page that could not be had.
    struct Failure: Sendable {
      /// The section that it is of.
      var section: Int
      /// `nil` for a page that has none.
      var address: PosterAddress?
      var error: PosterError
    }

    private struct Page: Hashable {
      var section: Int
      var address: PosterAddress?
    }

    private let errors = Lock<[Page: PosterError]>([:])

    /// In an order that is always the same.
    var all: [Failure] {
      errors.withLock { errors in
        errors.map { Failure(section: $0.key.section, address: $0.key.address, error: $0.value) }
          .sorted {
            ($0.section, $0.address?.canonical ?? "") < ($1.section, $1.address?.canonical ?? "")
          }
      }
    }

    fileprivate func pageDidEnd(of section: Int, _ address: PosterAddress?, _ error: PosterError?) {
      errors.withLock { $0[Page(section: section, address: address)] = error }
    }
  }

  private var feed: any FeedSource
  private let section: Int
  private let failures: Failures

  /// - Parameter section: the list's place on the screen.
  init(_ feed: any FeedSource, section: Int, noting failures: Failures) {
    self.feed = feed
    self.section = section
    self.failures = failures
  }

  var hasNextPage: Bool { feed.hasNextPage }

  mutating func nextPage() async throws(PosterError) -> FeedPage? {
    let address = feed.nextPageAddress
    do {
      let page = try await feed.nextPage()
      failures.pageDidEnd(of: section, address, nil)
      return page
    } catch {
      if error.code != .cancelled { failures.pageDidEnd(of: section, address, error) }
      throw error
    }
  }

  mutating func skipFailedPage() { feed.skipFailedPage() }
}
