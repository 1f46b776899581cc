/// The unit in which a contest's times are readable.
struct TimeScale {
  let unit: String
  private let factor: Double

  init(_ contest: Contest) {
    let smallest = contest.results.compactMap { Spread($0.samples.map(\.seconds))?.median }.min()
    let seconds = (smallest ?? 1) / Double(contest.operations)
    let (unit, unitsPerSecond) =
      seconds >= 0.1
      ? ("s", 1) : seconds >= 1e-3 ? ("ms", 1e3) : seconds >= 1e-6 ? ("µs", 1e6) : ("ns", 1e9)
    self.unit = unit
    factor = unitsPerSecond / Double(contest.operations)
  }

  /// `seconds` for all operations, as the time of one.
  func text(_ seconds: Double) -> String { Numbers.text(seconds * factor) }
}
