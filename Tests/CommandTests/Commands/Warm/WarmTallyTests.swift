import PosterCache
import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(1)))
struct WarmTallyTests {
  @Test func `a poster that two titles share is fetched once, a path that is none never`() throws {
    var tally = WarmTally(["trending/all/day"])
    let first = tally.pageDidLoad(
      page(1, ["/a.jpg", "/b.jpg", "/a.jpg", "/../../x.jpg"], itemCount: 6, noPath: 2),
      size: .w92, images: Self.images
    ).wanted
    #expect(
      first.map(\.request.address.canonical)
        == ["http://i.test/t/p/w92/a.jpg", "http://i.test/t/p/w92/b.jpg"])
    #expect(first.map(\.request.priority) == [.background, .background])
    let second = tally.pageDidLoad(
      page(2, ["/b.jpg", "/c.jpg"], itemCount: 2), size: .w92, images: Self.images
    ).wanted
    #expect(second.map(\.place) == [2])
    #expect(tally.pages == 2 && tally.items == 8 && tally.posters == 3)
    #expect(tally.skipped == .init(noPath: 2, duplicate: 2, unsupported: 1))
  }

  @Test(arguments: [16_385, 70_000, 9_000_000])
  func `a path that is too long counts as unsupported`(length: Int) {
    var tally = WarmTally(["trending/all/day"])
    let long = "/" + String(repeating: "x", count: length - 1)
    let wanted = tally.pageDidLoad(
      page(1, ["/a.jpg", long, "/b.jpg"], itemCount: 3), size: .w342, images: Self.images
    ).wanted
    #expect(
      wanted.map(\.request.address.canonical)
        == ["http://i.test/t/p/w342/a.jpg", "http://i.test/t/p/w342/b.jpg"])
    #expect(tally.skipped == .init(unsupported: 1))
  }

  @Test func `the report tells no secrets of an address`() throws {
    var tally = WarmTally(["trending/all/day"])
    tally.posterDidFail(
      try wanted("http://i.test/a.jpg?sig=5ec2e7", 0), PosterError(.network, "down"))
    tally.pageDidFail(
      try PosterAddress("http://a.test/3/x?page=2"), PosterError(.malformedPage, "HTML"))
    let text = WarmReport.json(
      tally, milliseconds: 0
    ).text
    #expect(text.contains(#""url":"http://a.test/3/x?page=2""#))
    #expect(text.contains(#""url":"http://i.test/a.jpg?sig=…""#))
  }

  @Test func `the report has the contract's keys in the contract's order`() throws {
    var tally = WarmTally(["trending/all/day"])
    _ = tally.pageDidLoad(
      page(1, ["/a.jpg", "/b.jpg", "/c.jpg", "/d.jpg"], itemCount: 5, noPath: 1), size: .w342,
      images: Self.images)
    tally.posterDidArrive(.hit)
    tally.posterDidArrive(.fetched(bytes: 1000))
    tally.posterDidFail(
      try wanted("http://i.test/d.jpg", 3), PosterError(.network, "reset"))
    tally.posterDidFail(
      try wanted("http://i.test/c.jpg", 2), PosterError(.status(404), "not there"))
    tally.pageDidFail(
      try PosterAddress("http://a.test/3/x?page=2"), PosterError(.malformedPage, "HTML"))
    let json = WarmReport.json(
      tally, milliseconds: 1234)
    #expect(
      json.text == """
        {"list":"trending/all/day","pages":1,"items":5,"posters":4,\
        "skipped":{"no_path":1,"duplicate":0,"unsupported":0,"since_last":0},"hits":1,"fetched":1,\
        "revalidated":0,"failed":2,"bytes":1000,"seconds":1.234,"failures":[\
        {"url":"http://a.test/3/x?page=2","status":null,"error":"HTML"},\
        {"url":"http://i.test/c.jpg","status":404,"error":"not there"},\
        {"url":"http://i.test/d.jpg","status":null,"error":"reset"}],\
        "lists":[{"list":"trending/all/day","pages":1,"items":5,"posters":4,\
        "skipped":{"no_path":1,"duplicate":0,"unsupported":0,"since_last":0},\
        "failed_pages":1}],"faults":[]}
        """)
    #expect(
      WarmReport.text(tally, milliseconds: 1234)
        == """
        trending/all/day: 1 page, 5 items, 4 posters
          fetched  1  (1000 B in 1.234 s)
          cached   1
          failed   2
          skipped  1  (1 without a poster)

        """)
  }

  @Test func `a poster of two lists belongs to the first, and to what both have had`() throws {
    let key = try PosterRequest("http://i.test/t/p/w92/a.jpg").key
    let lost = try PosterRequest("http://i.test/t/p/w92/b.jpg")
    var tally = WarmTally(["one", "two"], leavingOut: [[], [key]])
    _ = tally.pageDidLoad(
      page(1, ["/a.jpg", "/b.jpg"], itemCount: 2), of: 0, size: .w92, images: Self.images)
    let news = tally.pageDidLoad(
      page(1, ["/b.jpg", "/a.jpg", "/c.jpg"], itemCount: 3), of: 1, size: .w92,
      images: Self.images)
    // Wanted by the first list, it is not left out of the second.
    #expect(news.wanted.map(\.request.address.canonical) == ["http://i.test/t/p/w92/c.jpg"])
    #expect(tally.lists.map(\.posters) == [2, 1] && tally.skipped.duplicate == 2)
    #expect(tally.posters == 3 && tally.items == 5 && tally.sinceLast == 0)
    tally.posterDidFail(
      WarmTally.Wanted(place: 1, request: lost), PosterError(.network, "down"), of: 0)
    let last = try #require(news.wanted.first?.request.key)
    #expect(tally.lists[0].keys == [key] && tally.lists[1].keys == [key, last])
    #expect(!tally.lists[1].keys.contains(lost.key) && tally.hasFailed(lost.key))
    // What failed is not had because another list names it.
    _ = tally.pageDidLoad(page(2, ["/b.jpg"], itemCount: 1), of: 1, size: .w92, images: Self.images)
    #expect(!tally.lists[1].keys.contains(lost.key))
  }

  @Test func `what is left out is counted once, and had all the same`() throws {
    let keys = try ["a", "b"].map { try PosterRequest("http://i.test/t/p/w92/\($0).jpg").key }
    var tally = WarmTally(["one", "two"], leavingOut: [Set(keys), []], keepsRequests: true)
    let first = tally.pageDidLoad(
      page(1, ["/a.jpg", "/a.jpg", "/b.jpg", "/c.jpg"], itemCount: 4), of: 0, size: .w92,
      images: Self.images)
    #expect(first.wanted.count == 1 && first.cells.count == 3)
    #expect(tally.sinceLast == 2 && tally.skipped.duplicate == 1 && tally.lists[0].keys.count == 3)
    // The other list has not had it.
    let second = tally.pageDidLoad(
      page(1, ["/a.jpg"], itemCount: 1), of: 1, size: .w92, images: Self.images)
    #expect(second.wanted.count == 1 && tally.requests.count == 3)
  }

  @Test func `of failures and faults the first thousand are kept and all counted`() throws {
    var tally = WarmTally(["urls"])
    let faults = (1...1_500).map { FeedPage.Fault(.line($0), "no address") }
    _ = tally.pageDidLoad(
      FeedPage(
        number: 1, items: [], itemCount: 1_500, skipped: .init(unsupported: 1_500), faults: faults),
      size: .w92, images: Self.images)
    #expect(tally.faults.count == 1_000 && tally.faultCount == 1_500)
    #expect(tally.faults.last?.fault.place == .line(1_000) && tally.exitStatus == .success)
    for place in 0..<1_200 {
      tally.posterDidFail(
        try wanted("http://i.test/\(place)", place), PosterError(.network, "down"))
    }
    #expect(tally.failures.count == 1_000 && tally.failureCount == 1_200)
    #expect(tally.exitStatus == .originDown)
    // Not among those that are kept, and counted all the same.
    tally.posterDidFail(try wanted("http://i.test/x", 1_200), PosterError(.notAnImage, "HTML"))
    #expect(tally.exitStatus == .failure && tally.failed == 1_201)
  }

  @Test func `people known for titles bring their pictures, and are items themselves`() throws {
    var tally = WarmTally(["person/popular"])
    let known = ["/a.jpg", "/b.jpg", "/a.jpg"].map {
      FeedItem(id: nil, kind: .movie, posterPath: $0)
    }
    let person = FeedItem(
      id: "1", kind: .person, artwork: .path("/p.jpg", .profile),
      knownFor: known + [FeedItem(id: nil, kind: .tv, posterPath: nil)])
    let nobody = FeedItem(id: "2", kind: .person, artwork: nil)
    let news = tally.pageDidLoad(
      FeedPage(
        number: 1, items: [nobody, person], itemCount: 2, skipped: .init(noPath: 1)),
      size: .w342, images: Self.images)
    #expect(
      news.cells.map { $0?.address.canonical } == [
        nil, "http://i.test/t/p/h632/p.jpg", "http://i.test/t/p/w342/a.jpg",
        "http://i.test/t/p/w342/b.jpg",
      ])
    #expect(tally.posters == 3 && tally.skipped == .init(noPath: 1))
  }

  @Test func `several lists are told one by one, and their sum`() throws {
    var tally = WarmTally(["one", "two"])
    for list in 0..<2 {
      _ = tally.pageDidLoad(
        page(1, ["/\(list).jpg"], itemCount: 1), of: list, size: .w342, images: Self.images)
      tally.posterDidArrive(.hit)
    }
    #expect(
      WarmReport.text(tally, milliseconds: 0) == """
        one: 1 page, 1 item, 1 poster
        two: 1 page, 1 item, 1 poster
        total: 2 pages, 2 items, 2 posters
          fetched  0  (0 B in 0.000 s)
          cached   2

        """)
  }

  @Test func `one of a kind is told in the singular`() throws {
    var tally = WarmTally(["trending/all/day"])
    _ = tally.pageDidLoad(
      page(1, ["/a.jpg"], itemCount: 1), size: .w342, images: Self.images)
    #expect(
      WarmReport.text(tally, milliseconds: 0)
        .hasPrefix("trending/all/day: 1 page, 1 item, 1 poster\n"))
    let bar = ProgressBar(done: 1, total: 1, isListing: false)
    #expect(bar.text(columns: 79, isColored: false, isPadded: false).hasSuffix("  1/1 poster  0 B"))
    #expect(counted(0, "more failure") == "0 more failures")
  }

  @Test func `the exit status says what went wrong as a whole`() throws {
    let request = try PosterRequest("http://i.test/x")
    let address = request.address
    let network = PosterError(.network, "down")
    let missing = PosterError(.status(404), "missing")
    func lost(_ place: Int) -> WarmTally.Wanted {
      WarmTally.Wanted(place: place, request: request)
    }
    func status(_ prepare: (inout WarmTally) -> Void) -> CommandStatus {
      var tally = WarmTally(["trending/all/day"])
      prepare(&tally)
      return tally.exitStatus
    }
    func list(_ tally: inout WarmTally) {
      _ = tally.pageDidLoad(
        page(1, ["/a", "/b"], itemCount: 2), size: .w92, images: Self.images)
    }
    #expect(status { _ in } == .success)
    #expect(
      status {
        list(&$0)
        $0.posterDidArrive(.hit)
        $0.posterDidArrive(.hit)
      } == .success)
    #expect(status { $0.pageDidFail(address, network) } == .originDown)
    #expect(status { $0.pageDidFail(address, PosterError(.status(502), "x")) } == .originDown)
    #expect(status { $0.pageDidFail(address, PosterError(.malformedPage, "x")) } == .failure)
    #expect(status { $0.pageDidFail(address, PosterError(.unauthorized, "x")) } == .refused)
    #expect(
      status {
        list(&$0)
        $0.pageDidFail(address, network)
      } == .failure)
    #expect(
      status {
        list(&$0)
        $0.posterDidFail(lost(0), network)
      } == .originDown)
    for outcome in [PosterPipeline.WarmOutcome.hit, .revalidated, .fetched(bytes: 1)] {
      #expect(
        status {
          list(&$0)
          $0.posterDidArrive(outcome)
          $0.posterDidFail(lost(1), network)
        } == .failure)
    }
    #expect(
      status {
        list(&$0)
        $0.posterDidFail(lost(0), network)
        $0.posterDidFail(lost(1), missing)
      } == .failure)
    #expect(
      status {
        list(&$0)
        $0.posterDidFail(lost(0), PosterError(.unauthorized, "403"))
      } == .failure)
  }

  private func wanted(_ address: String, _ place: Int) throws -> WarmTally.Wanted {
    WarmTally.Wanted(place: place, request: try PosterRequest(address))
  }

  private static let images = ImageHost(try! PosterAddress("http://i.test/t/p/"))  // parses

  private func page(
    _ number: Int, _ paths: [String], itemCount: Int, noPath: Int = 0
  ) -> FeedPage {
    FeedPage(
      number: number,
      items: paths.enumerated().map {
        FeedItem(id: "\(number)-\($0.offset)", kind: .movie, posterPath: $0.element)
      }, itemCount: itemCount, skipped: .init(noPath: noPath))
  }
}
