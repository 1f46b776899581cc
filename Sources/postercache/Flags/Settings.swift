import PosterCache

/// What a command line means: every value checked, defaults and environment filled in.
struct Settings: Sendable {
  /// How to talk.
  struct Output: Sendable, Equatable {
    var isJSON = false
    var isQuiet = false
    var isVerbose = false
    var progress = ProgressMode.auto
  }

  /// What to do.
  enum Action: Sendable {
    case warm(Warm)
    case get(Get)
    case list(EntryOrder)
    case stats
    case verify(isRepairing: Bool)
    case pin([PosterRequest])
    case unpin([PosterRequest])
    case evict([PosterRequest])
    case trim(ByteSize)
    case clear
    case export(Export)
    case sheet(Sheet)
    case scroll(Scroll)
    case demoOrigin(DemoListener)
  }

  /// What `warm` fetches.
  struct Warm: Sendable {
    var listing: Listing
    /// Only what would be fetched is wanted.
    var isDryRun: Bool
    /// What is stored at the end is to be pinned.
    var isPinning: Bool
    /// What the last run of the same list had is left out.
    var isSinceLast: Bool
  }

  /// What `export` writes and where.
  struct Export: Sendable {
    /// Which of the stored posters are wanted.
    enum Selection: Sendable {
      /// All; of one size if one is named.
      case stored(size: PosterSize?)
      /// Those of lists.
      case list(Listing)
    }
    var selection: Selection
    var directory: String
  }

  /// What `sheet` draws, how and where.
  struct Sheet: Sendable {
    var selection: Export.Selection
    /// Posters to draw, `nil` for all.
    var posterLimit: Int?
    var columns: Int
    var cell: PixelSize
    var destination: Destination
  }

  /// What `get` fetches and where it puts it.
  struct Get: Sendable {
    /// A picture by its whole address or by its path below the image host.
    enum Picture: Sendable, Equatable {
      case address(PosterAddress)
      case path(String)
    }
    var picture: Picture
    var size: PosterSize
    var source: Source
    /// How the picture is wanted as pixels; `nil` for the picture as it came.
    var rendition: Rendition?
    var destination: Destination
  }

  /// Where `get` and `sheet` put the picture.
  enum Destination: Sendable, Equatable {
    /// Standard output; to a terminal only if that was asked for.
    case standardOutput(isExplicit: Bool)
    case file(String)
    /// Nowhere: JSON about it is all that is wanted of `get`.
    case nowhere
  }

  /// How `demo-origin` listens and answers.
  struct DemoListener: Sendable, Equatable {
    var host = "127.0.0.1"
    var port: UInt16 = 0
    var latencyMilliseconds = 0
    var bytesPerSecond: Int?
    var faults: [String] = []
    var requiresCredential = false
  }

  var output: Output
  var action: Action
  /// How the pipeline is set up; its cache directory is `nil` only where none can be named.
  var pipeline: PosterPipeline.Configuration
}

extension Settings {
  /// Resolves `invocation`; `environment` returns a variable's value.
  ///
  /// - Throws: ``PosterError/Code/invalidConfiguration`` for wrong usage and
  ///   ``PosterError/Code/unauthorized`` for missing or unusable credentials.
  init(
    _ invocation: Invocation, environment: (String) -> String?
  ) throws(PosterError) {
    guard let command = invocation.command else {
      throw FlagParser.usage(
        "no command: use one of \(CommandName.allCases.names), or --help")
    }
    let flags = invocation.flags
    guard invocation.operands.count <= command.maximumOperands else {
      let surplus = invocation.operands[command.maximumOperands]
      throw FlagParser.usage(
        "\(command.rawValue) does not know what to do with \(PosterAddress.redacted(surplus))")
    }
    guard !flags.quiet || !flags.verbose else {
      throw FlagParser.usage("--quiet and --verbose contradict each other: leave out one of them")
    }
    let values = FlagValues(flags: flags)
    output = Output(
      isJSON: flags.json, isQuiet: flags.quiet, isVerbose: flags.verbose,
      progress: try values.choice("progress", flags.progress) ?? .auto)
    pipeline = try values.pipeline()
    pipeline.cacheDirectory = Self.cacheDirectory(flags.cacheDirectory, environment: environment)
    switch command {
    case .warm: action = .warm(try values.warm(environment: environment))
    case .get: action = .get(try values.get(operand: invocation.operands.first))
    case .ls: action = .list(try values.choice("sort", flags.sort) ?? .lru)
    case .stats: action = .stats
    case .verify: action = .verify(isRepairing: flags.repair)
    case .pin: action = .pin(try values.posters(for: command, invocation.operands))
    case .unpin: action = .unpin(try values.posters(for: command, invocation.operands))
    case .evict: action = .evict(try values.posters(for: command, invocation.operands))
    case .trim: action = .trim(try values.trim())
    case .clear: action = .clear
    case .export: action = .export(try values.export(environment: environment))
    case .sheet: action = .sheet(try values.sheet(environment: environment))
    case .scroll: action = .scroll(try values.scroll(environment: environment))
    case .demoOrigin: action = .demoOrigin(try values.demoListener())
    }
  }

  /// The option, else `POSTERCACHE_DIR`, else below `XDG_CACHE_HOME` (which counts only if it is an
  /// absolute path, says the XDG Base Directory Specification), else below the home directory.
  private static func cacheDirectory(
    _ option: String?, environment: (String) -> String?
  ) -> String? {
    if let option { return option }
    if let directory = environment("POSTERCACHE_DIR"), !directory.isEmpty { return directory }
    if let caches = environment("XDG_CACHE_HOME"), caches.hasPrefix("/") {
      return "\(caches)/postercache"
    }
    if let home = environment("HOME"), !home.isEmpty { return "\(home)/.cache/postercache" }
    return nil
  }

  /// The cache directory.
  ///
  /// - Throws: ``PosterError/Code/directoryUnavailable`` if none is named anywhere.
  func cacheDirectory() throws(PosterError) -> String {
    guard let directory = pipeline.cacheDirectory, !directory.isEmpty else {
      throw PosterError(
        .directoryUnavailable, "no cache directory: name one with --cache-dir or POSTERCACHE_DIR")
    }
    return directory
  }
}
