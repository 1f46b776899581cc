import FoundationEssentials

/// A report as people read it.
struct MarkdownReport {
  private let report: Report

  init(_ report: Report) {
    self.report = report
  }

  /// The whole text.
  var text: String {
    ([header] + report.suites.map(text(of:))).joined(separator: "\n")
  }

  private var header: String {
    let machine = report.machine
    let versions = machine.versions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    return """
      # postercache benchmark\(report.isQuick ? " (quick)" : "")

      \(machine.processor), \(machine.cores) cores, \(machine.memoryBytes >> 30) GiB, \
      \(machine.system), Linux \(machine.kernel)

      \(versions.map { "- \($0)" }.joined(separator: "\n"))

      Time is the median over the rounds, with the quickest and the slowest. The ratio is the time of \
      this line divided by the time of the first line in the same round, again the median with the \
      smallest and the largest: 2 took twice as long as the first line, 0.5 half as long. Contestants \
      took turns within each round.

      """
  }

  private func text(of suite: SuiteReport) -> String {
    "## \(suite.name)\n\n\(suite.summary)\n\n"
      + (suite.contests.map(text(of:)) + suite.tables.map(text(of:))).joined(separator: "\n")
  }

  private func text(of table: FigureTable) -> String {
    var lines = [
      "### \(table.title)", "", table.conditions, "",
      "| | " + table.columns.joined(separator: " | ") + " |",
      "|---|" + String(repeating: "---:|", count: table.columns.count),
    ]
    lines += table.rows.map { row in
      "| \(row.name) | " + row.values.map { $0.map(number) ?? "" }.joined(separator: " | ") + " |"
    }
    lines.append("")
    lines += table.demands.map { demand in
      guard let value = demand.value else { return "- \(demand.text): not measured" }
      let verdict = value <= demand.bound ? "reached" : "**missed**"
      return
        "- \(demand.text): \(verdict) (\(number(value)), wanted at most \(number(demand.bound)))"
    }
    if !table.demands.isEmpty { lines.append("") }
    return lines.joined(separator: "\n")
  }

  private func text(of contest: Contest) -> String {
    let scale = Scale(contest)
    var lines = [
      "### \(contest.title)", "", contest.conditions, "",
      "| contestant | | \(scale.unit) a \(contest.operationName) | min - max | processor "
        + "| time of this / time of the first | min - max |",
      "|---|---|---:|---:|---:|---:|---:|",
    ]
    for result in contest.results {
      lines.append(row(of: result, in: contest, scale))
    }
    for absentee in contest.absent {
      lines.append("| \(absentee.name) | | \(absentee.reason) |")
    }
    lines.append("")
    lines += contest.goals.map { goal in
      guard let attained = contest.attained(goal) else {
        return "- \(goal.text): nobody to compare with"
      }
      let verdict = attained >= goal.ratio ? "reached" : "**missed**"
      return "- \(goal.text): \(verdict) (ratio \(number(attained)), wanted at least "
        + "\(number(goal.ratio)))"
    }
    if !contest.goals.isEmpty { lines.append("") }
    return lines.joined(separator: "\n")
  }

  private func row(
    of result: Contest.Result, in contest: Contest, _ scale: Scale
  ) -> String {
    var cells = [result.name, result.role == .ours ? "" : result.role.rawValue]
    if let wall = Spread(result.samples.map(\.seconds)) {
      cells.append(scale.text(wall.median))
      cells.append("\(scale.text(wall.minimum)) - \(scale.text(wall.maximum))")
    }
    if let processor = Spread(result.samples.map(\.processorSeconds)) {
      cells.append(scale.text(processor.median))
    }
    if let ratio = contest.ratios(result) {
      cells.append(number(ratio.median))
      cells.append("\(number(ratio.minimum)) - \(number(ratio.maximum))")
    }
    return "| " + cells.joined(separator: " | ") + " |"
  }

  /// The unit in which a contest's figures are readable.
  private struct Scale {
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

    func text(_ seconds: Double) -> String { number(seconds * factor) }
  }
}

/// `value` with about three digits.
private func number(_ value: Double) -> String {
  let decimals = abs(value) >= 100 ? 0 : abs(value) >= 10 ? 1 : 2
  let scale = decimals == 0 ? 1 : decimals == 1 ? 10 : 100
  let scaled = Int((value * Double(scale)).rounded())
  guard decimals > 0 else { return "\(scaled)" }
  let digits = String(abs(scaled) % scale)
  let fraction = String(repeating: "0", count: decimals - digits.count) + digits
  return (scaled < 0 ? "-" : "") + "\(abs(scaled) / scale).\(fraction)"
}
