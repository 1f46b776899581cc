import PosterCache
import Testing

@testable import postercache

/// Feeds are moved to the task that reads them, not copied.
@Suite(.timeLimit(.minutes(1)))
struct FeedHandoverTests {
  /// Tells on each page whether what it remembers belongs to it alone.
  private struct RememberingFeed: FeedSource {
    final class Memory: Sendable {}

    private var memory = Memory()
    var isAlone: [Bool] = []
    var hasNextPage: Bool { isAlone.count < 3 }

    mutating func nextPage() async throws(PosterError) -> FeedPage? {
      isAlone.append(isKnownUniquelyReferenced(&memory))
      return nil
    }

    mutating func skipFailedPage() {}
  }

  @Test func `what a feed remembers is nobody else's while it is read`() async throws {
    var feed: (any FeedSource)? = RememberingFeed()
    for _ in 0..<3 {
      let handover = try #require(feed.take().map(FeedHandover.init))
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          var feed = handover.take()
          _ = try? await feed.nextPage()  // it throws nothing
          handover.put(feed)
        }
      }
      feed = handover.take()
    }
    let read = try #require(feed as? RememberingFeed)
    #expect(read.isAlone == [true, true, true])
  }
}
