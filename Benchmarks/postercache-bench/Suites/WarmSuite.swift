import Glibc
import PosterCache

/// The main job: a list of posters from a server into the cache.
struct WarmSuite: Suite {
  static let name = "warm"
  static let abstract = "a list of posters from a local nginx, against curl, wget2 and aria2c"

  /// Connections, for everybody.
  private static let connections = 16

  let context: BenchContext

  init(_ context: BenchContext) {
    self.context = context
  }

  func run() async throws -> SuiteReport {
    guard let nginx = Command.find("nginx") else {
      return SuiteReport(
        name: Self.name, summary: "Not measured: nginx is not installed.", contests: [])
    }
    let server = try WebServer(
      nginx, root: context.corpus.root, names: context.corpus.names,
      directory: try context.disk.makeEmpty("nginx"))
    defer { server.stop() }
    var contests: [Contest] = []
    for target in context.targets {
      contests.append(try await contest(into: target, from: server))
    }
    return SuiteReport(
      name: Self.name,
      summary: """
        \(context.corpus.names.count) posters (\(ByteSize(bytes: context.corpus.bytes))) from one \
        nginx process on this machine, over \(Self.connections) connections, into an empty \
        directory. Everybody is given the same list of addresses, except `postercache warm`. Programs \
        are measured from their start to their end, the pipeline in a running program from opening to \
        shutting down. Before each, the file system has nothing left to write. Nobody syncs what they \
        store, except that postercache syncs its index about once a second and at the end. After \
        each round the number of posters and the sum of their bytes are checked. Nothing is removed \
        before the end: some file systems create files more slowly for a while after others were \
        removed.
        """,
      contests: contests, tables: [try counts(server)])
  }

  private func contest(into target: WorkDirectory, from server: WebServer) async throws -> Contest {
    let addresses = context.corpus.names.map { "\(server.base)/\(PosterCorpus.folder)/\($0)" }
    let list = "\(target.path)/addresses"
    try TextFile.write(addresses.map { "\($0)\n" }.joined(), to: list)
    let peers = Peers(
      list: list, addresses: addresses, names: context.corpus.names, target: target,
      connections: Self.connections)
    var contestants = own(addresses, list: list, target, server)
    var absent: [Absentee] = []
    for peer in Peers.Program.allCases {
      guard let program = Command.find(peer.rawValue) else {
        absent.append(Absentee(name: peer.rawValue, reason: "not installed"))
        continue
      }
      contestants.append(
        Contestant(name: peer.title, role: .rival) {
          let (command, directory) = try peers.command(peer, program)
          WorkDirectory.settle()
          let sample = try command.run()
          try check(filesIn: directory)
          return sample
        })
    }
    contestants.append(
      Contestant(name: "bare libcurl loop, bodies dropped", role: .limit) {
        let stopwatch = Stopwatch()
        let bytes = try BareCurlLoop.fetch(addresses, connections: Self.connections)
        let sample = stopwatch.sample()
        guard bytes == context.corpus.bytes else { throw BenchError("\(bytes) bytes arrived") }
        return sample
      })
    let title = "Warm onto \(target.fileSystem)"
    let results = try await context.rounds(9, contest: title).run(contestants)
    _ = try target.makeEmpty("warm")
    return Contest(
      title: title,
      conditions: """
        Rivals store a file for each poster; the bare loop, in a running program, stores nothing. \
        `postercache warm` is not given the addresses: it reads \(Self.pages(addresses.count)) pages \
        of JSON for them, \(Self.pages(addresses.count)) requests that nobody else makes.
        """,
      operations: 1, operationName: "list", results: results, absent: absent,
      goals: goals(contestants, isMemory: target.fileSystem == "tmpfs"))
  }

  /// What this project makes: as a program that is given the list like the rivals' programs, inside
  /// a running program, and as the command.
  private func own(
    _ addresses: [String], list: String, _ target: WorkDirectory, _ server: WebServer
  ) -> [Contestant] {
    func contestant(_ name: String, _ warm: @escaping (String) async throws -> Sample) -> Contestant
    {
      Contestant(name: name, role: .ours) {
        let directory = try target.makeEmpty("warm")
        WorkDirectory.settle()
        let sample = try await warm(directory)
        try check(cacheIn: directory)
        return sample
      }
    }
    var contestants = [
      contestant("PosterPipeline, a program of its own") { directory in
        try ContestantProgram.command(
          "warm",
          [("--list", list), ("--to", directory), ("--connections", "\(Self.connections)")]
        ).run()
      },
      contestant("PosterPipeline in a running program") { directory in
        let stopwatch = Stopwatch()
        var fetching = FetchConfiguration()
        fetching.connectionsPerHost = Self.connections
        try await ContestantProgram.warm(addresses, into: directory, fetching)
        return stopwatch.sample()
      },
    ]
    if access(context.options.command, X_OK) == 0 {
      contestants.append(
        contestant("postercache warm, +\(Self.pages(addresses.count)) list pages") { directory in
          try command(server, cacheDirectory: directory).run()
        })
    }
    return contestants
  }

  /// The list pages that hold `count` posters.
  private static func pages(_ count: Int) -> Int { (count + 19) / 20 }

  /// The command as people call it, with the list and the posters from our server.
  private func command(_ server: WebServer, cacheDirectory: String) -> Command {
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
    let limits = contestants.filter { $0.role == .limit }.map(\.name)
    return [
      Contest.Goal(text: "at least as fast as the best rival", against: rivals, ratio: 1),
      Contest.Goal(text: "within 1.6 of the bare loop", against: limits, ratio: 1 / 1.6),
    ]
  }

  private func check(filesIn directory: String) throws(BenchError) {
    let (files, bytes) = WorkDirectory.contents(of: directory)
    try check(files, bytes)
  }

  private func check(cacheIn directory: String) throws {
    let cache = try DiskCache(directory: directory)
    defer { cache.close() }
    var (count, bytes) = (0, 0)
    try cache.forEachEntry { entry in
      count += 1
      bytes += entry.bytes
      return true
    }
    try check(count, bytes)
  }

  private func check(_ count: Int, _ bytes: Int) throws(BenchError) {
    guard count == context.corpus.names.count, bytes == context.corpus.bytes else {
      throw BenchError(
        "\(count) posters of \(bytes) bytes arrived, not \(context.corpus.names.count) of "
          + "\(context.corpus.bytes)")
    }
  }
}
