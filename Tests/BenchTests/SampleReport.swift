@testable import postercache_bench

/// Reports with the figures that a test wants.
enum SampleReport {
  /// One suite with one contest, in which everybody took these seconds a round, and one table of counts.
  static func make(
    ours: [Double] = [2, 2, 2, 2, 2], rivals: [String: [Double]] = ["rival": [4, 4, 4, 4, 4]],
    limit: [Double] = [1, 1, 1, 1, 1], counts: [String: Double?] = ["system calls a hit": 1],
    absent: [Absentee] = [], isQuick: Bool = true, suite: String = "disk"
  ) -> Report {
    func result(_ name: String, _ role: Contest.Role, _ seconds: [Double]) -> Contest.Result {
      Contest.Result(
        name: name, role: role,
        samples: seconds.map { Sample(seconds: $0, processorSeconds: $0 / 2) })
    }
    let results =
      [result("DiskCache", .ours, ours)]
      + rivals.sorted { $0.key < $1.key }.map { result($0.key, .rival, $0.value) }
      + [result("bare", .limit, limit)]
    let contest = Contest(
      title: "Hit", conditions: "Warm.", operations: 1000, operationName: "hit", results: results,
      absent: absent, goals: [])
    let table = FigureTable(
      title: "Counts", conditions: "By strace.", columns: ["DiskCache", "bare"],
      rows: counts.sorted { $0.key < $1.key }.map {
        FigureTable.Row(name: $0.key, values: [$0.value, 1])
      }, isCounted: true)
    return Report(
      arguments: ["disk"], machine: Machine(versions: ["libcurl": "7.88.1"]), isQuick: isQuick,
      suites: [
        SuiteReport(
          name: suite, summary: "Ten posters.", contests: [contest], tables: [table], plots: [plot])
      ])
  }

  /// A curve of ours with spreads, one point of it above the axis, and one of a rival.
  static let plot = Plot(
    id: "sample", title: "Waits & <use>", command: "Benchmarks/run disk",
    horizontal: Plot.Axis(label: "use", unit: "%", maximum: 100),
    vertical: Plot.Axis(label: "wait", unit: "ms", maximum: 200),
    series: [
      Plot.Series(
        name: "ours", role: .ours,
        points: [
          Plot.Point(x: 0, y: Figure(0)),
          Plot.Point(x: 50, y: Spread([90, 100, 120]).map { Figure($0) } ?? Figure(0)),
        ]),
      Plot.Series(name: "rival", role: .rival, points: [Plot.Point(x: 100, y: Figure(3588))]),
    ])
}
