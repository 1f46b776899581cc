import PosterCache

/// Loads a list's pages one after the other, and meanwhile fetches their posters, many at once.
///
/// One task owns it, and learns of each page and poster through one stream of events: nothing here
/// needs a lock.
struct WarmLoop {
  private let options: Settings.Warm
  private let images: ImageHost
  private let pipeline: PosterPipeline
  private let console: Console
  /// Posters asked for at once: enough to keep every connection busy while pages are parsed, and a
  /// bound for what lists of 10,000 posters keep in memory.
  private let outstandingLimit: Int

  private var feed: TMDBFeed
  private var isLoadingPage = false
  /// Posters not asked for yet, the first of the list last.
  private var waiting: [(place: Int, request: PosterRequest)] = []
  private var outstanding = 0
  private var tally = WarmTally()
  private let start = ContinuousClock.now
  private var lastDrawn = ContinuousClock.now

  init(
    _ feed: TMDBFeed, images: ImageHost, options: Settings.Warm, pipeline: PosterPipeline,
    connections: Int, console: Console
  ) {
    self.feed = feed
    self.images = images
    self.options = options
    self.pipeline = pipeline
    self.console = console
    outstandingLimit = 4 * connections + 64
  }

  /// Runs to the end of the list, or until the task is cancelled and the pipeline shut down.
  ///
  /// - Throws: only in a dry run, whose result is printed on the way.
  mutating func run() async throws(OutputError) -> WarmTally {
    // A dry run's results would be written into the bar's line.
    if !options.isDryRun { console.draw(ProgressBar()) }
    let outcome = await withTaskGroup(of: Event.self) { group -> Result<Void, OutputError> in
      proceed(in: &group)
      for await event in group {
        do throws(OutputError) {
          try take(event)
        } catch {
          group.cancelAll()
          return .failure(error)
        }
        proceed(in: &group)
        drawProgress()
      }
      return .success(())
    }
    try outcome.get()
    return tally
  }

  // MARK: - Events

  private enum Event: Sendable {
    case page(TMDBFeed, PosterAddress, Result<FeedPage?, PosterError>)
    case poster(place: Int, PosterAddress, Result<PosterPipeline.WarmOutcome, PosterError>)
  }

  /// Starts what may run now.
  private mutating func proceed(in group: inout TaskGroup<Event>) {
    guard !Task.isCancelled else { return }
    let pipeline = pipeline
    while outstanding < outstandingLimit, let next = waiting.popLast() {
      outstanding += 1
      group.addTask {
        let result = await Result { () async throws(PosterError) in
          try await pipeline.warm(next.request)
        }
        return .poster(place: next.place, next.request.address, result)
      }
    }
    // Not before the posters of earlier pages are under way: pages in advance are memory.
    guard waiting.isEmpty, !isLoadingPage, let address = feed.nextPageAddress else { return }
    isLoadingPage = true
    let current = feed
    group.addTask {
      var feed = current
      let result = await Result { () async throws(PosterError) in try await feed.nextPage() }
      return .page(feed, address, result)
    }
  }

  private mutating func take(_ event: Event) throws(OutputError) {
    switch event {
    case .page(let advanced, let address, let result):
      feed = advanced
      isLoadingPage = false
      switch result {
      case .success(let page):
        if let page { try take(page, from: address) }
      case .failure(let error):
        feed.skipFailedPage()
        // An interruption is no failure of what it interrupts.
        if !Task.isCancelled {
          tally.pageDidFail(address, options.listing.source.explaining(error))
        }
      }
    case .poster(let place, let address, let result):
      outstanding -= 1
      switch result {
      case .success(let outcome):
        tally.posterDidArrive(outcome)
        console.detail("\(outcome.word) \(address)")
      case .failure(let error):
        guard !Task.isCancelled else { break }
        tally.posterDidFail(address, place: place, error)
        console.detail("failed \(address)")
      }
    }
  }

  private mutating func take(_ page: FeedPage, from address: PosterAddress) throws(OutputError) {
    let wanted = tally.pageDidLoad(page, size: options.listing.size, images: images)
    console.detail(
      "page \(page.number): \(counted(page.itemCount, "item")),"
        + " \(counted(wanted.count, "poster")) (\(address))")
    if !options.isDryRun {
      waiting = wanted.reversed() + waiting
    } else if !console.output.isJSON, !wanted.isEmpty {
      try console.result(wanted.map { "\($0.request.address.canonical)\n" }.joined())
    }
  }

  // MARK: - Progress

  private mutating func drawProgress() {
    guard !options.isDryRun else { return }
    let isListing = feed.nextPageNumber != nil || isLoadingPage
    let now = ContinuousClock.now
    // A terminal is slower than a cache: 20 times a second is enough, and once at the end.
    guard now - lastDrawn >= .milliseconds(50) || outstanding == 0 && !isListing else { return }
    lastDrawn = now
    // At least a millisecond, so that the quotient is finite.
    let seconds = max((now - start) / .seconds(1), 0.001)
    console.draw(
      ProgressBar(
        done: tally.done, total: tally.posters, failed: tally.failed, bytes: tally.bytes,
        bytesPerSecond: Int(Double(tally.bytes) / seconds), isListing: isListing))
  }
}

extension PosterPipeline.WarmOutcome {
  /// What `-v` calls it.
  var word: String {
    switch self {
    case .hit: "cached"
    case .revalidated: "revalidated"
    case .fetched: "fetched"
    }
  }
}

extension Settings.Source {
  /// `error` about a list page, with a likely cause: an API without a path is hardly TMDB's.
  func explaining(_ error: PosterError) -> PosterError {
    guard case .servers(let api, _, _) = self, error.code == .status(404),
      // Scheme and authority only.
      api.canonical.split(separator: "/").count == 2
    else { return error }
    return PosterError(
      error.code, "\(error.message); does --api lack its path, such as /3?",
      underlying: error.underlying)
  }
}

extension Result where Failure == PosterError {
  /// What `body` returns or throws.
  init(_ body: () async throws(PosterError) -> Success) async {
    do {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}
