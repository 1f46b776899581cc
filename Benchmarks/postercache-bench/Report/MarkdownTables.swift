/// Contests and tables as Markdown.
enum MarkdownTables {
  static func text(of table: FigureTable) -> String {
    var lines = ["### \(table.title)", ""]
    if !table.rows.isEmpty {
      lines += [
        table.conditions, "", "| | " + table.columns.joined(separator: " | ") + " |",
        "|---|" + String(repeating: "---:|", count: table.columns.count),
      ]
    }
    lines += table.rows.map { row in
      "| \(row.name) | "
        + row.figures.map { $0.map(Numbers.text) ?? "" }.joined(separator: " | ") + " |"
    }
    if !table.rows.isEmpty { lines.append("") }
    lines += absentees(table.absent)
    lines += table.demands.map { demand in
      guard let value = demand.value else { return "- \(demand.text): not measured" }
      let verdict = value <= demand.bound ? "reached" : "**missed**"
      return
        "- \(demand.text): \(verdict) (\(Numbers.text(value)), wanted at most "
        + "\(Numbers.text(demand.bound)))"
    }
    if !table.absent.isEmpty || !table.demands.isEmpty { lines.append("") }
    return lines.joined(separator: "\n")
  }

  static func text(of contest: Contest) -> String {
    let scale = TimeScale(contest)
    let rounds = contest.results.map(\.samples.count).max() ?? 0
    var lines = [
      "### \(contest.title)", "", "\(contest.conditions) \(rounds) rounds.", "",
      "| contestant | | \(scale.unit) per \(contest.operationName) | min-max | processor "
        + "| time of this / time of the first | min-max |",
      "|---|---|---:|---:|---:|---:|---:|",
    ]
    lines += contest.results.map { row(of: $0, in: contest, scale) }
    lines.append("")
    lines += absentees(contest.absent)
    lines += contest.results.filter { $0.role == .limit }.compactMap { result in
      contest.distance(to: result).map {
        "- distance to the limit (\(result.name)): ours takes \(Numbers.text($0.median)) times as long"
      }
    }
    lines += contest.goals.map { goal in
      guard let attained = contest.attained(goal) else {
        return "- \(goal.text): nobody to compare with"
      }
      let verdict = attained >= goal.ratio ? "reached" : "**missed**"
      return "- \(goal.text): \(verdict) (ratio \(Numbers.text(attained)), wanted at least "
        + "\(Numbers.text(goal.ratio)))"
    }
    lines.append("")
    return lines.joined(separator: "\n")
  }

  private static func row(
    of result: Contest.Result, in contest: Contest, _ scale: TimeScale
  ) -> String {
    var cells = [result.name, result.role == .ours ? "" : result.role.rawValue]
    if let wall = Spread(result.samples.map(\.seconds)) {
      cells.append(scale.text(wall.median))
      cells.append("\(scale.text(wall.minimum))-\(scale.text(wall.maximum))")
    }
    if let processor = Spread(result.samples.map(\.processorSeconds)) {
      cells.append(scale.text(processor.median))
    }
    if let ratio = contest.ratios(result) {
      cells.append(Numbers.text(ratio.median))
      cells.append("\(Numbers.text(ratio.minimum))-\(Numbers.text(ratio.maximum))")
    }
    return "| " + cells.joined(separator: " | ") + " |"
  }

  private static func absentees(_ absent: [Absentee]) -> [String] {
    absent.map { "- not measured: \($0.name), \($0.reason)" }
  }
}
