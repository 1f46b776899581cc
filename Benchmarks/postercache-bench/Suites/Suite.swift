/// A group of contests about one part of the project.
protocol Suite: SendableMetatype {
  /// What it is called on the command line.
  static var name: String { get }
  /// One line for `--help`.
  static var abstract: String { get }
  /// Whether it uses the posters that all suites share, which take a while to draw.
  static var needsPosters: Bool { get }

  init(_ context: BenchContext)

  /// Runs its contests.
  func run() async throws -> SuiteReport
}

extension Suite {
  static var needsPosters: Bool { true }
}

/// All suites, in the order in which they run unless some are named.
let allSuites: [any Suite.Type] = [
  MemorySuite.self, DiskSuite.self, GrowthSuite.self, WarmSuite.self, FetchSuite.self,
  LinkSuite.self, PrioritySuite.self, DecodeSuite.self, StartupSuite.self,
  ScrollSuite.self,
]

/// What suites have in common.
struct BenchContext {
  let options: BenchOptions
  /// Posters on a disk, written once for all suites.
  let corpus: PosterCorpus
  /// Where the disk's files go.
  let disk: WorkDirectory
  /// Where files in memory go; `nil` where there is no such file system.
  let memory: WorkDirectory?

  /// The places to store posters in: the disk and memory.
  var targets: [WorkDirectory] { [disk] + (memory.map { [$0] } ?? []) }

  /// `ordinary` rounds, or fewer in a quick run, or as many as were asked for.
  func rounds(_ ordinary: Int, quick: Int = 5, contest: String) -> Rounds {
    Rounds(count: options.rounds ?? (options.isQuick ? quick : ordinary)) { text in
      Self.progress("\(contest): \(text)")
    }
  }

  /// Says on the standard error what is being done.
  static func progress(_ text: String) {
    Console.error(text)
  }
}
