import PosterCache
import PosterServer
import ScrollReplay

/// A scroll in real time through a pipeline.
struct ScrollReplayRun {
  private let session: Session
  private let options: Settings.Scroll
  private let trace: ScrollTrace
  private let layout: ScreenLayout

  init(_ session: Session, _ options: Settings.Scroll, _ trace: ScrollTrace) {
    self.session = session
    self.options = options
    self.trace = trace
    layout = ScrollScene.layout(options)
  }

  /// Replays it with servers, a pipeline and, unless one was named, a cache of its own, all of which are gone
  /// when this returns.
  ///
  /// - Returns: what it came to; `nil` if it was interrupted.
  func run() async throws(PosterError) -> ScrollOutcome? {
    let servers = try options.listing.source.open(link: options.link)
    defer { servers.demo?.shutdown() }
    let temporary = options.cacheDirectory == nil ? try TemporaryCache() : nil
    defer { temporary?.remove() }
    let pipeline = try session.pipeline(
      directory: options.cacheDirectory ?? temporary?.path, demo: servers.demo)
    let result = await withTaskCancellationHandler {
      await Result { () async throws(PosterError) in try await replay(servers, pipeline) }
    } onCancel: {
      // Ends every wait at once.
      Task.detached { await pipeline.shutdown() }
    }
    await pipeline.shutdown()
    return try result.get()
  }

  private func replay(
    _ servers: Servers, _ pipeline: PosterPipeline
  ) async throws(PosterError) -> ScrollOutcome? {
    let rendition = Rendition(.fitting(options.cell))
    let images = try await options.listing.imageHost(
      servers, through: pipeline, console: session.console)
    // What was there before was not fetched for this scroll.
    let stored = try Self.stored(pipeline)
    let arrivals = Arrivals()
    let prefetcher = Prefetcher(
      pipeline, configuration(images, rendition) { arrivals.pictureDidArrive($0, isPrefetch: $1) })
    defer { prefetcher.stop() }
    let pageFailures = ScrollFeed.Failures()
    try await loadFirstPages(
      prefetcher, try options.listing.feeds(from: servers, through: pipeline, priority: .visible),
      noting: pageFailures)
    guard !Task.isCancelled else { return nil }

    let recorder = ScrollRecorder(sections: options.sections.map(\.list.label))
    arrivals.begin(recorder)
    let seconds = trace.samples.last?.seconds ?? 0
    let console = session.console
    let player = ScrollPlayer(seconds: seconds, recorder: recorder) { now in
      Self.draw(now, of: seconds, on: console)
    }
    let hasItems = options.sections.indices.contains { prefetcher.itemCount(in: $0) > 0 }
    let screen = ScrollScreen(
      trace, layout: layout, policy: options.policy, rendition: rendition, pipeline: pipeline,
      prefetcher: prefetcher, recorder: recorder)
    let frames = hasItems ? await player.play(screen) : 0
    console.clearProgress()
    guard !Task.isCancelled else { return nil }
    // Before everything that is still on its way is let go of.
    let (fetching, asking) = (pipeline.fetchStatistics, prefetcher.statistics)
    prefetcher.stop()

    let posters = Posters(
      prefetcher: prefetcher, pipeline: pipeline, options: options, images: images)
    var record = recorder.current
    for ask in record.arrived {
      guard let request = posters.request(for: ask), !stored.contains(request.key) else { continue }
      record.tally.bytesDidArrive(posters.bytes(of: request), for: ask.cell)
    }
    record.tally.cancelled = fetching.cancelled
    record.tally.reconnects = Self.reconnects(fetching)
    record.tally.pagesAsked = asking.pagesAsked
    var report = record.tally.report(at: record.timeline.seconds)
    // What came and made no picture, as it was stopped.
    let surplus = max(fetching.pictureBytes - report.receivedBytes, 0)
    report.receivedBytes += surplus
    report.wastedBytes += surplus
    return ScrollOutcome(
      options: options, trace: trace.name, report: report,
      timeline: record.timeline, seconds: record.timeline.seconds, frames: frames,
      posters: record.arrived.count, connections: fetching.connectionsOpened,
      pagesAsked: asking.pagesAsked,
      pages: asking.pagesFinished,
      pageFailures: pageFailures.all.map {
        let list = options.sections[$0.section].list
        return .init(
          address: $0.address,
          error: options.listing.source.explaining($0.error, about: list, at: $0.address),
          source: list.sourceName)
      },
      posterFailures: record.failures.sorted { $0.key < $1.key }.compactMap { cell, error in
        posters.request(for: WindowAsk(cell)).map { .init(address: $0.address, error: error) }
      })
  }

