import PosterCache

/// What the priority suite measured behind one link, as the report has it.
struct PriorityFindings {
  private let link: PrioritySuite.Link
  private let server: DistantServer
  private let lines: [Line]

  /// One setting of one policy, each of its figures by round.
  private struct Line {
    let policy: PriorityPolicy
    /// Shares of the link: what it brought, and the bodies of prefetched posters. Nothing where prefetching
    /// has no part in the run.
    let use: [Double]
    let prefetching: [Double]
    /// Mean waits in seconds; `nil` where none came.
    let alone: [Double?]
    let burst: [Double?]
  }

  /// - Parameter results: by round and policy.
  init(link: PrioritySuite.Link, results: [[PriorityResult]], server: DistantServer) {
    self.link = link
    self.server = server
    lines = link.policies.enumerated().map { place, policy in
      let results = results.map { $0[place] }
      func shares(_ bytes: (PriorityResult) -> Int) -> [Double] {
        guard policy.kind != .idle else { return [] }
        return results.map { Double(bytes($0)) / (link.megabits * 125_000 * $0.seconds) }
      }
      return Line(
        policy: policy,
        use: shares {
          $0.receivedBytes > 0 ? $0.receivedBytes : $0.prefetchedBytes + $0.visibleBytes
        },
        prefetching: shares { $0.prefetchedBytes },
        alone: results.map { $0.meanWait(group: 1) },
        burst: results.map { $0.meanWait(group: PriorityProgram.burst) })
    }
  }

  // MARK: - The table

  /// All settings of all policies.
  func table() -> FigureTable {
    FigureTable(
      title: link.title,
      conditions: """
        \(server.description) Waits are means over a run; the last two columns are those of this line \
        divided by the first line's in the same round.
        """,
      columns: [
        "link used, %", "by prefetching, %", "wait, ms", "wait in a burst, ms", "wait / ours",
        "in a burst / ours",
      ],
      rows: lines.map { line in
        FigureTable.Row(
          name: line.policy.title,
          figures: [
            Self.figure(line.use, times: 100), Self.figure(line.prefetching, times: 100),
            Self.figure(line.alone, times: 1e3), Self.figure(line.burst, times: 1e3),
            Self.figure(Self.ratios(line.alone, lines[0].alone)),
            Self.figure(Self.ratios(line.burst, lines[0].burst)),
          ])
      },
      demands: demands())
  }

  private static func figure(_ numbers: [Double?], times factor: Double = 1) -> Figure? {
    Spread(numbers.compactMap { $0 }).map { Figure($0 * factor) }
  }

  private static func ratios(_ waits: [Double?], _ ours: [Double?]) -> [Double?] {
    zip(waits, ours).map { wait, ours in
      guard let wait, let ours else { return nil }
      return wait / ours
    }
  }

  // MARK: - Goals

  /// The policies to be beaten.
  private static let rivals: [(kind: PriorityPolicy.Kind, name: String)] = [
    (.fifo, "FIFO"), (.ordered, "visible first"), (.reserved, "half reserved"),
  ]

  private func points(_ kind: PriorityPolicy.Kind) -> [WaitCurve.Point] {
    lines.filter { $0.policy.kind == kind }.compactMap { line in
      guard let use = Self.figure(line.use), let alone = Self.figure(line.alone),
        let burst = Self.figure(line.burst)
      else { return nil }
      return WaitCurve.Point(use: use.value, alone: alone.value, burst: burst.value)
    }
  }

