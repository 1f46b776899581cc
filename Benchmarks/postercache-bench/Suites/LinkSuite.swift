import Glibc
import PosterCache

/// The main job where the network is the limit: a list of posters from a server behind a slow link.
struct LinkSuite: Suite {
  static let name = "link"
  static let abstract = "a list of posters behind 50 Mbit/s and 50 ms, against everybody"

  private static let megabits = 50.0
  private static let milliseconds = 50
  /// Connections, where everybody has the same number.
  private static let connections = 16

  private let context: BenchContext

  init(_ context: BenchContext) {
    self.context = context
  }

  func run() async throws -> SuiteReport {
    // A tenth is enough to see who waits for what, if not who fills the link.
    let names = Array(context.corpus.names.prefix(context.options.isQuick ? 50 : 250))
    let server = try DistantServer(
      names, megabits: Self.megabits, milliseconds: Self.milliseconds, context)
    defer { server.stop() }
    let target = context.memory ?? context.disk
    let bytes = server.bytes(of: names, context.corpus)
    var report = SuiteReport(
      name: Self.name,
      summary: """
        \(names.count) posters (\(ByteSize(bytes: bytes))). \(server.description) Everybody stores onto \
        \(target.fileSystem), as a program of its own, measured from its start to its end. The link's \
        limit is calculated: the bodies in full packets, without the headers of HTTP and without the \
        round trips for connecting and for the first answer. The bare loop of libcurl stores nothing.
        """)
    for setting in context.options.isQuick ? [Setting.sameConnections] : Setting.allCases {
      guard let base = setting == .secure ? server.secureBase : server.base else {
        report.tables.append(
          .absent(setting.title, Absentee(name: "TLS", reason: "neither link nor certificate")))
        continue
      }
      report.contests.append(
        try await contest(
          setting, names: names, base: base, bytes: bytes, server: server, target: target))
    }
    return report
  }

  /// What a contest lets everybody choose.
  private enum Setting: CaseIterable {
    case sameConnections, ownDefaults, secure

    var title: String {
      switch self {
      case .sameConnections: "HTTP/1.1, \(LinkSuite.connections) connections"
      case .ownDefaults: "HTTP/1.1, everybody's default number of connections"
      case .secure: "HTTPS with HTTP/2, \(LinkSuite.connections) at once"
      }
    }

    var conditions: String {
      switch self {
      case .sameConnections:
        "The number is settable everywhere; xargs starts as many curls at once, each with a new connection. "
          + "aiohttp fills a diskcache, the other rivals store files."
      case .ownDefaults:
        "PosterPipeline \(FetchConfiguration().connectionsPerHost), curl 50, wget2 5, aria2c 5, "
          + "URLSession 6, aiohttp 100. xargs has no such number."
      case .secure:
        "A certificate made for this run. Everybody decides alone how many connections share the "
          + "transfers, where HTTP/2 is known; aria2c and aiohttp do not know it, and xargs' curls share "
          + "nothing. URLSession trusts the machine's authorities alone, and is started through `unshare` and "
          + "`mount` to have others, which takes it some milliseconds."
      }
    }

    var peers: [Peers.Program] {
      let everywhere: [Peers.Program] = [.curl, .wget2, .aria2c, .urlSession, .aiohttp]
      return self == .ownDefaults ? everywhere : everywhere + [.xargs]
    }
  }

  private func contest(
    _ setting: Setting, names: [String], base: String, bytes: Int, server: DistantServer,
    target: WorkDirectory
  ) async throws -> Contest {
    let addresses = names.map { "\(base)/\(PosterCorpus.folder)/\($0)" }
    let list = "\(target.path)/addresses"
    try TextFile.write(addresses.map { "\($0)\n" }.joined(), to: list)
    let authorities = setting == .secure ? server.authoritiesFile : nil
    let connections = setting == .ownDefaults ? nil : Self.connections
    var choices = connections.map { [("--connections", "\($0)")] } ?? []
    if let authorities { choices.append(("--authorities", authorities)) }
    var contestants = [
      Contestant(name: "PosterPipeline", role: .ours) { [choices] in
        let directory = try target.makeEmpty("warm")
        let values = [("--list", list), ("--to", directory)] + choices
        let sample = try server.atClient(ContestantProgram.command("warm", values)).run()
        try CacheCheck.check(directory, count: names.count, bytes: bytes)
        return sample
      }
    ]
    let peers = Peers(
      list: list, addresses: addresses, names: names, bytes: bytes, target: target,
      connections: connections, authoritiesFile: authorities, directory: context.options.peers)
    let (present, absent) = try peers.contestants(setting.peers, settles: false) {
      server.atClient($0)
    }
    contestants += present
    let rivals = contestants.filter { $0.role == .rival }.map(\.name)
    let limit = Contestant(name: "the link's limit, calculated", role: .limit) {
      Sample(seconds: server.seconds(forBytes: bytes), processorSeconds: 0)
    }
    contestants.append(
      Contestant(name: "bare libcurl loop", role: .limit) { [choices] in
        let values = [("--list", list), ("--bytes", "\(bytes)")] + choices
        return try server.atClient(ContestantProgram.command("loop", values)).run()
      })
    contestants.append(limit)
    return Contest(
      title: setting.title, conditions: setting.conditions, operations: 1, operationName: "list",
      results: try await context.rounds(5, quick: 2, contest: setting.title).run(contestants),
      absent: absent,
      goals: [
        Contest.Goal(
          text: "within 5% of the link's limit", against: [limit.name], ratio: 1 / 1.05),
        Contest.Goal(text: "ahead of all rivals", against: rivals, ratio: 1.0),
      ])
  }
}
