import Glibc

/// How long the command takes to start and end.
struct StartupSuite: Suite {
  static let name = "startup"
  static let abstract = "postercache --version against an empty program"

  /// Starts in a round.
  private static let starts = 20
  /// What a start may take, in seconds.
  private static let budget = 0.020

  private let context: BenchContext

  init(_ context: BenchContext) {
    self.context = context
  }

  func run() async throws -> SuiteReport {
    let command = context.options.command
    guard access(command, X_OK) == 0 else {
      return SuiteReport(
        name: Self.name, summary: "Not measured: there is no command at \(command).", contests: [])
    }
    let contestants = [
      Contestant(name: "postercache --version", role: .ours) {
        try Self.repeated(Command(command, ["--version"]))
      },
      Contestant(name: "/bin/true", role: .limit) { try Self.repeated(Command("/bin/true")) },
    ]
    let results = try await context.rounds(15, contest: Self.name).run(contestants)
    let median = Spread(results[0].samples.map { $0.seconds / Double(Self.starts) })?.median ?? 0
    let verdict = median <= Self.budget ? "within" : "beyond"
    let contest = Contest(
      title: "From start to end",
      conditions:
        "Started by `posix_spawn`, waited for by `wait4`; \(verdict) the budget of 20 ms.",
      operations: Self.starts, operationName: "start", results: results, absent: [], goals: [])
    return SuiteReport(
      name: Self.name, summary: "What every call of the command costs before it does anything.",
      contests: [contest])
  }

  private static func repeated(_ command: Command) throws(BenchError) -> Sample {
    var total = Sample(seconds: 0, processorSeconds: 0)
    for _ in 0..<starts {
      let sample = try command.run()
      total.seconds += sample.seconds
      total.processorSeconds += sample.processorSeconds
    }
    return total
  }
}
