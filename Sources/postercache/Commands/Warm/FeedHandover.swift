import PosterCache

/// Hands a list's feed to the task that loads its next page, and back.
///
/// A feed remembers up to a megabyte of what it has listed. Passed as a value, it would be copied for each
/// page: whoever still held it would make the next change copy all of that.
final class FeedHandover: Sendable {
  private let feed: Lock<(any FeedSource)?>

  init(_ feed: any FeedSource) {
    self.feed = Lock(feed)
  }

  /// Takes the feed, which is then nobody else's.
  func take() -> any FeedSource {
    guard let feed = feed.withLock({ $0.take() }) else {
      preconditionFailure("a feed is read by two at once")
    }
    return feed
  }

  /// Gives it back.
  func put(_ feed: sending any FeedSource) {
    self.feed.withLock { $0 = feed }
  }
}
