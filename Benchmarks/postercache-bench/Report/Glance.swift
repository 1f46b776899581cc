/// What all contests of a report come to, a line each, and the ratios that are worst for us.
struct Glance {
  /// A contest in one line.
  struct Line {
    let suite: String
    let contest: String
    /// What ours took for one operation, with its unit.
    let ours: String
    /// The quickest of the rivals and its time divided by ours; `nil` without rivals.
    let rival: Comparison?
    /// The first of the limits, which is the one that does the same work, and its time divided by ours.
    let limit: Comparison?
  }

  /// Somebody's time divided by ours in the same rounds: above 1 we are quicker.
  struct Comparison: Equatable {
    let name: String
    let ratio: Spread
  }

  let lines: [Line]

  init(_ report: Report) {
    lines = report.suites.flatMap { suite in
      suite.contests.compactMap { contest -> Line? in
        guard let ours = contest.results.first(where: { $0.role == .ours }),
          let seconds = Spread(ours.samples.map(\.seconds))
        else { return nil }
        let scale = TimeScale(contest)
        return Line(
          suite: suite.name, contest: contest.title,
          ours: "\(scale.text(seconds.median)) \(scale.unit) per \(contest.operationName)",
          rival: Self.closest(contest, .rival), limit: Self.compared(contest, .limit).first)
      }
    }
  }

  /// The contestant of a role that took the least time beside ours.
  private static func closest(_ contest: Contest, _ role: Contest.Role) -> Comparison? {
    compared(contest, role).min { $0.ratio.median < $1.ratio.median }
  }

  /// Those of a role, in their order.
  private static func compared(_ contest: Contest, _ role: Contest.Role) -> [Comparison] {
    contest.results.filter { $0.role == role }
      .compactMap { result in
        contest.ratios(result).map { Comparison(name: result.name, ratio: $0) }
      }
  }

  /// The lines whose rival is quicker than ours, the worst first.
  var losses: [Line] {
    lines.filter { ($0.rival?.ratio.median ?? 1) < 1 }
      .sorted { ($0.rival?.ratio.median ?? 1) < ($1.rival?.ratio.median ?? 1) }
  }

  /// The lines that are farthest from their limit, the farthest first.
  func farthest(_ count: Int) -> [Line] {
    Array(
      lines.filter { $0.limit != nil }
        .sorted { ($0.limit?.ratio.median ?? 1) < ($1.limit?.ratio.median ?? 1) }.prefix(count))
  }

  // MARK: - As text

  /// All of it as Markdown.
  var text: String {
    var lines = [
      "| suite | what | ours | quickest rival | its time / ours | limit | ours / the limit |",
      "|---|---|---:|---|---:|---|---:|",
    ]
    lines += self.lines.map { line in
      let rival = line.rival.map { "\($0.name) | \(Self.text($0.ratio))" } ?? " | "
      let limit = line.limit.map { "\($0.name) | \(Numbers.text(1 / $0.ratio.median))" } ?? " | "
      return "| \(line.suite) | \(line.contest) | \(line.ours) | \(rival) | \(limit) |"
    }
    let losses = losses
    let hasRivals = self.lines.contains { $0.rival != nil }
    let heading = hasRivals ? "No rival is quicker anywhere." : "No rival took part."
    lines += [
      "", losses.isEmpty ? heading : "Where a rival is quicker:", "",
    ]
    lines += losses.compactMap { line in
      line.rival.map {
        "- \(line.suite), \(line.contest): \($0.name) takes \(Self.text($0.ratio)) of our time"
      }
    }
    lines += ["", "Farthest from a limit:", ""]
    lines += farthest(3).compactMap { line in
      line.limit.map {
        "- \(line.suite), \(line.contest): \(Numbers.text(1 / $0.ratio.median)) times as long as \($0.name)"
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func text(_ ratio: Spread) -> String {
    "\(Numbers.text(ratio.median)) (\(Numbers.text(ratio.minimum))-\(Numbers.text(ratio.maximum)))"
  }
}
