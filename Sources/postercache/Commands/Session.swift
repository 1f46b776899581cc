import PosterCache
import PosterServer

/// What a command needs to work with: its settings, and how to talk.
struct Session: Sendable {
  let settings: Settings
  let console: Console

  /// Runs the command and tells why it failed, if it did.
  func run() async -> CommandStatus {
    do {
      switch settings.action {
      case .warm(let options): return try await WarmCommand(self, options).run()
      case .get(let options): return try await GetCommand(self, options).run()
      case .list(let order): return try ListCommand(self, order).run()
      case .stats: return try StatsCommand(self).run()
      case .verify(let isRepairing): return try VerifyCommand(self, isRepairing: isRepairing).run()
      case .pin(let posters): return try ChangeCommand(self, .pin, posters).run()
      case .unpin(let posters): return try ChangeCommand(self, .unpin, posters).run()
      case .evict(let posters): return try ChangeCommand(self, .evict, posters).run()
      case .trim(let size): return try TrimCommand(self, to: size).run()
      case .clear: return try ClearCommand(self).run()
      case .export(let options): return try await ExportCommand(self, options).run()
      case .sheet(let options): return try await SheetCommand(self, options).run()
      case .scroll(let options): return try await ScrollCommand(self, options).run()
      case .demoOrigin(let listener): return try await DemoOriginCommand(self, listener).run()
      }
    } catch is PosterError where Task.isCancelled {
      // What was waited for has not failed.
      console.note("interrupted")
      return .interrupted
    } catch let error as PosterError {
      console.failure(error.description)
      return CommandStatus(error)
    } catch let error as OutputError {
      return console.report(error)
    } catch {
      console.failure("\(error)")
      return .failure
    }
  }

  /// Opens the cache for a command that has no use for a new one.
  ///
  /// - Throws: ``PosterError/Code/directoryUnavailable`` if there is none; nothing is created.
  func existingCache() throws(PosterError) -> DiskCache {
    let directory = try settings.cacheDirectory()
    return try tellingLowerLimit(of: directory) { () throws(PosterError) in
      try DiskCache(directory: directory, limit: settings.pipeline.diskLimit, creating: false)
    }
  }

  /// Opens something with `open`, and tells if that lowers the limit of the cache in `directory`:
  /// what it evicts then is gone.
  private func tellingLowerLimit<Opened>(
    of directory: String?, open: () throws(PosterError) -> Opened
  ) throws(PosterError) -> Opened {
    guard let directory, settings.pipeline.diskLimit != nil,
      let before = Self.statistics(of: directory)
    else { return try open() }
    let opened = try open()
    if let after = Self.statistics(of: directory), after.limit < before.limit {
      let evictions = max(after.evictions - before.evictions, 0)
      console.note(
        "limit changed from \(ByteSize(bytes: before.limit)) to \(ByteSize(bytes: after.limit));"
          + " \(counted(evictions, "poster")) evicted")
    }
    return opened
  }

  /// The totals of the cache in `directory`, `nil` if there is none.
  private static func statistics(of directory: String) -> DiskStatistics? {
    // What is wrong with the directory is told by whoever opens it to use it.
    try? DiskCache(directory: directory, creating: false).statistics()
  }

  /// Opens a pipeline whose warnings are told.
  ///
  /// - Parameters:
  ///   - directory: the cache directory, `nil` for none.
  ///   - demo: the embedded origin, which `demo.test` is to stand for.
  func pipeline(directory: String?, demo: DemoOrigin?) throws(PosterError) -> PosterPipeline {
    var configuration = settings.pipeline
    configuration.cacheDirectory = directory
    let console = console
    configuration.onWarning = { console.failure("warning: \($0)") }
    if let demo {
      // A fixed name keeps the keys the same from run to run, whatever the port is.
      configuration.fetching.connectTo = ["demo.test:80:127.0.0.1:\(demo.port)"]
      // None, whatever the environment says: no proxy knows that name.
      configuration.fetching.proxy = ""
    }
    let complete = configuration
    return try tellingLowerLimit(of: directory) { () throws(PosterError) in
      try PosterPipeline(complete)
    }
  }
}
