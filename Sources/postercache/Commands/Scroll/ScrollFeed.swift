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
  private let refusal: @Sendable (FeedPage) -> PosterError?
  /// Nothing more of it is wanted.
  private var isOver = false
  private let failures: Failures

  /// - Parameters:
  ///   - section: the list's place on the screen.
  ///   - refusal: why a page is not to be taken, which ends the list; `nil` for one that is.
  init(
    _ feed: any FeedSource, section: Int, noting failures: Failures,
    refusal: @escaping @Sendable (FeedPage) -> PosterError?
  ) {
    self.feed = feed
    self.section = section
    self.refusal = refusal
    self.failures = failures
  }

  var hasNextPage: Bool { !isOver && feed.hasNextPage }

  mutating func nextPage() async throws(PosterError) -> FeedPage? {
    guard hasNextPage else { return nil }
    let address = feed.nextPageAddress
    do throws(PosterError) {
      let page = try await feed.nextPage()
      if let page, let error = refusal(page) {
        isOver = true
        throw error
      }
      failures.pageDidEnd(of: section, address, nil)
      return page
    } catch {
      if error.code != .cancelled { failures.pageDidEnd(of: section, address, error) }
      throw error
    }
  }

  mutating func skipFailedPage() { feed.skipFailedPage() }
}
