import FoundationEssentials
import Glibc
import PosterCache

/// How long a visible poster waits while prefetching runs, against how well prefetching uses the link.
struct PrioritySuite: Suite {
  static let name = "priority"
  static let abstract = "how long visible posters wait while prefetching runs, behind three links"

  /// A link, and the policies that are measured behind it.
  struct Link {
    let megabits: Double
    let milliseconds: Int
    let policies: [PriorityPolicy]

    /// Whether prefetching, as much as there is of it here, can never fill it.
    var isWide: Bool { megabits >= 1000 }

    var title: String { "\(Int(megabits)) Mbit/s, \(milliseconds) ms" }
  }

  private let context: BenchContext

  init(_ context: BenchContext) {
    self.context = context
  }

  private var links: [Link] {
    func policies(
      fifo: [Double], ordered: [Double], reserved: [Double], isQuick: Bool = false
    ) -> [PriorityPolicy] {
      // Ours at its default is first: ratios refer to it. The others show how its setting matters.
      [PriorityPolicy(.adaptive, 1)]
        + (isQuick ? [] : [0.85, 1.15].map { PriorityPolicy(.adaptive, $0) })
        + fifo.map { PriorityPolicy(.fifo, $0) } + ordered.map { PriorityPolicy(.ordered, $0) }
        + reserved.map { PriorityPolicy(.reserved, $0) } + [PriorityPolicy(.nothing, 0)]
        + (isQuick ? [] : [PriorityPolicy(.idle, 1)])
    }
    if context.options.isQuick {
      return [
        Link(
          megabits: 20, milliseconds: 80,
          policies: policies(fifo: [8], ordered: [4, 8], reserved: [8, 16], isQuick: true))
      ]
    }
    return [
      Link(
        megabits: 20, milliseconds: 80,
        policies: policies(fifo: [2, 8], ordered: [1, 2, 4, 8, 16], reserved: [2, 4, 8, 16, 32])),
      Link(
        megabits: 5, milliseconds: 80,
        policies: policies(fifo: [8], ordered: [1, 2, 4, 8], reserved: [2, 4, 8, 16])),
      Link(
        megabits: 1000, milliseconds: 80,
        policies: policies(fifo: [8, 16], ordered: [4, 8, 16], reserved: [8, 16, 32])),
    ]
  }

  /// Seconds that count in a run.
  private var seconds: Double { context.options.isQuick ? 3 : 6 }

  private var rounds: Int { context.options.rounds ?? (context.options.isQuick ? 3 : 5) }

  func run() async throws -> SuiteReport {
    var report = SuiteReport(
      name: Self.name,
      summary: """
        \(PriorityProgram.supply) posters to be prefetched are queued at any time, of \(posterBytes) \
        bytes each. Visible ones come meanwhile, when is the same for all policies of a round: one in \
        each \(PriorityProgram.gaps.alone) s, and \(PriorityProgram.burst) at once in each \
        \(Int(PriorityProgram.gaps.burst)) s. A wait is the time from asking for one to its last byte. \
        The link's use is what it brought in the \(Int(seconds)) s of a run that count, with all \
        headers, divided by what it could have; that of prefetching is the bodies alone. \(rounds) \
        rounds of all policies, \(Self.lanes) runs at a time, each behind a link of its own. The idle \
        link is one where posters are asked for one after the other, or burst after burst, over \
        connections that are open and warm. Where nothing is prefetched, TCP starts slowly again after \
        each pause.
        """)
    for link in links {
      let (results, server) = try measureAll(link)
      let findings = PriorityFindings(link: link, results: results, server: server)
      report.contests.append(findings.contest(posterBytes: posterBytes))
      report.tables.append(findings.table())
      report.plots.append(findings.plot(posterBytes: posterBytes))
    }
    return report
  }

  // MARK: - Runs

  private var poster: String { context.corpus.names[context.corpus.typical] }
  private var posterBytes: Int { context.corpus.sizes[context.corpus.typical] }

  /// Links at once, each with a server of its own: a run is nearly all waiting.
  private static let lanes = 8

  /// Measures all policies round by round, some at a time; by round and policy. Also a server that
  /// tells how the link is made.
  private func measureAll(
    _ link: Link
  ) throws -> (results: [[PriorityResult]], server: DistantServer) {
    var servers: [DistantServer] = []
    defer { for server in servers { server.stop() } }
    for _ in 0..<Self.lanes {
      let server = try DistantServer(
        [poster], megabits: link.megabits, milliseconds: link.milliseconds, context)
      servers.append(server)
      guard server.description == servers[0].description else {
        throw BenchError("the lanes' links are of several kinds: \(server.description)")
      }
    }
    let runs = rounds * link.policies.count
    let state = Monitor((next: 0, results: [Int: PriorityResult](), failure: (any Error)?.none))
    let threads = servers.enumerated().map { lane, server in
      WorkerThread(name: "bench-lane") {
        while true {
          let place = state.withLock { state -> Int? in
            guard state.failure == nil, state.next < runs else { return nil }
            state.next += 1
            return state.next - 1
          }
          guard let place else { return }
          do {
            let (round, policy) = place.quotientAndRemainder(dividingBy: link.policies.count)
            // Each round begins with another one, so that nobody always shares the machine with the
            // same others.
            let turn = (policy + round) % link.policies.count
            let result = try measure(
              link.policies[turn], server, link, lane: lane, round: round)
            state.withLock { $0.results[round * link.policies.count + turn] = result }
          } catch {
            state.withLock { $0.failure = error }
          }
        }
      }
    }
    for thread in threads { thread.join() }
    let (results, failure) = state.withLock { ($0.results, $0.failure) }
    if let failure { throw failure }
    let byRound = (0..<rounds).map { round in
      link.policies.indices.compactMap { results[round * link.policies.count + $0] }
    }
    return (byRound, servers[0])
  }

  private func measure(
    _ policy: PriorityPolicy, _ server: DistantServer, _ link: Link, lane: Int, round: Int
  ) throws -> PriorityResult {
    BenchContext.progress(
      "\(Self.name): \(link.title): round \(round + 1) of \(rounds): \(policy.title)")
    let file = "\(context.disk.path)/priority-\(lane).json"
    let command = ContestantProgram.command(
      "priority",
      [
        ("--address", "\(server.base)/\(PosterCorpus.folder)/\(poster)"),
        ("--policy", policy.kind.rawValue), ("--width", policy.width), ("--seconds", "\(seconds)"),
        ("--seed", "\(round)"), ("--to", file),
      ])
    _ = try server.atClient(command).run()
    return try JSONDecoder().decode(PriorityResult.self, from: Data(TextFile.read(file)))
  }
}
