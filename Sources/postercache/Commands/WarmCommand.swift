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
        var loop = WarmLoop(
          feed, images: servers.images, options: options, pipeline: pipeline,
          connections: session.settings.pipeline.fetching.connectionsPerHost, console: console)
        return try await loop.run()
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
        "interrupted: \(tally.hits + tally.fetched) of \(counted(tally.posters, "poster")) cached,"
          + " run it again for the rest")
      return .interrupted
    }
    try report(tally, seconds: ContinuousClock.now - start)
    return tally.exitStatus
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
      console.failure("and \(counted(failures.count - told, "more failure")); -v tells all")
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
