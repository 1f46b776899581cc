import PosterCache

/// `warm`: expands a list page by page, and fetches posters while the next page is on its way.
struct WarmCommand {
  private let session: Session
  private let options: Settings.Warm
  private var console: Console { session.console }

  init(_ session: Session, _ options: Settings.Warm) {
    self.session = session
    self.options = options
  }

  func run() async throws -> CommandStatus {
    let directory = options.isDryRun ? nil : try session.settings.cacheDirectory()
    let servers = try options.source.open()
    defer { servers.demo?.shutdown() }
    let pipeline = try session.pipeline(directory: directory, demo: servers.demo)
    let feed = try TMDBFeed(
      options.list, api: servers.api, credential: servers.credential, language: options.language,
      pageLimit: options.pageLimit, itemLimit: options.posterLimit
    ) { request async throws(PosterError) in try await pipeline.page(request) }
    let start = ContinuousClock.now
    let tally: WarmTally
    do {
      tally = try await withTaskCancellationHandler {
        try await warm(feed, images: servers.images, with: pipeline)
      } onCancel: {
        // Ends every wait at once; what has been fetched is stored on the way.
        Task.detached { await pipeline.shutdown() }
      }
    } catch {
      await pipeline.shutdown()
      throw error
    }
    await pipeline.shutdown()
    console.clearProgress()
    if Task.isCancelled {
      console.note(
        "interrupted: \(tally.hits + tally.fetched) of \(tally.posters) posters are cached,"
          + " run it again for the rest")
      return .interrupted
    }
    try report(tally, seconds: ContinuousClock.now - start)
    return tally.exitStatus
  }

  // MARK: - Fetching

  private enum Event: Sendable {
    case page(TMDBFeed, PosterAddress, Result<FeedPage?, PosterError>)
    case poster(place: Int, PosterAddress, Result<PosterPipeline.WarmOutcome, PosterError>)
  }

  /// Posters asked for at once: enough to keep every connection busy while pages are parsed, and a
  /// bound for what lists of 10,000 posters keep in memory.
  private var outstandingLimit: Int {
    4 * session.settings.pipeline.fetching.connectionsPerHost + 64
  }

  private func warm(
    _ feed: TMDBFeed, images: PosterAddress, with pipeline: PosterPipeline
  ) async throws(OutputError) -> WarmTally {
    var tally = WarmTally()
    var bar = ProgressBar()
    var outputError: OutputError?
    await withTaskGroup(of: Event.self) { group in
      var waiting: [(place: Int, request: PosterRequest)] = []
      var outstanding = 0
      var feed = feed
      var isLoadingPage = false

      func proceed() {
        guard !Task.isCancelled, outputError == nil else { return }
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

      proceed()
      for await event in group {
        switch event {
        case .page(let advanced, let address, .success(let page)):
          feed = advanced
          isLoadingPage = false
          guard let page else { break }
          let wanted = tally.pageDidLoad(page, size: options.size, images: images)
          console.detail(
            "page \(page.number): \(page.itemCount) items, \(wanted.count) posters (\(address))")
          if options.isDryRun {
            do throws(OutputError) {
              try printAddresses(wanted.map(\.request.address))
            } catch {
              outputError = error
            }
          } else {
            // Taken from the end: the first of the list first.
            waiting = wanted.reversed() + waiting
          }
        case .page(let advanced, let address, .failure(let error)):
          feed = advanced
          isLoadingPage = false
          guard !Task.isCancelled else { break }
          tally.pageDidFail(address, error)
        case .poster(_, let address, .success(let outcome)):
          outstanding -= 1
          tally.posterDidArrive(outcome)
          console.detail(outcome.isHit ? "cached \(address)" : "fetched \(address)")
        case .poster(let place, let address, .failure(let error)):
          outstanding -= 1
          guard !Task.isCancelled else { break }
          tally.posterDidFail(address, place: place, error)
          console.detail("failed \(address)")
        }
        proceed()
        bar.update(from: tally, isListing: feed.nextPageNumber != nil || isLoadingPage)
        console.draw(bar)
      }
    }
    if let outputError { throw outputError }
    return tally
  }

  private func printAddresses(_ addresses: [PosterAddress]) throws(OutputError) {
    guard !console.output.isJSON, !addresses.isEmpty else { return }
    try console.result(addresses.map { "\($0)\n" }.joined())
  }

  // MARK: - Reporting

  /// Failures that are told one by one unless more is wanted.
  private static let toldFailures = 10

  private func report(_ tally: WarmTally, seconds duration: Duration) throws(OutputError) {
    let failures = tally.failures
    let told = console.output.isVerbose ? failures.count : Self.toldFailures
    for failure in failures.prefix(told) {
      console.failure(failure.error, about: failure.address)
    }
    if failures.count > told {
      console.failure("and \(failures.count - told) more failures; -v tells them all")
    }
    let milliseconds = Int(duration / .milliseconds(1))
    if console.output.isJSON {
      try console.result(WarmReport.json(tally, list: options.list, milliseconds: milliseconds))
    } else if tally.pages > 0, !options.isDryRun {
      try console.summary(
        WarmReport.text(tally, list: options.list, milliseconds: milliseconds))
    }
  }
}

extension ProgressBar {
  mutating func update(from tally: WarmTally, isListing: Bool) {
    done = tally.done
    total = tally.posters
    failed = tally.failed
    bytes = tally.bytes
    self.isListing = isListing
  }
}

extension PosterPipeline.WarmOutcome {
  /// Whether the poster was cached already.
  var isHit: Bool { self == .hit }
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
