import FoundationEssentials
import PosterServer
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct PrefetcherTests {
  // MARK: - The protocol

  @Test func `a prefetch leaves the poster behind, so that nobody waits for it later`() async throws
  {
    let stage = try PrefetchStage()
    let prefetcher = await stage.prefetcher(9)
    let source: any PrefetchingDataSource = prefetcher
    source.prefetchItems(at: paths([2, 2, 1, 77]) + paths([0], section: 9) + [IndexPath(index: 1)])
    source.prefetchItems(at: paths([-1]))
    source.cancelPrefetchingForItems(at: paths([5, 99, -3]))
    await prefetcher.finish()
    #expect(stage.pipeline.cachedPoster(for: try stage.request("p1.jpg")) != nil)
    #expect(stage.origin.requestCount(of: "/t/p/*") == 2)
    // It is there already.
    source.prefetchItems(at: paths([1, 2]))
    #expect(prefetcher.statistics.asked == 2 && prefetcher.statistics.finished == 2)
    // It is not any more.
    stage.pipeline.memory.removeAll()
    source.prefetchItems(at: paths([1]))
    await prefetcher.finish()
    #expect(prefetcher.statistics.asked == 3)
    await stage.end()
  }

  @Test func `pixels are left behind where that is wanted`() async throws {
    let rendition = Rendition(.fitting(PixelSize(width: 40, height: 60)))
    let stage = try PrefetchStage { $0.yield = .pixels(rendition) }
    let prefetcher = await stage.prefetcher(3)
    prefetcher.prefetchItems(at: paths([1]))
    await prefetcher.finish()
    let request = try stage.request("p1.jpg")
    #expect(stage.pipeline.cachedImage(for: request, as: rendition) != nil)
    await stage.end()
  }

  @Test func `a cancel touches neither a visible request nor another prefetcher's`() async throws {
    let stage = try PrefetchStage()
    let (one, other, third) = (
      await stage.prefetcher(9), await stage.prefetcher(9), await stage.prefetcher(9)
    )
    let gate = stage.origin.hold("/t/p/*")
    other.prefetchItems(at: paths([1]))
    let request = try stage.request("p2.jpg")
    let visible = Task { try await stage.pipeline.poster(for: request) }
    let slot = stage.slot()
    third.bind(slot, at: IndexPath(item: 3, section: 0))
    await gate.waitForRequests(3)
    one.prefetchItems(at: paths(0..<4))
    await gate.waitForRequests(4)
    one.cancelPrefetchingForItems(at: paths(0..<9))
    await one.finish()
    gate.release()
    #expect(try await visible.value.body.count > 0)
    #expect(await slot.picture() != nil)
    await other.finish()
    #expect(stage.pipeline.cachedPoster(for: try stage.request("p1.jpg")) != nil)
    #expect(stage.pipeline.cachedPoster(for: try stage.request("p0.jpg")) == nil)
    #expect(one.statistics.asked == 4 && one.statistics.dropped == 4)
    #expect(other.statistics.finished == 1 && other.statistics.dropped == 0)
    #expect(stage.origin.requestCount(of: "/t/p/*") == 4)
    #expect(stage.pipeline.fetcher.statistics.cancelled.total == 1)
    await stage.end()
  }

  @Test func `prefetches count as planned while a position is known, until a stop or the end`()
    async throws
  {
    let stage = try PrefetchStage()
    let planners = { stage.pipeline.fetcher.plannerCount }
    var prefetcher: Prefetcher? = await stage.prefetcher(9)
    let other = await stage.prefetcher(9)
    prefetcher?.visibleItemsDidChange(paths([77]))
    prefetcher?.didScroll(to: .nan, viewLength: 844)
    prefetcher?.row(0, didScrollTo: 10)
    #expect(planners() == 0)
    for _ in 0..<2 { prefetcher?.didScroll(to: 0, viewLength: 844) }
    #expect(planners() == 1)
    other.visibleItemsDidChange(paths([0]))
    #expect(planners() == 2)
    for _ in 0..<2 { prefetcher?.stop() }
    #expect(planners() == 1)
    prefetcher?.prefetchItems(at: paths([5]))
    #expect(planners() == 2)
    await prefetcher?.finish()
    prefetcher = nil
    #expect(planners() == 1)
    other.stop()
    #expect(planners() == 0)
    await other.finish()
    await stage.end()
  }

  @Test func `a slot that is let go of takes what was on its way for it along`() async throws {
    let stage = try PrefetchStage()
    let prefetcher = await stage.prefetcher(9)
    let gate = stage.origin.hold("/t/p/*")
    var slot: PosterSlot? = stage.slot()
    if let slot { prefetcher.bind(slot, at: IndexPath(item: 3, section: 0)) }
    await gate.waitForRequests(1)
    slot = nil
    // Known with the next event.
    prefetcher.cancelPrefetchingForItems(at: [])
    #expect(prefetcher.statistics.dropped == 1)
    await prefetcher.finish()
    gate.release()
    await stage.end()
  }

  @Test func `a stop frees every connection at once, whatever a server does`() async throws {
    let stage = try PrefetchStage(connections: 2)
    let prefetcher = await stage.prefetcher(9)
    let script = ScriptedFeed.Script()
    prefetcher.appendSection(ScriptedFeed(script), layout: PrefetchStage.grid)
    let gate = stage.origin.hold("/t/p/w92/*")
    prefetcher.prefetchItems(at: paths(0..<9))
    await gate.waitForRequests(2)
    script.waitUntilAsked(1)
    prefetcher.stop()
    #expect(prefetcher.statistics.inFlight == 0 && prefetcher.statistics.pagesInFlight == 0)
    // The gate is still closed.
    let other = try PosterRequest(path: "other.jpg", size: .w154, images: stage.origin.images)
    #expect(try await stage.pipeline.poster(for: other).body.count > 0)
    // A late answer is nobody's.
    script.answer(.success(PrefetchStage.items(3)))
    await prefetcher.finish()
    #expect(prefetcher.items(in: 1).isEmpty)
    #expect(prefetcher.statistics.dropped == prefetcher.statistics.asked)
    gate.release()
    // It goes on when it is told something.
    prefetcher.prefetchItems(at: paths([3]))
    await prefetcher.finish()
    #expect(prefetcher.statistics.finished == 1)
    await stage.end()
  }

  @Test(arguments: [1, 2] as [UInt64])
  func `1,000 bursts of prefetches and cancels leave nothing on its way`(seed: UInt64) async throws
  {
    let stage = try PrefetchStage()
    let prefetcher = await stage.prefetcher(60)
    var random = SeededGenerator(seed: seed)
    // With a closed gate nothing comes, so that every transfer must have been stopped.
    let gate = seed == 1 ? stage.origin.hold("/t/p/*") : nil
    for _ in 0..<1000 {
      let first = Int.random(in: -3..<60, using: &random)
      let items = (first..<first + Int.random(in: 1...9, using: &random)).shuffled(using: &random)
      if Bool.random(using: &random) {
        prefetcher.prefetchItems(at: paths(items + items.prefix(2)))
      } else {
        prefetcher.cancelPrefetchingForItems(at: paths(items))
      }
      #expect(prefetcher.statistics.inFlight <= 6, "seed \(seed)")
    }
    prefetcher.cancelPrefetchingForItems(at: paths((0..<60).shuffled(using: &random)))
    #expect(prefetcher.statistics.inFlight == 0)
    await prefetcher.finish()
    let counts = prefetcher.statistics
    #expect(counts.asked == counts.finished + counts.failed + counts.dropped, "seed \(seed)")
    #expect(counts.asked > 100 && counts.failed == 0, "seed \(seed)")
    if seed == 1 {
      let transfers = stage.pipeline.fetcher.statistics
      #expect(counts.finished == 0)
      let stopped = transfers.cancelled
      #expect(transfers.transfersStarted == stopped.total - stopped.queued)
      #expect(stopped.waitingForRetry == 0)
    }
    gate?.release()
    await stage.end()
  }

  // MARK: - Slots

  @Test func `whole addresses lead to their own host, and the plan counts with the way there`()
    async throws
  {
    let elsewhere = try PosterAddress("http://elsewhere.test/t/p/")
    let stage = try PrefetchStage { $0.images = ImageHost(elsewhere) }
    let prefetcher = await stage.prefetcher()
    #expect(prefetcher.driver.link() == nil)
    prefetcher.appendSection(FixedFeed([]), layout: PrefetchStage.grid)
    let versions = try ["w92", "w500"].map { size in
      Artwork.Version(
        try PosterAddress("\(stage.origin.images.canonical)\(size)/whole.jpg"),
        width: Int(size.dropFirst()))
    }
    prefetcher.setItems(
      [FeedItem(id: "1", kind: .album, artwork: .addresses(versions))], in: 0)
    let slot = stage.slot()
    prefetcher.bind(slot, at: IndexPath(item: 0, section: 0))
    #expect(await slot.picture() != nil)
    #expect(stage.origin.requestCounts == ["/t/p/w92/whole.jpg": 1])
    #expect(prefetcher.driver.link() != nil)
    prefetcher.stop()
    await stage.end()
  }

  @Test func `two slots of one poster share its transfer`() async throws {
    let stage = try PrefetchStage()
    let prefetcher = await stage.prefetcher()
    prefetcher.appendSection(FixedFeed([]), layout: PrefetchStage.grid)
    let twins = (0..<2).map { FeedItem(id: "\($0)", kind: .movie, posterPath: "/twin.jpg") }
    prefetcher.setItems(twins, in: 0)
    let gate = stage.origin.hold("/t/p/*")
    let slots = [stage.slot(), stage.slot()]
    for (item, slot) in slots.enumerated() {
      prefetcher.bind(slot, at: IndexPath(item: item, section: 0))
    }
    await gate.waitForRequests(1)
    gate.release()
    for slot in slots { #expect(await slot.picture() != nil) }
    #expect(stage.origin.requestCount(of: "/t/p/*") == 1)
    // Pixels that are there are shown at once.
    let third = stage.slot()
    prefetcher.bind(third, at: IndexPath(item: 1, section: 0))
    if case .image = third.state {} else { Issue.record("no picture") }
    await stage.end()
  }

  @Test func `a prefetch whose cell is bound goes on as a visible request`() async throws {
    let stage = try PrefetchStage()
    let prefetcher = await stage.prefetcher(9)
    let gate = stage.origin.hold("/t/p/*")
    prefetcher.prefetchItems(at: paths([1]))
    await gate.waitForRequests(1)
    let slot = stage.slot()
    prefetcher.bind(slot, at: IndexPath(item: 1, section: 0))
    #expect(prefetcher.statistics.askedVisible == 1)
    prefetcher.cancelPrefetchingForItems(at: paths([1]))
    gate.release()
    #expect(await slot.picture() != nil)
    await prefetcher.finish()
    #expect(stage.origin.requestCount(of: "/t/p/*") == 1)
    #expect(stage.pipeline.fetcher.statistics.cancelled.total == 0)
    await stage.end()
  }

  @Test func `a slot that is bound elsewhere lets go of what it waited for`() async throws {
    let stage = try PrefetchStage()
    let prefetcher = await stage.prefetcher(9)
    let gate = stage.origin.hold("/t/p/w92/p0.jpg")
    var slot: PosterSlot? = stage.slot()
    if let slot { prefetcher.bind(slot, at: IndexPath(item: 0, section: 0)) }
    await gate.waitForRequests(1)
    if let slot { prefetcher.bind(slot, at: IndexPath(item: 1, section: 0)) }
    #expect(await slot?.picture() != nil)
    #expect(prefetcher.statistics.dropped == 1)
    if let slot { prefetcher.bind(slot, at: IndexPath(item: 0, section: 0)) }
    if let slot { prefetcher.unbind(slot) }
    #expect(slot?.isEmpty == true && prefetcher.statistics.inFlight == 0)
    // What delivers holds a slot for a moment.
    await prefetcher.finish()
    // One that is gone is noticed when the next one is bound.
    if let slot { prefetcher.bind(slot, at: IndexPath(item: 0, section: 0)) }
    slot = nil
    let other = stage.slot()
    prefetcher.bind(other, at: IndexPath(item: 1, section: 0))
    #expect(prefetcher.statistics.inFlight == 0)
    gate.release()
    await prefetcher.finish()
    await stage.end()
  }

  @Test func `a failure is shown, and binding again tries again`() async throws {
    let stage = try PrefetchStage()
    stage.origin.setFaults([Fault("/t/p/w92/p0.jpg", .status(404))])
    let prefetcher = await stage.prefetcher(3)
    let slot = stage.slot()
    prefetcher.bind(slot, at: IndexPath(item: 0, section: 0))
    #expect(await slot.picture() == nil)
    #expect(prefetcher.statistics.failed == 1)
    prefetcher.bind(slot, at: IndexPath(item: 0, section: 0))
    await prefetcher.finish()
    #expect(prefetcher.statistics.failed == 2)
    await stage.end()
  }

  @Test func `items without a picture keep their place, and nothing is asked for them`()
    async throws
  {
    let stage = try PrefetchStage()
    let prefetcher = await stage.prefetcher()
    let blanks = PrefetchStage.items(30, blanks: true)
    prefetcher.appendSection(FixedFeed(blanks), layout: PrefetchStage.grid)
    await prefetcher.finish()
    #expect(prefetcher.itemCount(in: 0) == 30)
    #expect(prefetcher.item(at: IndexPath(item: 29, section: 0))?.id == "29")
    #expect(prefetcher.item(at: IndexPath(item: 30, section: 0)) == nil)
    let slot = stage.slot()
    slot.bind(try stage.request("x.jpg"))
    prefetcher.bind(slot, at: IndexPath(item: 3, section: 0))
    #expect(slot.isEmpty)
    prefetcher.prefetchItems(at: paths(0..<30))
    prefetcher.didScroll(to: 0, viewLength: 844)
    prefetcher.visibleItemsDidChange(paths(3..<12))
    await prefetcher.finish()
    #expect(prefetcher.statistics.asked == 0)
    await stage.end()
  }
}
