import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct TMDBPagerTests {
  @Test func `an entry whose picture can be none is named and left out`() {
    var pager = TMDBPager(kind: .movie, pageLimit: nil, itemLimit: nil)
    let paths = ["/a.jpg", "/../../etc/passwd", "/%2e%2e/b.jpg", "/..", "/c d.jpg"]
    let long = "/" + String(repeating: "x", count: PosterAddress.maximumLength)
    let page = pager.pageDidLoad(
      TMDBPage(
        number: 1, totalPages: 1, totalResults: nil,
        entries: (paths + [long]).enumerated().map { index, path in
          .item(TMDBPage.Item(id: "\(index)", mediaType: nil, title: nil, posterPath: path))
        }))
    #expect(page.items.map(\.posterPath) == ["/a.jpg", "/c d.jpg"])
    #expect(page.skipped == .init(unsupported: 4))
    #expect(page.faults.map(\.place) == [.item(1), .item(2), .item(3), .item(5)])
    #expect(
      page.faults.first?.description
        == "item 1: its picture is not a usable poster path: /../../etc/passwd")
    #expect(page.faults.allSatisfy { $0.reason.count < 200 })
  }

  @Test func `repeats are dropped by kind and identifier`() {
    var pager = TMDBPager(kind: .unknown(""), pageLimit: nil, itemLimit: nil)
    let first = pager.pageDidLoad(
      page(
        5, [movie(1, "/a.jpg"), item(1, "tv", "/b.jpg"), movie(2, nil), nil, movie(1, "/a.jpg")])
    )
    #expect(
      first.items == [
        FeedItem(id: "1", kind: .movie, posterPath: "/a.jpg"),
        FeedItem(id: "1", kind: .tv, posterPath: "/b.jpg"),
        FeedItem(id: "2", kind: .movie, posterPath: nil),
      ])
    #expect(first.skipped == .init(noPath: 1, duplicate: 1, unsupported: 1))
    #expect(first.faults == [.init(.item(3), "no object: null")])
    #expect(first.itemCount == 5)
    #expect(first.number == 1)
    let second = pager.pageDidLoad(page(5, [movie(2, nil), movie(3, "/c.jpg"), nil]))
    #expect(second.items.map(\.id) == ["3"])
    #expect(second.skipped == .init(duplicate: 1, unsupported: 1))
    // Counted over the whole list.
    #expect(second.faults.map(\.description) == ["item 7: no object: null"])
    #expect(second.number == 2)
  }

  @Test func `an entry that names no kind is of the list's kind`() {
    var pager = TMDBPager(kind: .movie, pageLimit: nil, itemLimit: nil)
    let page = pager.pageDidLoad(
      page(1, [item(1, nil, "/a.jpg"), item(2, "collection", "/b.jpg")]))
    #expect(page.items.map(\.kind) == [.movie, .collection])
  }

  @Test func `a list ends at its last page, and at page 500 whatever its total`() {
    for (total, expected) in [(3, 3), (500, 500), (1000, 500), (0, 1), (-7, 1), (1, 1)] {
      #expect(pagesAsked(pageLimit: nil) { page(total, [movie($0, "/\($0).jpg")]) } == expected)
    }
  }

  @Test func `a list without any total ends at page 500 too`() {
    #expect(pagesAsked(pageLimit: nil) { page(nil, [movie($0, "/\($0).jpg")]) } == 500)
  }

  @Test func `totals and numbers that change or lie end in a finite number of requests`() {
    // A total that shrinks below where the list stands, or grows with every page.
    #expect(pagesAsked(pageLimit: nil) { page(10 - 2 * $0, [movie($0, "/x.jpg")]) } == 4)
    #expect(pagesAsked(pageLimit: nil) { page($0 + 1, [movie($0, "/x.jpg")]) } == 500)
    #expect(pagesAsked(pageLimit: nil) { page(.max, [movie($0, "/x.jpg")]) } == 500)
    #expect(pagesAsked(pageLimit: nil) { page(.min, [movie($0, "/x.jpg")]) } == 1)
    for lie in [0, -1, 7, .max, .min] {
      let asked = pagesAsked(pageLimit: nil) {
        TMDBPage(
          number: lie, totalPages: 3, totalResults: lie, entries: entries([movie($0, "/x.jpg")]))
      }
      #expect(asked == 3)
    }
  }

  @Test func `a list without a total of pages ends where it holds all its entries`() {
    func asked(_ total: Int?, perPage: Int) -> Int {
      pagesAsked(pageLimit: nil) { number in
        let items = (0..<perPage).map { movie(number * perPage + $0, "/x.jpg") }
        return TMDBPage(totalResults: total, entries: entries(items))
      }
    }
    #expect(asked(30, perPage: 30) == 1)
    #expect(asked(29, perPage: 30) == 1)
    #expect(asked(31, perPage: 30) == 2)
    #expect(asked(100, perPage: 20) == 5)
    #expect(asked(0, perPage: 3) == 1)
    #expect(asked(-1, perPage: 3) == 1)
    #expect(asked(.max, perPage: 20) == 500)
    #expect(asked(.min, perPage: 3) == 1)
    // A server that does not know pages repeats the whole list.
    let whole = (0..<45).map { movie($0, "/x.jpg") }
    for total in [nil, 45, 1000] {
      let requests = pagesAsked(pageLimit: nil) { _ in
        TMDBPage(totalResults: total, entries: entries(whole))
      }
      #expect(requests == (total == 45 ? 1 : 2))
    }
    // Where there are pages, their number counts.
    #expect(
      pagesAsked(pageLimit: nil) {
        TMDBPage(totalPages: 4, totalResults: 1, entries: entries([movie($0, "/x.jpg")]))
      } == 4)
  }

  @Test func `an empty page ends the list`() {
    #expect(pagesAsked(pageLimit: nil) { page(500, $0 == 4 ? [] : [movie($0, "/x.jpg")]) } == 4)
  }

  @Test func `a page of repeats ends the list, one of new entries without pictures does not`() {
    #expect(pagesAsked(pageLimit: nil) { page(500, [movie(min($0, 6), nil)]) } == 7)
    #expect(pagesAsked(pageLimit: nil) { _ in page(500, [nil, nil]) } == 1)
  }

  @Test func `the caller's number of pages ends the list`() {
    #expect(pagesAsked(pageLimit: 7) { page(500, [movie($0, "/x.jpg")]) } == 7)
    #expect(pagesAsked(pageLimit: 0) { page(500, [movie($0, "/x.jpg")]) } == 0)
    #expect(pagesAsked(pageLimit: 9999) { page(9999, [movie($0, "/x.jpg")]) } == 500)
  }

  @Test func `the caller's number of pictures ends the list in the middle of a page`() {
    var pager = TMDBPager(kind: .movie, pageLimit: nil, itemLimit: 2)
    let page = pager.pageDidLoad(
      page(9, [movie(1, nil), movie(2, "/2.jpg"), movie(3, "/3.jpg"), movie(4, "/4.jpg")]))
    #expect(page.items.map(\.id) == ["1", "2", "3"])
    #expect(page.itemCount == 3)
    #expect(pager.nextPage == nil)
    #expect(TMDBPager(kind: .movie, pageLimit: nil, itemLimit: 0).nextPage == nil)
  }

  @Test func `entries without an identifier are told apart by their pictures`() {
    var pager = TMDBPager(kind: .movie, pageLimit: nil, itemLimit: nil)
    func unnamed(_ path: String) -> TMDBPage.Item {
      TMDBPage.Item(posterPath: path)
    }
    let page = pager.pageDidLoad(page(1, [unnamed("/a"), unnamed("/b"), unnamed("/a")]))
    #expect(page.items.map(\.posterPath) == ["/a", "/b"])
    #expect(page.skipped.duplicate == 1)
  }

  @Test func `people without an identifier are told apart, whichever pictures are wanted`() {
    let pictures: [TMDBFeed.Pictures] = [.posters, .init(titles: .backdrop, includesPeople: true)]
    for pictures in pictures {
      var pager = TMDBPager(
        kind: .person, pictures: pictures, pageLimit: nil, itemLimit: nil)
      let people: [TMDBPage.Item] = [
        .init(title: "A", profilePath: "/a"), .init(title: "A", profilePath: "/b"),
        .init(title: "B", profilePath: "/a"), .init(title: "A"), .init(title: "B"),
        .init(title: "A"), .init(mediaType: "movie", title: "A"),
        .init(title: "C", backdropPath: "/c"), .init(title: "D", backdropPath: "/d"),
      ]
      let page = pager.pageDidLoad(page(1, people))
      #expect(page.items.map(\.title) == ["A", "A", "A", "B", "A", "C", "D"])
      #expect(page.skipped.duplicate == 2)
      #expect(page.skipped.noPath == (pictures == .posters ? 7 : 5))
    }
  }

  @Test func `only entries with a picture of the wanted kind count towards the limit`() {
    let items: [TMDBPage.Item] = [
      .init(id: "1", mediaType: "movie", posterPath: "/1"),
      .init(
        id: "2", mediaType: "person", knownFor: [.init(posterPath: "/2", backdropPath: "/2")]),
      .init(id: "3", mediaType: "person", profilePath: "/3"),
      .init(id: "4", mediaType: "tv", posterPath: "/4", backdropPath: "/4"),
      .init(id: "5", mediaType: "tv", posterPath: "/5", backdropPath: "/5"),
      .init(id: "6", mediaType: "person", profilePath: "/6"),
    ]
    for (pictures, ids) in [
      (TMDBFeed.Pictures.posters, ["1", "2", "3", "4"]),
      (.init(titles: .backdrop), ["1", "2", "3", "4", "5"]),
      (.init(titles: .poster, includesPeople: true), ["1", "2", "3"]),
      (.init(titles: .backdrop, includesPeople: true), ["1", "2", "3", "4"]),
    ] {
      var pager = TMDBPager(
        kind: .unknown(""), pictures: pictures, pageLimit: nil, itemLimit: 2)
      let page = pager.pageDidLoad(page(9, items))
      #expect(page.items.map(\.id) == ids)
      #expect(page.items.count { $0.artwork != nil } == 2)
      #expect(page.skipped.noPath == ids.count - 2)
      #expect(pager.nextPage == nil)
    }
  }

  @Test func `the list goes on behind a failed page if it is known to reach that far`() {
    var pager = TMDBPager(kind: .movie, pageLimit: nil, itemLimit: nil)
    _ = pager.pageDidLoad(page(3, [movie(1, "/1.jpg")]))
    pager.pageDidFail(isRefusal: false)
    #expect(pager.nextPage == 3)
    pager.pageDidFail(isRefusal: false)
    #expect(pager.nextPage == nil)
  }

  @Test func `a failed first page, a refusal, and three failures in a row end the list`() {
    var first = TMDBPager(kind: .movie, pageLimit: nil, itemLimit: nil)
    first.pageDidFail(isRefusal: false)
    #expect(first.nextPage == nil)

    var refused = TMDBPager(kind: .movie, pageLimit: nil, itemLimit: nil)
    _ = refused.pageDidLoad(page(100, [movie(1, "/1.jpg")]))
    refused.pageDidFail(isRefusal: true)
    #expect(refused.nextPage == nil)

    var failing = TMDBPager(kind: .movie, pageLimit: nil, itemLimit: nil)
    _ = failing.pageDidLoad(page(100, [movie(1, "/1.jpg")]))
    failing.pageDidFail(isRefusal: false)
    failing.pageDidFail(isRefusal: false)
    _ = failing.pageDidLoad(page(100, [movie(2, "/2.jpg")]))
    for expected in [6, 7, nil] {
      failing.pageDidFail(isRefusal: false)
      #expect(failing.nextPage == expected)
    }
  }

  @Test(arguments: 0..<200)
  func `whatever a server answers, nothing comes twice and the list ends`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let pageLimit = Bool.random(using: &random) ? Int.random(in: 0...600, using: &random) : nil
    let itemLimit = Bool.random(using: &random) ? Int.random(in: 0...200, using: &random) : nil
    let wanted = TMDBFeed.Pictures(
      titles: Bool.random(using: &random) ? .poster : .backdrop,
      includesPeople: Bool.random(using: &random))
    var pager = TMDBPager(
      kind: .tv, pictures: wanted, pageLimit: pageLimit, itemLimit: itemLimit)
    var seen: Set<String> = []
    var requests = 0
    var pictures = 0
    var entryCount = 0
    while let number = pager.nextPage {
      requests += 1
      #expect(number <= min(pageLimit ?? 500, 500), "seed \(seed)")
      if Int.random(in: 0..<20, using: &random) == 0 {
        pager.pageDidFail(isRefusal: false)
        continue
      }
      let items = (0..<Int.random(in: 0...21, using: &random)).map { _ -> TMDBPage.Item? in
        switch Int.random(in: 0..<10, using: &random) {
        case 0: nil
        default: randomItem(&random)
        }
      }
      var expected: [String] = []
      var faults: [Int] = []
      for item in items where pictures < itemLimit ?? Int.max {
        entryCount += 1
        guard let item, let id = item.id else {
          faults.append(entryCount - 1)
          continue
        }
        let isPerson = item.mediaType == "person"
        guard seen.insert("\(item.mediaType ?? "") \(id)").inserted else { continue }
        expected.append(id)
        let path = wanted.titles == .poster ? item.posterPath : item.backdropPath
        if (isPerson && wanted.includesPeople ? item.profilePath : path) != nil { pictures += 1 }
      }
      let total = Bool.random(using: &random) ? Int.random(in: -5...2000, using: &random) : nil
      let result = pager.pageDidLoad(page(total, items))
      #expect(result.items.map(\.id) == expected, "seed \(seed)")
      #expect(result.faults.map(\.place) == faults.map { .item($0) }, "seed \(seed)")
      let skipped = result.skipped
      #expect(
        result.itemCount
          == result.items.count + skipped.duplicate + skipped.unsupported, "seed \(seed)")
      #expect(skipped.noPath == result.items.count { $0.artwork == nil }, "seed \(seed)")
      #expect(skipped.unsupported == result.faults.count, "seed \(seed)")
    }
    #expect(requests <= 500, "seed \(seed)")
    #expect(pictures <= itemLimit ?? Int.max, "seed \(seed)")
  }

  private func randomItem(_ random: inout SeededGenerator) -> TMDBPage.Item {
    func path() -> String? { Int.random(in: 0..<4, using: &random) == 0 ? nil : "/x.jpg" }
    return TMDBPage.Item(
      id: String(Int.random(in: 0..<4000, using: &random)),
      mediaType: Bool.random(using: &random) ? "movie" : "person", posterPath: path(),
      backdropPath: path(), profilePath: path())
  }

  private func pagesAsked(pageLimit: Int?, _ answer: (Int) -> TMDBPage) -> Int {
    var pager = TMDBPager(kind: .movie, pageLimit: pageLimit, itemLimit: nil)
    var requests = 0
    while let number = pager.nextPage {
      requests += 1
      _ = pager.pageDidLoad(answer(number))
    }
    return requests
  }

  private func page(_ total: Int?, _ items: [TMDBPage.Item?]) -> TMDBPage {
    TMDBPage(number: nil, totalPages: total, totalResults: nil, entries: entries(items))
  }

  /// `nil` stands for a null.
  private func entries(_ items: [TMDBPage.Item?]) -> [TMDBPage.Entry] {
    items.map { item in item.map(TMDBPage.Entry.item) ?? .odd("null") }
  }

  private func movie(_ id: Int, _ path: String?) -> TMDBPage.Item { item(id, "movie", path) }

  private func item(_ id: Int, _ type: String?, _ path: String?) -> TMDBPage.Item {
    TMDBPage.Item(id: String(id), mediaType: type, posterPath: path)
  }
}