  // MARK: - Before

  private func configuration(
    _ images: ImageHost, _ rendition: Rendition,
    onPicture: @escaping @Sendable (WindowAsk, Bool) -> Void
  ) -> Prefetcher.Configuration {
    var configuration = Prefetcher.Configuration()
    configuration.size = options.listing.size
    configuration.previewSize = options.preview
    configuration.images = images
    configuration.yield = .pixels(rendition)
    configuration.onPicture = onPicture
    var link = LinkFigures.assumed
    if let known = options.link {
      link.firstByteSeconds = Double(known.latencyMilliseconds) / 1000
      link.bytesPerSecond = Double(known.bytesPerSecond ?? 1 << 40)
    }
    // As many as keep the link busy: what a fixed policy would have to find out by trying.
    configuration.wishLimit = link.adaptiveSlots
    return configuration
  }

  /// Adds the sections, and returns when the first page of each is there or cannot be had.
  private func loadFirstPages(
    _ prefetcher: Prefetcher, _ feeds: [any FeedSource], noting failures: ScrollFeed.Failures
  ) async throws(PosterError) {
    // Before there is anything that could be missed.
    let changes = prefetcher.changes
    for (index, feed) in feeds.enumerated() {
      let (listing, list) = (options.listing, options.sections[index].list)
      let scrolled = ScrollFeed(feed, section: index, noting: failures) {
        listing.refusal(of: $0, from: list)
      }
      prefetcher.appendSection(
        scrolled, layout: layout.sections[index].layout,
        spacingBefore: layout.sections[index].spacingBefore)
    }
    var waiting = Set(options.sections.indices)
    for await change in changes {
      switch change {
      case .items(let section), .end(let section), .pageFailed(let section, _):
        waiting.remove(section)
      }
      if waiting.isEmpty { break }
    }
  }

  /// What is in the cache directory already.
  private static func stored(_ pipeline: PosterPipeline) throws(PosterError) -> Set<CacheKey> {
    var keys: Set<CacheKey> = []
    try pipeline.disk?.forEachEntry { entry in
      keys.insert(entry.key)
      return true
    }
    return keys
  }

  /// Pictures may come before there is somebody to be told.
  private final class Arrivals: Sendable {
    private let recorder = Lock<ScrollRecorder?>(nil)

    func begin(_ recorder: ScrollRecorder) {
      self.recorder.withLock { $0 = recorder }
    }

    func pictureDidArrive(_ ask: WindowAsk, isPrefetch: Bool) {
      recorder.withLock { $0 }?.pictureDidArrive(ask, isPrefetch: isPrefetch)
    }
  }

  // MARK: - Meanwhile

  private static func draw(_ now: Double, of seconds: Double, on console: Console) {
    guard console.showsProgress else { return }
    console.draw(
      ProgressBar(
        noun: "second", done: Int(now), total: max(Int(seconds.rounded(.up)), 1), bytes: nil,
        isListing: false))
  }

  // MARK: - After

  /// Connections that were opened since others had been closed with a transfer on them: as many as were
  /// closed so, but no more than were opened after the first one. A server that multiplexes loses none.
  private static func reconnects(_ fetching: FetchStatistics) -> Int {
    let cancelled = fetching.cancelled
    let closed =
      cancelled.resolving + cancelled.connecting + cancelled.requesting + cancelled.receiving
    return min(closed, max(fetching.connectionsOpened - 1, 0))
  }

  /// The posters behind cells.
  private struct Posters {
    let prefetcher: Prefetcher
    let pipeline: PosterPipeline
    let options: Settings.Scroll
    let images: ImageHost

    func request(for ask: WindowAsk) -> PosterRequest? {
      let size = ask.rung == .full ? options.listing.size : options.preview ?? options.listing.size
      return prefetcher.item(at: ask.cell.indexPath)?.request(size: size, on: images)
    }

    /// How large it is; 0 if it has been evicted since.
    func bytes(of request: PosterRequest) -> Int {
      if let poster = pipeline.cachedPoster(for: request) { return poster.body.count }
      // Nobody can say it then.
      let poster = try? pipeline.disk?.peek(at: request)
      return poster?.body.count ?? 0
    }
  }
}
