import PosterCache

/// Loads the pages of several lists at the same time, those of one list one after the other, and meanwhile
/// fetches their posters, many at once and of all lists in turn.
///
/// One task owns it, and learns of each page and poster through one stream of events: nothing here
/// needs a lock.
struct WarmLoop {
  /// One of the lists.
  private struct Source {
    let list: ListSelection
    /// `nil` while a task loads the next page.
    var feed: (any FeedSource)?
    /// Nothing more of it is wanted.
    var isOver = false
    /// Posters not asked for yet, the first of the list last.
    var waiting: [WarmTally.Wanted] = []

    var isLoading: Bool { feed == nil }
    var isListing: Bool { isLoading || !isOver && feed?.hasNextPage == true }
  }

  private let options: Settings.Warm
  private let images: ImageHost
  private let pipeline: PosterPipeline
  private let console: Console
  /// Posters asked for at once: enough to keep every connection busy while pages are parsed, and a
  /// bound for what lists of millions of posters keep in memory.
  private let outstandingLimit: Int

  private var sources: [Source]
  /// The list whose turn it is to have a poster fetched.
  private var turn = 0
  private var outstanding = 0
  private(set) var tally: WarmTally
  /// What would be fetched, where nothing else is wanted.
  private(set) var foresight: Foresight?
  /// What searches have found, for JSON.
  private(set) var found: [JSON] = []
  /// Why what searches find cannot be printed any more; the posters are fetched all the same.
  private(set) var outputError: OutputError?
  private let start = ContinuousClock.now
  private var lastDrawn = ContinuousClock.now

  /// - Parameters:
  ///   - feeds: those of the options' lists, in their order.
  ///   - warmedBefore: the posters to be left out of each list.
  ///   - foresight: what tells in a dry run what would be fetched.
  init(
    _ feeds: [any FeedSource], images: ImageHost, options: Settings.Warm, pipeline: PosterPipeline,
    leavingOut warmedBefore: [Set<CacheKey>], foresight: Foresight?, connections: Int,
    console: Console
  ) {
    let lists = options.listing.lists
    sources = zip(lists, feeds).map { Source(list: $0, feed: $1) }
    tally = WarmTally(
      lists.map(\.label), leavingOut: warmedBefore, keepsRequests: options.isPinning)
    self.foresight = foresight
    self.images = images
    self.options = options
    self.pipeline = pipeline
    self.console = console
    outstandingLimit = 4 * connections + 64
  }

  /// Runs to the end of all lists, or until the task is cancelled and the pipeline shut down.
  ///
  /// - Throws: where results are printed on the way, and cannot be; or if a dry run cannot look into the
  ///   cache.
  mutating func run() async throws {
    // A dry run's results would be written into the bar's line.
    if foresight == nil { console.draw(ProgressBar()) }
    let outcome = await withTaskGroup(of: Event.self) { group -> Result<Void, any Error> in
      proceed(in: &group)
      for await event in group {
        do {
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
    for wanted in sources.flatMap(\.waiting) { tally.posterWasLeft(wanted) }
    try outcome.get()
  }

  // MARK: - Events

  private enum Event: Sendable {
    case page(list: Int, FeedHandover, PosterAddress?, Result<FeedPage?, PosterError>)
    case poster(
      list: Int, WarmTally.Wanted, Result<PosterPipeline.WarmOutcome, PosterError>)
  }

  /// Starts what may run now.
  private mutating func proceed(in group: inout TaskGroup<Event>) {
    guard !Task.isCancelled else { return }
    let pipeline = pipeline
    while outstanding < outstandingLimit, let (list, wanted) = nextPoster() {
      outstanding += 1
      group.addTask {
        let result = await Result { () async throws(PosterError) in
          try await pipeline.warm(wanted.request)
        }
        return .poster(list: list, wanted, result)
      }
    }
    for index in sources.indices {
      // Not before the posters of earlier pages are under way: pages in advance are memory.
      guard sources[index].waiting.isEmpty, !sources[index].isLoading, sources[index].isListing
      else { continue }
      let address = sources[index].feed?.nextPageAddress
      guard let handover = sources[index].feed.take().map(FeedHandover.init) else { continue }
      group.addTask {
        var feed = handover.take()
        let result = await Result { () async throws(PosterError) in try await feed.nextPage() }
        handover.put(feed)
        return .page(list: index, handover, address, result)
      }
    }
  }

  /// The next poster to be fetched; lists take turns.
  private mutating func nextPoster() -> (list: Int, wanted: WarmTally.Wanted)? {
    for _ in sources.indices {
      let list = turn
      turn = (turn + 1) % sources.count
      if let wanted = sources[list].waiting.popLast() { return (list, wanted) }
    }
    return nil
  }

  private mutating func take(_ event: Event) throws {
    switch event {
    case .page(let index, let handover, let address, let result):
      sources[index].feed = handover.take()
      switch result {
      case .success(let page?):
        if let refusal = options.listing.refusal(of: page, from: sources[index].list) {
          sources[index].isOver = true
          tally.pageDidFail(address, refusal, of: index)
        } else {
          try take(page, of: index, from: address)
        }
      case .success(nil): sources[index].isOver = true
      case .failure(let error):
        sources[index].feed?.skipFailedPage()
        // An interruption is no failure of what it interrupts.
        guard !Task.isCancelled else { break }
        let list = sources[index].list
        tally.pageDidFail(
          address, options.listing.source.explaining(error, about: list, at: address), of: index)
      }
    case .poster(let list, let wanted, let result):
      outstanding -= 1
      switch result {
      case .success(let outcome):
        tally.posterDidArrive(outcome)
        console.detail("\(outcome.word) \(wanted.request.address)")
      case .failure(let error):
        guard !Task.isCancelled else {
          tally.posterWasLeft(wanted)
          break
        }
        tally.posterDidFail(wanted, error, of: list)
        console.detail("failed \(wanted.request.address)")
      }
    }
  }

  private mutating func take(
    _ page: FeedPage, of list: Int, from address: PosterAddress?
  ) throws {
    let wanted = tally.pageDidLoad(
      page, of: list, size: options.listing.size, images: images
    ).wanted
    let source = sources[list].list
    console.detail(
      "page \(page.number): \(counted(page.itemCount, "item")),"
        + " \(counted(wanted.count, "poster")) (\(address?.redacted ?? source.sourceName))")
    if source.isSearch { try tell(page.items) }
    guard var foresight else {
      sources[list].waiting = wanted.reversed() + sources[list].waiting
      return
    }
    defer { self.foresight = foresight }
    var lines = ""
    for wanted in wanted where try foresight.wouldFetch(wanted.request, through: pipeline) {
      lines += wanted.request.address.canonical + "\n"
    }
    if !console.output.isJSON, !lines.isEmpty { try console.result(lines) }
  }

  /// Prints what a search has found.
  private mutating func tell(_ items: [FeedItem]) throws(OutputError) {
    if console.output.isJSON {
      found += items.map(WarmReport.json)
    } else if !items.isEmpty, outputError == nil {
      do throws(OutputError) {
        try console.result(items.map { WarmReport.line(for: $0) + "\n" }.joined())
      } catch {
        // A dry run has nothing else to do.
        guard foresight == nil else { throw error }
        outputError = error
      }
    }
  }

  // MARK: - Progress

  private mutating func drawProgress() {
    guard foresight == nil else { return }
    let isListing = sources.contains(where: \.isListing)
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
