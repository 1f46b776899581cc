import Glibc
import PosterCache

/// The main job: a list of posters from a server into the cache.
struct WarmSuite: Suite {
  static let name = "warm"
  static let abstract =
    "a list of posters from a local nginx, against curl, wget2, aria2c and others"

  /// Connections, for everybody.
  static let connections = 16

  let context: BenchContext

  /// Posters of the list.
  var count: Int { min(context.corpus.names.count, context.options.isQuick ? 400 : 3000) }

  init(_ context: BenchContext) {
    self.context = context
  }

  func run() async throws -> SuiteReport {
    guard let nginx = Command.find("nginx") else { throw BenchError("nginx is not installed") }
    let server = try WebServer(
      nginx, root: context.corpus.root, names: Array(context.corpus.names.prefix(count)),
      directory: try context.disk.makeEmpty("nginx"))
    defer { server.stop() }
    var contests: [Contest] = []
    for target in context.targets {
      contests.append(try await contest(into: target, from: server))
    }
    contests.append(try await fewPosters(into: context.disk, from: server))
    for target in context.targets {
      contests.append(try await rerun(in: target, from: server))
    }
    return SuiteReport(
      name: Self.name,
      summary: """
        \(count) posters (\(ByteSize(bytes: context.corpus.sizes.prefix(count).reduce(0, +)))) from one \
        nginx process on this machine, over \(Self.connections) connections, into an empty \
        directory. Everybody is given the same list of addresses, except `postercache warm`. Programs \
        are measured from their start to their end, the pipeline in a running program from opening to \
        shutting down. Before each, the file system has nothing left to write. Nobody syncs what they \
        store, except that postercache syncs its index about once a second and at the end. After \
        each round the number of posters and the sum of their bytes are checked. Nothing is removed \
        before the end: some file systems create files more slowly for a while after others were \
        removed.
        """,
      contests: contests, tables: try counts(server))
  }

  /// A list, and where it is to go.
  struct List {
    let names: [String]
    let bytes: Int
    let addresses: [String]
    /// A file of the addresses.
    let path: String
    let target: WorkDirectory

    /// That a cache in `directory` has all of it.
    func check(cacheIn directory: String) throws {
      try CacheCheck.check(directory, count: names.count, bytes: bytes)
    }

    /// The programs that would fetch it.
    func peers(_ directory: PeerDirectory) -> Peers {
      Peers(
        list: path, addresses: addresses, names: names, bytes: bytes, target: target,
        connections: WarmSuite.connections, directory: directory)
    }
  }

  /// The first `count` posters.
  func list(_ count: Int, into target: WorkDirectory, from server: WebServer) throws -> List {
    let names = Array(context.corpus.names.prefix(count))
    let addresses = names.map { "\(server.base)/\(PosterCorpus.folder)/\($0)" }
    let path = "\(target.path)/addresses"
    try TextFile.write(addresses.map { "\($0)\n" }.joined(), to: path)
    return List(
      names: names, bytes: context.corpus.sizes.prefix(count).reduce(0, +), addresses: addresses,
      path: path, target: target)
  }

  private func contest(into target: WorkDirectory, from server: WebServer) async throws -> Contest {
    let list = try list(count, into: target, from: server)
    var contestants = own(list, server)
    var (rivals, absent) = try list.peers(context.options.peers).contestants(
      [.curl, .wget2, .aiohttp] + (isTooSlow(.aria2c, on: target) ? [] : [.aria2c]))
    if isTooSlow(.aria2c, on: target) { absent.append(Self.tooSlow(Peers.Program.aria2c.title)) }
    contestants += rivals
    contestants += [
      bareLoop(list, "bare libcurl loop, bodies into one file", isStoring: true),
      bareLoop(list, Self.droppingLoop, isStoring: false),
    ]
    let title = "Warm onto \(target.fileSystem)"
    let results = try await context.rounds(9, quick: 3, contest: title).run(contestants)
    _ = try target.makeEmpty("warm")
    return Contest(
      title: title,
      conditions: """
        curl, wget2 and aria2c store a file for each poster and no more. aiohttp fills a diskcache, which \
        keeps the order of use, as ours does. We also look at each picture, hash it and keep to a limit. \
        `postercache warm` is not given the addresses: it reads \(Self.pages(list.names.count)) pages \
        of JSON for them, \(Self.pages(list.names.count)) requests that nobody else makes. The bare loops, \
        programs of their own, too, append what comes to one file in the order in which it comes, or keep \
        nothing.
        """,
      operations: 1, operationName: "list", results: results, absent: absent,
      goals: goals(contestants, isMemory: target.fileSystem == "tmpfs"))
  }

