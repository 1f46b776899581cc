import Glibc
import PosterCache

/// The fetch engine alone: a list of posters from a server, nothing kept.
struct FetchSuite: Suite {
  static let name = "fetch"
  static let abstract = "a list of posters through the fetcher, against a bare libcurl loop"

  let context: BenchContext

  init(_ context: BenchContext) {
    self.context = context
  }

  /// How the posters are asked for.
  enum HTTP: CaseIterable {
    case one, two

    var title: String { self == .one ? "HTTP/1.1" : "HTTP/2 with TLS" }
  }

  func run() async throws -> SuiteReport {
    guard let nginx = Command.find("nginx") else {
      return SuiteReport(name: Self.name, summary: "Not measured: nginx is not installed.")
    }
    let server = try WebServer(
      nginx, root: context.corpus.root, names: context.corpus.names,
      directory: try context.disk.makeEmpty("nginx"))
    defer { server.stop() }
    var report = SuiteReport(
      name: Self.name,
      summary: """
        \(context.corpus.names.count) posters (\(ByteSize(bytes: context.corpus.bytes))) from one \
        nginx process on this machine, through a `Fetcher` from its start to its shutdown; each body \
        is let go of as soon as it is complete. The requests are made in advance. The bare loop is \
        `curl_multi_perform` and `curl_multi_poll` with a handle for each transfer at once, and drops \
        the bytes as they come; it decides, checks and copies nothing.
        """)
    for http in HTTP.allCases {
      guard let base = http == .one ? server.base : server.secureBase else { continue }
      let addresses = context.corpus.names.map { "\(base)/\(PosterCorpus.folder)/\($0)" }
      let authorities = http == .two ? server.authoritiesFile : nil
      for connections in [4, 16, 64] {
        report.contests.append(
          try await contest(http, addresses, connections: connections, authorities: authorities))
      }
      report.tables.append(try counts(http, addresses, authorities: authorities))
    }
    return report
  }

  private func contest(
    _ http: HTTP, _ addresses: [String], connections: Int, authorities: String?
  ) async throws -> Contest {
    var configuration = FetchConfiguration()
    configuration.connectionsPerHost = connections
    configuration.certificateAuthoritiesFile = authorities
    let requests = try addresses.map {
      FetchRequest(try PosterAddress($0), priority: .background)
    }
    func contestant(
      _ name: String, _ role: Contest.Role, _ fetch: @escaping () throws -> Int
    ) -> Contestant {
      Contestant(name: name, role: role) {
        let stopwatch = Stopwatch()
        let bytes = try fetch()
        let sample = stopwatch.sample()
        guard bytes == context.corpus.bytes else { throw BenchError("\(bytes) bytes arrived") }
        return sample
      }
    }
    var contestants = [
      contestant("Fetcher", .ours) { try ContestantProgram.fetch(requests, configuration) },
      contestant("bare libcurl loop", .limit) {
        try BareCurlLoop.fetch(
          addresses, connections: connections, authoritiesFile: authorities, isShared: false)
      },
    ]
    if http == .two {
      contestants.append(
        contestant("bare libcurl loop, one connection", .limit) {
          try BareCurlLoop.fetch(addresses, connections: connections, authoritiesFile: authorities)
        })
    }
    let title = "\(http.title), \(connections) at once"
    return Contest(
      title: title,
      conditions: http == .one
        ? "Over \(connections) connections."
        : "\(connections) transfers at once, over as many connections as each one opens.",
      operations: 1, operationName: "list",
      results: try await context.rounds(11, contest: title).run(contestants), absent: [],
      goals: [
        Contest.Goal(
          text: "within 1.25 of the quickest bare loop",
          against: contestants.dropFirst().map(\.name),
          ratio: 1 / 1.25)
      ])
  }
}
