import FoundationEssentials
import Glibc
import PosterCache

/// How long a visible poster waits while prefetching runs, against how well prefetching uses the link.
struct WaitSuite: Suite {
  static let name = "wait"
  static let abstract = "how long visible posters wait while prefetching runs, behind three links"

  private let context: BenchContext

  init(_ context: BenchContext) {
    self.context = context
  }

  private struct Link {
    let megabits: Double
    let milliseconds: Int
    /// Whether prefetching, as much as there is of it here, can never fill it.
    var isWide: Bool { megabits >= 1000 }

    var title: String { "\(Int(megabits)) Mbit/s, \(milliseconds) ms" }
  }

  private static let links = [
    Link(megabits: 20, milliseconds: 80), Link(megabits: 5, milliseconds: 80),
    Link(megabits: 1000, milliseconds: 80),
  ]

  /// The rivals' widths and ours.
  private var policies: [WaitPolicy] {
    let widths: [Double] = [1, 2, 4, 8, 16]
    let shares: [Double] = [0.85, 1, 1.15]
    return [WaitPolicy(.nothing, 0)] + shares.map { WaitPolicy(.adaptive, $0) }
      + widths.map { WaitPolicy(.fifo, $0) }
      + widths.map { WaitPolicy(.ordered, $0) }
      + widths.map { WaitPolicy(.reserved, $0 * 2) }
  }

  /// Seconds that count in a run.
  private var seconds: Double { context.options.isQuick ? 12 : 20 }

  func run() async throws -> SuiteReport {
    var report = SuiteReport(
      name: Self.name,
      summary: """
        200 posters to be prefetched are queued at any time; posters of \(posterBytes) bytes. Visible \
        ones come as two Poisson processes, the same in each run: one every 0.5 s, and \
        \(WaitProgram.burst) at once every 3 s. A wait is the time from asking for one to its last \
        byte. The link's use is what it brought in \(Int(seconds)) s, with all headers, divided by \
        what it could have; that of prefetching is the bodies alone. The idle link is one where posters \
        are asked for one after the other, or burst after burst, with connections that are open and \
        warm. Where nothing is prefetched, TCP starts slowly again after each pause.
        """)
    for link in context.options.isQuick ? Array(Self.links.prefix(2)) : Self.links {
      report.tables.append(try table(link))
    }
    return report
  }

  // MARK: - Runs

  /// The poster whose size is nearest to 40,000 bytes.
  private var poster: String {
    let place = context.corpus.sizes.indices.min {
      abs(context.corpus.sizes[$0] - 40_000) < abs(context.corpus.sizes[$1] - 40_000)
    }
    return context.corpus.names[place ?? 0]
  }

  private var posterBytes: Int {
    context.corpus.sizes.min { abs($0 - 40_000) < abs($1 - 40_000) } ?? 0
  }

  private func table(_ link: Link) throws -> FigureTable {
    let (results, description) = try measureAll([WaitPolicy(.idle, 1)] + policies, link)
    let idle = results[0]
    var rows: [FigureTable.Row] = []
    var curves: [WaitPolicy.Kind: [WaitCurve.Point]] = [:]
    for group in [1, WaitProgram.burst] {
      rows.append(
        FigureTable.Row(
          name: group == 1 ? "idle link" : "idle link, bursts",
          values: [
            nil, nil, group == 1 ? 1 : nil, group == 1 ? nil : 1,
            group == 1 ? idle.meanWait(group: 1).map { $0 * 1e3 } : nil,
            group == 1 ? nil : idle.meanWait(group: group).map { $0 * 1e3 },
          ]))
    }
    for (policy, result) in zip(policies, results.dropFirst()) {
      let received = Double(result.receivedBytes)
      let bodies = Double(result.prefetchedBytes + result.visibleBytes)
      let capacity = link.megabits * 125_000 * result.seconds
      let use = (received > 0 ? received : bodies) / capacity
      let waits = [1, WaitProgram.burst].map { result.meanWait(group: $0) }
      let ratios = zip(waits, [1, WaitProgram.burst]).map { wait, group in
        wait.flatMap { wait in idle.meanWait(group: group).map { wait / $0 } }
      }
      rows.append(
        FigureTable.Row(
          name: policy.title,
          values: [
            use * 100, Double(result.prefetchedBytes) / capacity * 100, ratios[0], ratios[1],
            waits[0].map { $0 * 1e3 }, waits[1].map { $0 * 1e3 },
          ]))
      if let alone = ratios[0], let burst = ratios[1] {
        curves[policy.kind, default: []].append(
          WaitCurve.Point(use: use, alone: alone, burst: burst))
      }
    }
    return FigureTable(
      title: link.title, conditions: description,
      columns: [
        "link used, %", "by prefetching, %", "wait / idle link's", "the same, bursts",
        "wait, ms", "wait in a burst, ms",
      ],
      rows: rows, demands: demands(curves, isWide: link.isWide))
  }

