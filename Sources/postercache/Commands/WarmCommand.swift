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
    let servers = try options.listing.source.open()
    defer { servers.demo?.shutdown() }
    let pipeline = try session.pipeline(directory: directory, demo: servers.demo)
    let feed = try options.listing.feed(from: servers, through: pipeline)
    let start = ContinuousClock.now
    let before = Self.statistics(of: pipeline)
    let tally: WarmTally
    var pinned: Result<DiskChange, PosterError>?
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
    if options.isPinning, let disk = pipeline.disk, !Task.isCancelled {
      pinned = Result(catching: { () throws(PosterError) in
        try disk.pin(Array(tally.requests))
      })
    }
    let after = Self.statistics(of: pipeline)
    await pipeline.shutdown()
    console.clearProgress()
    if let before, let after, after.evictions > before.evictions {
      console.note(
        "\(counted(after.evictions - before.evictions, "poster")) evicted to keep the limit of"
          + " \(ByteSize(bytes: after.limit))")
    }
    if Task.isCancelled {
      console.note(
        "interrupted: \(tally.cached) of \(counted(tally.posters, "poster")) cached,"
          + " run it again for the rest")
      return .interrupted
    }
    var pins: Int?
    var status = tally.exitStatus
    switch pinned {
    case nil: break
    case .success(let change): pins = change.posters
    case .failure(let error):
      console.failure("cannot pin the list's posters: \(error)")
      if status == .success { status = .failure }
    }
    try report(tally, pinned: pins, seconds: ContinuousClock.now - start)
    return status
  }

  /// What the disk tier holds, `nil` if there is none or it cannot say.
  private static func statistics(of pipeline: PosterPipeline) -> DiskStatistics? {
    // Only to tell what was evicted: whoever stores tells what is wrong.
    try? pipeline.disk?.statistics()
  }

  // MARK: - Reporting

  private func report(
    _ tally: WarmTally, pinned: Int?, seconds duration: Duration
  ) throws(OutputError) {
    console.failures(tally.failures.map { Console.words(for: $0.error, about: $0.address) })
    let list = options.listing.list
    let milliseconds = Int(duration / .milliseconds(1))
    if console.output.isJSON {
      try console.result(WarmReport.json(tally, list: list, milliseconds: milliseconds))
    } else if tally.pages > 0, !options.isDryRun {
      try console.summary(
        WarmReport.text(tally, list: list, milliseconds: milliseconds, pinned: pinned))
    }
  }
}
