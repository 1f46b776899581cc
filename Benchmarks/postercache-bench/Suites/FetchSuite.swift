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

  /// Connections, or with HTTP/2 transfers at once.
  private func connections(_ http: HTTP) -> [Int] {
    guard context.options.isQuick else { return [1, 2, 4, 8, 16, 32, 64] }
    return http == .one ? [1, 4, 16, 64] : [16]
  }

  /// How often a list has every poster: a few hundred are fetched before the kernel has decided which
  /// program runs on which core.
  private var passes: Int { context.options.isQuick ? 3 : 1 }

  /// All posters, so many times, each time under other addresses.
  private func addresses(at base: String, passes: Int) -> [String] {
    (0..<passes).flatMap { pass in
      context.corpus.names.map { name in
        "\(base)/\(PosterCorpus.folder)/\(name)\(pass == 0 ? "" : "?\(pass)")"
      }
    }
  }

  func run() async throws -> SuiteReport {
    guard let nginx = Command.find("nginx") else { throw BenchError("nginx is not installed") }
    let server = try WebServer(
      nginx, root: context.corpus.root, names: context.corpus.names,
      directory: try context.disk.makeEmpty("nginx"))
    defer { server.stop() }
    var report = SuiteReport(
      name: Self.name,
      summary: """
        \(context.corpus.description). \(passes == 1 ? "" : "All of them \(passes) times a list. ")\
        They come from one nginx process on this machine, through a \
        `Fetcher` from its start to its shutdown; each body is let go of as soon as it is complete. The \
        requests are made in advance. The bare loop is `curl_multi_perform` and `curl_multi_poll` with a \
        handle for each transfer at once, and drops the bytes as they come; it decides, checks and \
        copies nothing. curl, which writes each body to `/dev/null`, is a program that is started and \
        reads its list in the time that counts: that is about 10 ms of it.
        """)
    for http in HTTP.allCases {
      guard let base = http == .one ? server.base : server.secureBase else {
        report.tables.append(
          .absent(http.title, Absentee(name: "TLS", reason: "no certificate could be made")))
        continue
      }
      let addresses = self.addresses(at: base, passes: passes)
      let authorities = http == .two ? server.authoritiesFile : nil
      let numbers = connections(http)
      var contests: [Contest] = []
      for connections in numbers {
        contests.append(
          try await contest(http, addresses, connections: connections, authorities: authorities))
      }
      report.contests += contests
      if numbers.count > 1 { report.plots.append(plot(http, numbers, contests)) }
      report.tables.append(
        try counts(http, self.addresses(at: base, passes: 1), authorities: authorities))
    }
    if !context.options.isQuick {
      let (contests, plot) = try await distant()
      report.contests += contests
      report.plots.append(plot)
    }
    return report
  }

  // MARK: - Contests

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
        guard bytes == passes * context.corpus.bytes else {
          throw BenchError("\(bytes) bytes arrived")
        }
        return sample
      }
    }
    var contestants = [
      contestant(Self.ours, .ours) { try ContestantProgram.fetch(requests, configuration) }
    ]
    var absent: [Absentee] = []
    if let curl = try curl(addresses, connections: connections, authorities: authorities) {
      contestants.append(Contestant(name: Self.curlName, role: .rival) { try curl.run() })
    } else {
      absent.append(Absentee(name: Self.curlName, reason: "not installed"))
    }
    contestants.append(
      contestant(Self.bareName, .limit) {
        try BareCurlLoop.fetch(
          addresses, connections: connections, authoritiesFile: authorities, isShared: false)
      })
    if http == .two {
      contestants.append(
        contestant(Self.sharedName, .limit) {
          try BareCurlLoop.fetch(addresses, connections: connections, authoritiesFile: authorities)
        })
    }
    let title = "\(http.title), \(connections) at once"
    return Contest(
      title: title,
      conditions: http == .one
        ? "Over \(connections == 1 ? "one connection" : "\(connections) connections")."
        : "\(connections) transfers at once, over as many connections as each one opens.",
      operations: 1, operationName: "list",
      results: try await context.rounds(7, contest: title).run(contestants), absent: absent,
      goals: [
        Contest.Goal(
          text: "within 1.25 of the quickest bare loop",
          against: contestants.filter { $0.role == .limit }.map(\.name), ratio: 1 / 1.25)
      ])
  }

  static let ours = "Fetcher"
  static let curlName = "curl --parallel into /dev/null"
  static let bareName = "bare libcurl loop"
  static let sharedName = "bare libcurl loop, one connection"

  /// curl with a list of addresses, all of which it writes to `/dev/null`; `nil` where it is not
  /// installed.
  func curl(
    _ addresses: [String], connections: Int, authorities: String?
  ) throws(BenchError) -> Command? {
    guard let curl = Command.find("curl") else { return nil }
    let configuration = "\(context.disk.path)/curl.conf"
    let lines = addresses.map { "url = \"\($0)\"\noutput = \"/dev/null\"\n" }
    try TextFile.write(lines.joined(), to: configuration)
    return Command(
      curl,
      [
        "-q", "--silent", "--no-progress-meter", "--fail", "--parallel", "--parallel-max",
        "\(connections)", "--config", configuration,
      ] + (authorities.map { ["--cacert", $0] } ?? []))
  }

  // MARK: - Plots

  /// Bytes a second by the number of connections, a curve for each contestant.
  private func plot(_ http: HTTP, _ connections: [Int], _ contests: [Contest]) -> Plot {
    Self.plot(
      id: http == .one ? "fetch-connections-http1" : "fetch-connections-http2",
      title: "Throughput by \(http == .one ? "connections" : "transfers at once"), \(http.title)",
      horizontal: http == .one ? "connections" : "transfers at once",
      bytes: passes * context.corpus.bytes, connections, contests)
  }

  static func plot(
    id: String, title: String, horizontal: String, bytes: Int, _ connections: [Int],
    _ contests: [Contest]
  ) -> Plot {
    Plot(
      id: id, title: title, command: "Benchmarks/run \(name)",
      horizontal: Plot.Axis(label: horizontal, unit: "", names: connections.map { "\($0)" }),
      vertical: Plot.Axis(label: "bodies", unit: "MB/s"),
      series: (contests.first?.results ?? []).enumerated().map { index, result in
        Plot.Series(
          name: result.name, role: result.role,
          points: contests.enumerated().compactMap { place, contest in
            let rates = contest.results[index].samples.map { Double(bytes) / $0.seconds / 1e6 }
            return Spread(rates).map { Plot.Point(x: Double(place), y: Figure($0)) }
          })
      })
  }
}