  /// The policies by their names, ours first.
  private static let names: [(kind: WaitPolicy.Kind, name: String)] = [
    (.adaptive, "adaptive"), (.fifo, "FIFO"), (.ordered, "visible first"),
    (.reserved, "half reserved"),
  ]

  private func demands(
    _ curves: [WaitPolicy.Kind: [WaitCurve.Point]], isWide: Bool
  ) -> [FigureTable.Demand] {
    let ours = curves[.adaptive] ?? []
    var demands: [FigureTable.Demand] = []
    for (kind, name) in Self.names.dropFirst() {
      let rival = WaitCurve(points: curves[kind] ?? [])
      for (what, wait) in [("alone", \WaitCurve.Point.alone), ("in bursts", \.burst)] {
        let worst = ours.compactMap { point in
          rival.wait(at: point.use, wait).map { point[keyPath: wait] / $0 }
        }.max()
        demands.append(
          FigureTable.Demand(
            text: "our wait, \(what), below that of \(name) at the same use", value: worst,
            bound: 1))
      }
    }
    if isWide {
      let worst = ours.map(\.alone).max()
      demands.append(
        FigureTable.Demand(
          text: "our wait where bandwidth is not the limit, to the idle link's", value: worst,
          bound: 1.2))
      demands.append(
        FigureTable.Demand(
          "the same, to the wait where nothing is prefetched", worst,
          over: curves[.nothing]?.first?.alone, atMost: 1.2))
    }
    return demands
  }

  /// Links at once, each with a server of its own: a run is nearly all waiting.
  private static let lanes = 4

  /// Measures all policies, some at a time; in their order. Also how the link is made.
  private func measureAll(
    _ policies: [WaitPolicy], _ link: Link
  ) throws -> (results: [WaitResult], description: String) {
    let servers = try (0..<Self.lanes).map { _ in
      try DistantServer([poster], megabits: link.megabits, milliseconds: link.milliseconds, context)
    }
    defer { for server in servers { server.stop() } }
    let state = Monitor((next: 0, results: [Int: WaitResult](), failure: (any Error)?.none))
    let threads = servers.enumerated().map { lane, server in
      WorkerThread(name: "bench-lane") {
        while true {
          let place = state.withLock { state -> Int? in
            guard state.failure == nil, state.next < policies.count else { return nil }
            state.next += 1
            return state.next - 1
          }
          guard let place else { return }
          do {
            let result = try measure(policies[place], server, link, lane: lane)
            state.withLock { $0.results[place] = result }
          } catch {
            state.withLock { $0.failure = error }
          }
        }
      }
    }
    for thread in threads { thread.join() }
    let (results, failure) = state.withLock { ($0.results, $0.failure) }
    if let failure { throw failure }
    return (policies.indices.compactMap { results[$0] }, servers[0].description)
  }

  private func measure(
    _ policy: WaitPolicy, _ server: DistantServer, _ link: Link, lane: Int
  ) throws -> WaitResult {
    BenchContext.progress("\(Self.name): \(link.title): \(policy.title)")
    let file = "\(context.disk.path)/wait-\(lane).json"
    let command = ContestantProgram.command(
      "wait",
      [
        ("--address", "\(server.base)/\(PosterCorpus.folder)/\(poster)"),
        ("--policy", policy.kind.rawValue), ("--width", policy.width), ("--seconds", "\(seconds)"),
        ("--to", file),
      ])
    _ = try server.atClient(command).run()
    return try JSONDecoder().decode(WaitResult.self, from: Data(TextFile.read(file)))
  }
}
