import PosterCache

/// A list that remembers which of its pages could not be had.
struct ScrollFeed: FeedSource {
  /// Pages that could not be had so far, by address. Any thread.
  final class Failures: Sendable {
    private let errors = Lock<[PosterAddress: PosterError]>([:])

    /// In an order that is always the same.
    var all: [(address: PosterAddress, error: PosterError)] {
      errors.withLock { errors in
        errors.map { ($0.key, $0.value) }.sorted { $0.0.canonical < $1.0.canonical }
      }
    }

    fileprivate func pageDidEnd(_ address: PosterAddress, _ error: PosterError?) {
      errors.withLock { $0[address] = error }
    }
  }

  private var feed: TMDBFeed
  private let failures: Failures

  init(_ feed: TMDBFeed, noting failures: Failures) {
    self.feed = feed
    self.failures = failures
  }

  var hasNextPage: Bool { feed.hasNextPage }

  mutating func nextPage() async throws(PosterError) -> FeedPage? {
    guard let address = feed.nextPageAddress else { return nil }
    do {
      let page = try await feed.nextPage()
      failures.pageDidEnd(address, nil)
      return page
    } catch {
      if error.code != .cancelled { failures.pageDidEnd(address, error) }
      throw error
    }
  }

  mutating func skipFailedPage() { feed.skipFailedPage() }
}
