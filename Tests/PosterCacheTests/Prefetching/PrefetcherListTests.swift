import FoundationEssentials
import PosterServer
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct PrefetcherListTests {
  private static let row = VisibleWindow.Layout.row(
    length: 200, itemLength: 130, viewLength: 390)

  /// The next change for which `isWanted` holds.
  private func wait(
    _ changes: inout AsyncStream<Prefetcher.Change>.Iterator,
    for isWanted: (Prefetcher.Change) -> Bool
  ) async {
    while let change = await changes.next(isolation: #isolation), !isWanted(change) {}
  }

  @Test func `the first page comes at once, the next one when the last item is wished, once`()
    async throws
  {
    let stage = try PrefetchStage()
    let prefetcher = await stage.prefetcher()
    var changes = prefetcher.changes.makeAsyncIterator()
    let script = ScriptedFeed.Script()
    script.answer(.success(PrefetchStage.items(20)))
    #expect(
      prefetcher.appendSection(ScriptedFeed(script, pages: 2), layout: PrefetchStage.grid) == 0)
    await wait(&changes) { if case .items(section: 0) = $0 { true } else { false } }
    #expect(prefetcher.itemCount(in: 0) == 20)
    for _ in 0..<5 { prefetcher.prefetchItems(at: paths([19])) }
    script.waitUntilAsked(2)
    if case .loading = prefetcher.pages(of: 0) {} else { Issue.record("not loading") }
    script.answer(.success(PrefetchStage.items(5, name: "q")))
    await wait(&changes) { if case .end(section: 0) = $0 { true } else { false } }
    #expect(prefetcher.items(in: 0).map(\.posterPath).last == "/q4.jpg")
    prefetcher.prefetchItems(at: paths([24]))
    await prefetcher.finish()
    #expect(script.asked == [1, 2])
    if case .ended = prefetcher.pages(of: 0) {} else { Issue.record("not ended") }
    await stage.end()
  }

  @Test func `a page that failed comes again after a while, or when somebody says so`() async throws
  {
    let stage = try PrefetchStage()
    let prefetcher = await stage.prefetcher()
    var changes = prefetcher.changes.makeAsyncIterator()
    let script = ScriptedFeed.Script()
    script.answer(.failure(PosterError(.status(503), "busy")))
    prefetcher.appendSection(ScriptedFeed(script), layout: PrefetchStage.grid)
    let isFailure = { (change: Prefetcher.Change) in
      if case .pageFailed(section: 0, let error) = change { return error.code == .status(503) }
      return false
    }
    await wait(&changes, for: isFailure)
    if case .failed(let error) = prefetcher.pages(of: 0) {
      #expect(error.code == .status(503))
    } else {
      Issue.record("not failed")
    }
    stage.clock.advance(by: 1)
    script.waitUntilAsked(2)
    script.answer(.failure(PosterError(.status(503), "busy")))
    await wait(&changes, for: isFailure)
    prefetcher.retryPage(of: 0)
    prefetcher.retryPage(of: 7)
    script.waitUntilAsked(3)
    script.answer(.failure(PosterError(.unauthorized, "no")))
    await wait(&changes) { if case .pageFailed = $0 { true } else { false } }
    prefetcher.retryPage(of: 0)
    stage.clock.advance(by: 100)
    await prefetcher.finish()
    // The same page each time.
    #expect(script.asked == [1, 1, 1])
    #expect(prefetcher.statistics.pagesAsked == 3 && prefetcher.statistics.pagesFailed == 3)
    await stage.end()
  }

  @Test func `answers for a list that was replaced or removed are thrown away`() async throws {
    let stage = try PrefetchStage()
    let prefetcher = await stage.prefetcher()
    var changes = prefetcher.changes.makeAsyncIterator()
    let (old, new) = (ScriptedFeed.Script(), ScriptedFeed.Script())
    prefetcher.appendSection(ScriptedFeed(old), layout: PrefetchStage.grid)
    old.waitUntilAsked(1)
    prefetcher.replaceSection(0, with: ScriptedFeed(new))
    new.waitUntilAsked(1)
    old.answer(.success(PrefetchStage.items(9, name: "old")))
    new.answer(.success(PrefetchStage.items(3, name: "new")))
    for _ in 0..<2 { await wait(&changes) { if case .items = $0 { true } else { false } } }
    await prefetcher.finish()
    #expect(prefetcher.items(in: 0).map(\.posterPath) == (0..<3).map { "/new\($0).jpg" })
    prefetcher.prefetchItems(at: paths([2]))
    new.waitUntilAsked(2)
    prefetcher.removeSection(0)
    new.answer(.success(PrefetchStage.items(3)))
    await prefetcher.finish()
    #expect(prefetcher.sectionCount == 0 && prefetcher.items(in: 0).isEmpty)
    let counts = prefetcher.statistics
    #expect(counts.pagesAsked == counts.pagesFinished + counts.pagesDropped)
    #expect(counts.pagesDropped == 2)
    await stage.end()
  }

  @Test func `two rows have feeds, positions and pages of their own`() async throws {
    let stage = try PrefetchStage()
    let prefetcher = await stage.prefetcher()
    let scripts = [ScriptedFeed.Script(), ScriptedFeed.Script()]
    for (index, script) in scripts.enumerated() {
      script.answer(.success(PrefetchStage.items(20, name: "r\(index)x")))
      prefetcher.appendSection(ScriptedFeed(script, pages: 5), layout: Self.row)
    }
    await prefetcher.finish()
    prefetcher.didScroll(to: 0, viewLength: 844)
    await prefetcher.finish()
    #expect(scripts.map(\.asked) == [[1], [1]])
    // Both rows begin with their first items, seen and those behind them.
    for row in 0..<2 {
      let poster = try stage.request("r\(row)x0.jpg")
      #expect(stage.pipeline.cachedPoster(for: poster) != nil)
    }
    let far = try stage.request("r0x16.jpg")
    #expect(stage.pipeline.cachedPoster(for: try stage.request("r1x16.jpg")) == nil)
    #expect(stage.pipeline.cachedPoster(for: far) == nil)
    stage.clock.advance(by: 0.01)
    prefetcher.row(1, didScrollTo: 20 * 130 - 390)
    scripts[1].waitUntilAsked(2)
    scripts[1].answer(.success(PrefetchStage.items(20, name: "more")))
    await prefetcher.finish()
    #expect(scripts.map(\.asked) == [[1], [1, 2]])
    #expect(prefetcher.itemCount(in: 0) == 20 && prefetcher.itemCount(in: 1) == 40)
    #expect(stage.pipeline.cachedPoster(for: try stage.request("r1x16.jpg")) != nil)
    #expect(stage.pipeline.cachedPoster(for: far) == nil)
    prefetcher.row(9, didScrollTo: 5)
    await stage.end()
  }

  @Test func `a section that arrives later is looked at when it is there`() async throws {
    let stage = try PrefetchStage()
    let prefetcher = await stage.prefetcher()
    prefetcher.didScroll(to: 0, viewLength: 844)
    prefetcher.appendSection(FixedFeed(PrefetchStage.items(4)), layout: Self.row)
    let slot = stage.slot()
    await prefetcher.finish()
    let script = ScriptedFeed.Script()
    script.answer(.success(PrefetchStage.items(4, name: "late")))
    prefetcher.appendSection(
      ScriptedFeed(script, pages: 1), layout: Self.row, loadsFirstPage: false)
    await prefetcher.finish()
    #expect(script.asked == [1])
    prefetcher.bind(slot, at: IndexPath(item: 1, section: 1))
    #expect(await slot.picture() != nil)
    await prefetcher.finish()
    #expect(stage.origin.requestCount(of: "/t/p/w92/late1.jpg") == 1)
    await stage.end()
  }

  @Test func `what is visible comes by itself, and its slots are delivered to`() async throws {
    let stage = try PrefetchStage()
    let prefetcher = await stage.prefetcher(60)
    prefetcher.didScroll(to: 0, viewLength: 540)
    let slots = (0..<9).map { _ in stage.slot() }
    for (item, slot) in slots.enumerated() {
      prefetcher.bind(slot, at: IndexPath(item: item, section: 0))
    }
    for slot in slots { #expect(await slot.picture() != nil) }
    await prefetcher.finish()
    // Each poster once, whoever asked first.
    #expect(stage.origin.requestCounts.values.allSatisfy { $0 == 1 })
    await stage.end()
  }

  @Test func `a slot shows a preview where the poster would come too late`() async throws {
    let stage = try PrefetchStage {
      $0.size = .w342
      $0.previewSize = .w92
    }
    let prefetcher = await stage.prefetcher(60)
    let gate = stage.origin.hold("/t/p/w342/*")
    prefetcher.didScroll(to: 0, viewLength: 540)
    let slot = stage.slot()
    prefetcher.bind(slot, at: IndexPath(item: 4, section: 0))
    for await state in slot.states {
      if case .placeholder(.preview) = state { break }
    }
    gate.release()
    #expect(await slot.picture()?.fullSize.width == 342)
    prefetcher.stop()
    await prefetcher.finish()
    await stage.end()
  }

  /// What `docs/embedding.md` shows.
  @Test func `a list of the origin is scrolled to its second page`() async throws {
    let stage = try PrefetchStage { $0.yield = .pixels(Rendition(.full)) }
    let prefetcher = Prefetcher(stage.pipeline, stage.configuration)
    let changes = prefetcher.changes
    let trending = try TMDBFeed(
      .trending(media: .movie, window: .day), api: stage.origin.api,
      credential: .bearerToken("token"), pageLimit: 2, load: stage.pipeline.page)
    prefetcher.appendSection(trending, layout: .grid(columns: 3, rowLength: 180))
    let slot = stage.slot()
    for await change in changes {
      if case .items(section: 0) = change, prefetcher.itemCount(in: 0) == 20 {
        prefetcher.didScroll(to: 0, viewLength: 844)
        prefetcher.bind(slot, at: IndexPath(item: 4, section: 0))
        #expect(await slot.picture() != nil)
        prefetcher.unbind(slot)
        prefetcher.didScroll(to: 400, viewLength: 844)
      }
      if case .end = change { break }
    }
    // Of 40 entries the first of a page repeats the last one before it at most.
    #expect(prefetcher.itemCount(in: 0) > 36)
    #expect(prefetcher.items(in: 0).contains { $0.posterPath == nil })
    #expect(stage.origin.requestCount(of: "/3/*") == 2)
    prefetcher.stop()
    await prefetcher.finish()
    await stage.end()
  }

  @Test func `letting go of a prefetcher stops it and ends its changes`() async throws {
    let stage = try PrefetchStage(connections: 1)
    let changes: AsyncStream<Prefetcher.Change>
    let gate = stage.origin.hold("/t/p/w92/*")
    do {
      let prefetcher = await stage.prefetcher(9)
      changes = prefetcher.changes
      prefetcher.prefetchItems(at: paths([0]))
      await gate.waitForRequests(1)
    }
    for await _ in changes {}
    // The only connection is free.
    let other = try PosterRequest(path: "other.jpg", size: .w154, images: stage.origin.images)
    #expect(try await stage.pipeline.poster(for: other).body.count > 0)
    gate.release()
    await stage.end()
  }
}