  private func demands() -> [FigureTable.Demand] {
    let ours = points(.adaptive)
    var demands: [FigureTable.Demand] = []
    for (kind, name) in Self.rivals {
      let rival = WaitCurve(points: points(kind))
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
    guard link.isWide else { return demands }
    let worst = ours.map(\.alone).max()
    func wait(_ kind: PriorityPolicy.Kind) -> Double? {
      lines.first { $0.policy.kind == kind }.flatMap { Self.figure($0.alone)?.value }
    }
    return demands + [
      FigureTable.Demand(
        "our wait where bandwidth is not the limit, to the idle link's", worst, over: wait(.idle),
        atMost: 1.2),
      FigureTable.Demand(
        "the same, to the wait where nothing is prefetched", worst, over: wait(.nothing),
        atMost: 1.2),
    ]
  }

  // MARK: - The contest

  /// A visible poster that comes alone, ours against the others and against what light and the link need.
  func contest(posterBytes: Int) -> Contest {
    let rounds = lines[0].alone.count
    func result(_ name: String, _ role: Contest.Role, _ waits: [Double?]) -> Contest.Result? {
      let samples = waits.compactMap { $0.map { Sample(seconds: $0, processorSeconds: 0) } }
      guard samples.count == rounds else { return nil }
      return Contest.Result(name: name, role: role, samples: samples)
    }
    let limit = limit(posterBytes)
    return Contest(
      title: "A visible poster, \(link.title)",
      conditions: """
        The mean wait of those that come alone. The contestants use the link by different shares, which \
        the table below has: whoever prefetches little waits less. The limit is one round trip and the \
        poster's packets at the link's rate, over a connection that is open and has a window for all of it.
        """,
      operations: 1, operationName: "wait",
      results: lines.filter { Self.isInContest($0.policy) }.compactMap {
        result($0.policy.title, $0.policy.kind == .adaptive ? .ours : .rival, $0.alone)
      }
        + [
          result(
            "round trip and bytes, calculated", .limit, Array(repeating: limit, count: rounds))
        ].compactMap { $0 },
      absent: [], goals: [])
  }

  /// Ours as it is by default and what others could be content with, not every setting.
  private static func isInContest(_ policy: PriorityPolicy) -> Bool {
    switch policy.kind {
    case .adaptive: policy.width == PriorityPolicy(.adaptive, 1).width
    case .fifo, .ordered: policy.width == "8"
    case .reserved: policy.width == "8" || policy.width == "16"
    case .nothing: true
    case .idle: false
    }
  }

  private func limit(_ posterBytes: Int) -> Double {
    server.roundTripSeconds + server.seconds(forBytes: posterBytes)
  }

  // MARK: - The plot

  /// The wait over the link's use, a curve for each policy.
  func plot(posterBytes: Int) -> Plot {
    let curves: [(kind: PriorityPolicy.Kind, name: String, role: Contest.Role)] =
      [(.adaptive, "adaptive (ours)", .ours)] + Self.rivals.map { ($0.kind, $0.name, .rival) }
      + [(.nothing, "nothing prefetched", .rival)]
    let series = curves.map { kind, name, role in
      Plot.Series(name: name, role: role, points: plotted(kind))
    }
    let least = Plot.Series(
      name: "round trip and bytes", role: .limit,
      points: [0, farthest].map { Plot.Point(x: $0, y: Figure(limit(posterBytes) * 1e3)) })
    return Plot(
      id: "priority-\(Int(link.megabits))",
      title: "Wait of a visible poster over the use of the link: \(link.title)",
      command: "Benchmarks/run \(PrioritySuite.name)",
      horizontal: Plot.Axis(label: "link used", unit: "%", maximum: farthest),
      vertical: Plot.Axis(label: "wait", unit: "ms", maximum: highest),
      series: (series + [least]).filter { !$0.points.isEmpty })
  }

  private func plotted(_ kind: PriorityPolicy.Kind) -> [Plot.Point] {
    let own = lines.filter { $0.policy.kind == kind }
    // In the order of the setting, which is how a curve is read.
    let sorted = kind == .adaptive ? own.sorted { $0.policy.width < $1.policy.width } : own
    return sorted.compactMap { line in
      guard let use = Self.figure(line.use, times: 100),
        let wait = Self.figure(line.alone, times: 1e3)
      else { return nil }
      return Plot.Point(x: use.value, y: wait)
    }
  }

  /// Where the horizontal axis ends: at 100%, or where nobody comes near that, at the next tenth.
  private var farthest: Double {
    let most = lines.compactMap { Self.figure($0.use, times: 100)?.value }.max() ?? 100
    return most > 50 ? 105 : ((most / 10).rounded(.up)) * 10
  }

  /// Where the vertical one does: above all but FIFO, whose waits are the length of its queue.
  private var highest: Double {
    let most =
      lines.filter { $0.policy.kind != .fifo }
      .compactMap { Self.figure($0.alone, times: 1e3)?.value }.max() ?? 0
    return (most * 1.2 / 50).rounded(.up) * 50
  }
}
