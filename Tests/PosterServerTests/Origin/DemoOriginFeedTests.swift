import PosterCache
import Testing

@testable import PosterServer

/// The demo origin's lists as this project's own feeds count them.
@Suite(.timeLimit(.minutes(1)))
struct DemoOriginFeedTests {
  /// What the pages of a list come to.
  private struct Count {
    var entries = 0
    var skipped = FeedPage.Skipped()
    var items: [FeedItem] = []
    var faults: [FeedPage.Fault] = []

    init(_ feed: some FeedSource) async throws {
      var feed = feed
      while let page = try await feed.nextPage() {
        entries += page.itemCount
        skipped.noPath += page.skipped.noPath
        skipped.duplicate += page.skipped.duplicate
        skipped.unsupported += page.skipped.unsupported
        items += page.items
        faults += page.faults
      }
    }

    /// Entries, those with a picture, without one, repeats, and what cannot be understood.
    var numbers: [Int] {
      [
        entries, items.count { $0.artwork != nil }, skipped.noPath, skipped.duplicate,
        skipped.unsupported,
      ]
    }

    /// Where what cannot be understood stands.
    var faultPlaces: [Int] {
      faults.map { fault in
        switch fault.place {
        case .item(let index): index
        case .line(let number): number
        }
      }
    }
  }

  private static func withOrigin(
    _ body: (DemoOrigin, PosterPipeline) async throws -> Void
  ) async throws {
    let origin = try DemoOrigin()
    defer { origin.shutdown() }
    let pipeline = try PosterPipeline(PosterPipeline.Configuration())
    try await body(origin, pipeline)
    await pipeline.shutdown()
  }

  @Test func `TMDB's lists count as it is said of them`() async throws {
    try await Self.withOrigin { origin, pipeline in
      func count(
        _ list: TMDBList, pages: Int?, _ pictures: TMDBFeed.Pictures = .posters
      ) async throws -> Count {
        try await Count(
          TMDBFeed(
            list, api: origin.api, credential: .apiKey("any"), pictures: pictures,
            pageLimit: pages, load: pipeline.page))
      }
      let trending = TMDBList.trending(media: .all, window: .day)
      let people = TMDBFeed.Pictures(includesPeople: true)
      #expect(try await count(trending, pages: 10).numbers == [200, 187, 10, 3, 0])
      #expect(
        try await count(trending, pages: 10, .init(titles: .backdrop)).numbers
          == [200, 184, 13, 3, 0])
      #expect(try await count(trending, pages: 10, people).numbers == [200, 190, 7, 3, 0])
      let popular = try await count(.popular(.person), pages: 1, people)
      #expect(popular.numbers == [20, 19, 1, 0, 0])
      let known = popular.items.flatMap(\.knownFor)
      #expect(known.count == 42 && known.count { $0.artwork != nil } == 41)
      let list = try await count(.list(id: "1"), pages: nil)
      #expect(list.numbers == [40, 34, 4, 1, 1] && list.faultPlaces == [33])
      #expect(
        try await count(.search(media: .all, query: "golden lighthouse"), pages: nil).numbers
          == [4, 3, 1, 0, 0])
      #expect(
        try await count(.similar(media: .movie, id: 1_001), pages: nil).numbers
          == [60, 55, 5, 0, 0])
    }
  }

  @Test func `sections and feeds count as it is said of them`() async throws {
    try await Self.withOrigin { origin, pipeline in
      let base = "http://127.0.0.1:\(origin.port)"
      for (list, numbers) in [
        (SpotifyList.featuredPlaylists, [120, 106, 9, 2, 3]), (.newReleases, [100, 93, 4, 1, 2]),
        (.recommendations, [100, 80, 15, 0, 5]),
      ] {
        let feed = try SpotifyFeed(
          list, api: PosterAddress("\(base)/v1"), credential: .bearerToken("any"),
          load: pipeline.page)
        #expect(try await Count(feed).numbers == numbers, "\(list)")
      }
      func source(_ name: String) throws -> DocumentSource {
        .address(try PosterAddress("\(base)/feeds/\(name)"))
      }
      let mixed = try await Count(DocumentFeed(source("mixed.json"), load: pipeline.page))
      #expect(mixed.numbers == [60, 26, 24, 1, 9])
      #expect(mixed.faultPlaces == [10, 13, 19, 25, 28, 31, 33, 36, 39])
      let feed = try await Count(DocumentFeed(source("feed.json"), load: pipeline.page))
      #expect(feed.numbers == [36, 29, 4, 1, 2] && feed.faultPlaces == [14, 22])
      let addresses = try await Count(URLListFeed(source("urls.txt"), load: pipeline.page))
      #expect(addresses.numbers == [46, 40, 0, 1, 5])
      #expect(addresses.faultPlaces == DemoFeeds.badLines)
    }
  }
}
