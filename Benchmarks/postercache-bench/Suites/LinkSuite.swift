import Glibc
import PosterCache

/// The main job where the network is the limit: a list of posters from a server behind a slow link.
struct LinkSuite: Suite {
  static let name = "link"
  static let abstract = "a list of posters behind 50 Mbit/s and 50 ms, against everybody"

  private static let megabits = 50.0
  private static let milliseconds = 50
  /// Posters of the list.
  private static let posters = 500
  /// Connections, where everybody has the same number.
  private static let connections = 16

  private let context: BenchContext

  init(_ context: BenchContext) {
    self.context = context
  }

  func run() async throws -> SuiteReport {
    let names = Array(context.corpus.names.prefix(Self.posters))
    let server = try DistantServer(
      names, megabits: Self.megabits, milliseconds: Self.milliseconds, context)
    defer { server.stop() }
    let target = context.memory ?? context.disk
    let bytes = context.corpus.sizes.prefix(Self.posters).reduce(0, +)
    var report = SuiteReport(
      name: Self.name,
      summary: """
        \(names.count) posters (\(ByteSize(bytes: bytes))). \(server.description) Everybody stores onto \
        \(target.fileSystem), as a program of its own, measured from its start to its end. The link's \
        limit is calculated: the bodies in full packets, without the headers of HTTP and without the \
        round trips for connecting and for the first answer.
        """)
    for setting in Setting.allCases {
      guard let base = setting == .secure ? server.secureBase : server.base else { continue }
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
      case .sameConnections: "The number is settable everywhere."
      case .ownDefaults:
        "PosterPipeline \(FetchConfiguration().connectionsPerHost), curl 50, wget2 5, aria2c 5, "
          + "URLSession 6."
      case .secure:
        "A certificate made for this run. Everybody decides alone how many connections share the "
          + "transfers, where HTTP/2 is known; aria2c does not know it."
      }
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
    func check(_ directory: String) throws(BenchError) {
      let contents = WorkDirectory.contents(of: directory)
      guard contents == (names.count, bytes) else {
        throw BenchError("\(contents.files) files of \(contents.bytes) bytes arrived")
      }
    }
    var contestants = [
      Contestant(name: "PosterPipeline", role: .ours) {
        var values = [("--list", list), ("--to", try target.makeEmpty("warm"))]
        if let connections { values.append(("--connections", "\(connections)")) }
        if let authorities { values.append(("--authorities", authorities)) }
        return try server.atClient(ContestantProgram.command("warm", values)).run()
      }
    ]
    var absent: [Absentee] = []
    let peers = Peers(
      list: list, addresses: addresses, names: names, target: target, connections: connections,
      authoritiesFile: authorities)
    for peer in Peers.Program.allCases {
      guard let program = Command.find(peer.rawValue) else {
        absent.append(Absentee(name: peer.rawValue, reason: "not installed"))
        continue
      }
      contestants.append(
        Contestant(name: peer.title, role: .rival) {
          let (command, directory) = try peers.command(peer, program)
          let sample = try server.atClient(command).run()
          try check(directory)
          return sample
        })
    }
    if let program = context.options.peers.find(.urlSession) {
      contestants.append(
        Contestant(name: "URLSession", role: .rival) {
          let directory = try target.makeEmpty("warm")
          let arguments = [list, directory] + (connections.map { ["\($0)"] } ?? [])
          let command = Self.trusting(authorities, Command(program, arguments))
          let sample = try server.atClient(command).run()
          try check(directory)
          return sample
        })
    } else {
      absent.append(Absentee(name: "URLSession", reason: "not built"))
    }
    let rivals = contestants.filter { $0.role == .rival }.map(\.name)
    let limit = Contestant(name: "the link's limit, calculated", role: .limit) {
      Sample(seconds: server.seconds(forBytes: bytes), processorSeconds: 0)
    }
    contestants.append(limit)
    return Contest(
      title: setting.title, conditions: setting.conditions, operations: 1, operationName: "list",
      results: try await context.rounds(3, quick: 1, contest: setting.title).run(contestants),
      absent: absent,
      goals: [
        Contest.Goal(
          text: "within 5% of the link's limit", against: [limit.name], ratio: 1 / 1.05),
        Contest.Goal(text: "ahead of all rivals", against: rivals, ratio: 1.0),
      ])
  }

  /// `command` with `authorities` instead of the machine's own, which are all that Foundation trusts:
  /// in a mount namespace of its own.
  private static func trusting(_ authorities: String?, _ command: Command) -> Command {
    guard let authorities else { return command }
    let script = """
      mount --bind "$1" /etc/ssl/certs/ca-certificates.crt && shift && exec "$@"
      """
    return Command(
      "/usr/bin/unshare",
      ["--mount", "/bin/sh", "-c", script, "sh", authorities, command.program] + command.arguments)
  }
}
