import PosterCache

/// `warm`: expands lists page by page, and fetches posters while the next pages are on their way.
struct WarmCommand {
  private let session: Session
  private let options: Settings.Warm
  private let records: WarmRecords
  private var console: Console { session.console }

  init(_ session: Session, _ options: Settings.Warm) {
    self.session = session
    self.options = options
    records = WarmRecords(options.listing)
  }

  func run() async throws -> CommandStatus {
    options.isDryRun ? try await foresee() : try await warm()
  }

  // MARK: - Dry run

  private func foresee() async throws -> CommandStatus {
    let servers = try options.listing.source.open()
    defer { servers.demo?.shutdown() }
    let directory = session.settings.pipeline.cacheDirectory
    let foresight = try Foresight(directory: directory, size: options.listing.size)
    // Without the directory: pages, too, are to change nothing.
    let pipeline = try session.pipeline(directory: nil, demo: servers.demo)
    let start = ContinuousClock.now
    let loop = try await ended(pipeline) {
      let before =
        options.isSinceLast ? try records.warmedBefore(in: foresight.disk) : []
      return try await run(servers, pipeline, leavingOut: before, foresight)
    }
    await pipeline.shutdown()
    if Task.isCancelled {
      console.note("interrupted: this is not all that would be fetched")
      return .interrupted
    }
    return report(
      loop, loop.tally.exitStatus, pinned: nil, seconds: ContinuousClock.now - start)
  }

  // MARK: - Warming

  private func warm() async throws -> CommandStatus {
    let directory = try session.settings.cacheDirectory()
    let servers = try options.listing.source.open()
    defer { servers.demo?.shutdown() }
    let pipeline = try session.pipeline(directory: directory, demo: servers.demo)
    let start = ContinuousClock.now
    let before = Self.statistics(of: pipeline)
    var locks: [ListLock] = []
    defer { for lock in locks { lock.release() } }
    let loop = try await ended(pipeline) {
      locks = try await records.lock(directory, console: console)
      let warmed =
        options.isSinceLast ? try records.warmedBefore(in: pipeline.disk) : []
      return try await run(servers, pipeline, leavingOut: warmed, nil)
    }
    let tally = loop.tally
    var pinned: Result<DiskChange, PosterError>?
    if options.isPinning, let disk = pipeline.disk, !Task.isCancelled {
      pinned = Result(catching: { () throws(PosterError) in
        try disk.pin(Array(tally.requests))
      })
    }
    let after = Self.statistics(of: pipeline)
    await pipeline.shutdown()
    console.clearProgress()
    note(tally, in: directory)
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
    return report(loop, status, pinned: pins, seconds: ContinuousClock.now - start)
  }

  /// What `work` returns; an interruption or a failure shuts `pipeline` down.
  private func ended(
    _ pipeline: PosterPipeline, _ work: () async throws -> WarmLoop
  ) async throws -> WarmLoop {
    do {
      return try await withTaskCancellationHandler {
        try await work()
      } onCancel: {
        // Ends every wait at once; what has been fetched is stored on the way.
        Task.detached { await pipeline.shutdown() }
      }
    } catch {
      await pipeline.shutdown()
      throw error
    }
  }

  /// Expands the lists and does with their posters what is wanted.
  private func run(
    _ servers: Servers, _ pipeline: PosterPipeline, leavingOut warmedBefore: [Set<CacheKey>],
    _ foresight: Foresight?
  ) async throws -> WarmLoop {
    // What no list takes is told before anybody is asked.
    let feeds = try options.listing.feeds(from: servers, through: pipeline)
    let images = try await options.listing.imageHost(servers, through: pipeline, console: console)
    var loop = WarmLoop(
      feeds, images: images, options: options, pipeline: pipeline, leavingOut: warmedBefore,
      foresight: foresight, connections: session.settings.pipeline.fetching.connectionsPerHost,
      console: console)
    try await loop.run()
    return loop
  }

  /// Notes what this run has had. Whoever was interrupted has closed the cache already, and what cannot be
  /// noted costs the next run some looks into it.
  private func note(_ tally: WarmTally, in directory: String) {
    do throws(PosterError) {
      let disk = try DiskCache(directory: directory, creating: false)
      defer { disk.close() }
      try records.note(tally, in: disk, isInterrupted: Task.isCancelled)
    } catch {
      console.failure("warning: cannot note what was warmed: \(error)")
    }
  }

  /// What the disk tier holds, `nil` if there is none or it cannot say.
  private static func statistics(of pipeline: PosterPipeline) -> DiskStatistics? {
    // Only to tell what was evicted: whoever stores tells what is wrong.
    try? pipeline.disk?.statistics()
  }

  // MARK: - Reporting

  /// Tells what it came to, and returns how the command ends.
  private func report(
    _ loop: WarmLoop, _ status: CommandStatus, pinned: Int?, seconds duration: Duration
  ) -> CommandStatus {
    let tally = loop.tally
    WarmReport.tell(tally, of: options.listing, on: console)
    let milliseconds = Int(duration / .milliseconds(1))
    return console.ending(status) { () throws(OutputError) in
      if let error = loop.outputError { throw error }
      if console.output.isJSON {
        try console.result(
          WarmReport.json(
            tally, milliseconds: milliseconds,
            found: options.listing.lists.contains(where: \.isSearch) ? loop.found : nil,
            foresight: loop.foresight))
        return
      }
      // Why is all there is to tell then.
      guard !tally.isUnavailable else { return }
      if let foresight = loop.foresight {
        console.note(foresight.text)
      } else {
        try console.summary(
          WarmReport.text(tally, milliseconds: milliseconds, pinned: pinned))
      }
    }
  }
}
