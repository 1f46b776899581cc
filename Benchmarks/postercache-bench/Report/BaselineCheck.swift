/// Decides whether runs are worse than a baseline, and whether another run is needed to tell.
///
/// What is worse must be so in two of at most three runs: anything may have happened on the machine during one.
/// A count is exact and grows in all of them. It takes runs and says what to do next; it runs nothing itself.
struct BaselineCheck {
  /// The most runs of a suite.
  static let mostRuns = 3
  /// Runs in which a figure must be worse.
  private static let decidingRuns = 2

  let baseline: Baseline
  private var runs: [Baseline] = []

  init(_ baseline: Baseline) {
    self.baseline = baseline
  }

  /// What there is to do after a run.
  enum Step: Equatable {
    /// Measure these suites again.
    case again(suites: [String])
    /// It is decided: what is worse, by key.
    case decided([Baseline.Change])
  }

  /// Takes the figures of a run: the first is one of all suites, later ones are of those that were asked for.
  mutating func runDidFinish(_ run: Baseline) -> Step {
    runs.append(run)
    let worse = runs.map { baseline.grownCounts(in: $0) + baseline.fallenRatios(in: $0) }
    var times: [String: Int] = [:]
    for change in worse.joined() { times[change.key, default: 0] += 1 }
    let left = Self.mostRuns - runs.count
    // Open is what was worse, not often enough yet, and may still be so often enough.
    let open = times.filter { key, times in
      times < Self.decidingRuns && times + left >= Self.decidingRuns
    }
    if !open.isEmpty {
      return .again(suites: Set(open.keys.map(Baseline.suite)).sorted())
    }
    // The figure shown is that of the latest run in which it was worse.
    var decided: [String: Baseline.Change] = [:]
    for change in worse.joined() where times[change.key, default: 0] >= Self.decidingRuns {
      decided[change.key] = change
    }
    return .decided(decided.values.sorted { $0.key < $1.key })
  }
}