  /// aria2c makes and removes a control file for each poster, which takes seconds on some file systems.
  func isTooSlow(_ peer: Peers.Program, on target: WorkDirectory) -> Bool {
    peer == .aria2c && context.options.isQuick && target.fileSystem != "tmpfs"
  }

  static func tooSlow(_ name: String) -> Absentee {
    Absentee(name: name, reason: "left out of quick runs: seconds for its control files")
  }

  private func bareLoop(_ list: List, _ name: String, isStoring: Bool) -> Contestant {
    Contestant(name: name, role: .limit) {
      let directory = try list.target.makeEmpty("warm")
      WorkDirectory.settle()
      return try ContestantProgram.command(
        "loop",
        [
          ("--list", list.path), ("--connections", "\(Self.connections)"),
          ("--bytes", "\(list.bytes)"),
        ] + (isStoring ? [("--to", "\(directory)/bodies")] : [])
      ).run()
    }
  }

  private static let droppingLoop = "bare libcurl loop, bodies dropped"

  /// What this project makes: as a program that is given the list like the rivals' programs, inside
  /// a running program, and as the command.
  private func own(_ list: List, _ server: WebServer) -> [Contestant] {
    func contestant(_ name: String, _ warm: @escaping (String) async throws -> Sample) -> Contestant
    {
      Contestant(name: name, role: .ours) {
        let directory = try list.target.makeEmpty("warm")
        WorkDirectory.settle()
        let sample = try await warm(directory)
        try list.check(cacheIn: directory)
        return sample
      }
    }
    var contestants = [
      contestant("PosterPipeline, a program of its own") { directory in
        try Self.program(list, into: directory).run()
      },
      contestant("PosterPipeline in a running program") { directory in
        let stopwatch = Stopwatch()
        var fetching = FetchConfiguration()
        fetching.connectionsPerHost = Self.connections
        try await ContestantProgram.warm(list.addresses, into: directory, fetching)
        return stopwatch.sample()
      },
    ]
    if access(context.options.command, X_OK) == 0 {
      contestants.append(
        contestant("postercache warm, +\(Self.pages(list.names.count)) list pages") { directory in
          try command(server, cacheDirectory: directory).run()
        })
    }
    return contestants
  }

  /// The pipeline as a program that is given a list.
  static func program(_ list: List, into directory: String) -> Command {
    ContestantProgram.command(
      "warm",
      [("--list", list.path), ("--to", directory), ("--connections", "\(connections)")])
  }

  /// The list pages that hold `count` posters.
  static func pages(_ count: Int) -> Int { (count + 19) / 20 }

  /// The command as people call it, with the list and the posters from our server.
  func command(_ server: WebServer, cacheDirectory: String) -> Command {
    // Any key will do for this server, but the command wants one.
    setenv("TMDB_API_KEY", String(repeating: "0", count: 32), 1)
    return Command(
      context.options.command,
      [
        "warm", "--list", "trending", "--pages", "all", "--api", "\(server.base)/3", "--images",
        "\(server.base)/t/p", "--connections", "\(Self.connections)", "--cache-dir",
        cacheDirectory, "--quiet",
      ])
  }

  private func goals(_ contestants: [Contestant], isMemory: Bool) -> [Contest.Goal] {
    let rivals = contestants.filter { $0.role == .rival }.map(\.name)
    guard isMemory else {
      return [
        Contest.Goal(text: "three times as fast as the best rival", against: rivals, ratio: 3)
      ]
    }
    return [
      Contest.Goal(text: "at least as fast as the best rival", against: rivals, ratio: 1),
      Contest.Goal(
        text: "within 1.6 of the bare loop", against: [Self.droppingLoop], ratio: 1 / 1.6),
    ]
  }
}
