import FoundationEssentials
import Glibc

/// One call of the benchmark: measures suites or reads what was measured, shows it, and compares it with a
/// baseline.
struct BenchRun {
  private let options: BenchOptions
  private let arguments: [String]
  private let baseline: Baseline?

  /// - Throws: where something that is to be read or written at the end cannot be, which is told before
  ///   half an hour of measuring.
  init(_ options: BenchOptions, arguments: [String]) throws(BenchError) {
    self.options = options
    self.arguments = arguments
    baseline = try options.baselineFile.map { file throws(BenchError) in
      let baseline = try JSONFile.read(
        Baseline.self, schema: Baseline.currentSchema, from: file, what: "baseline")
      guard baseline.isQuick == options.isQuick || !options.earlierReports.isEmpty else {
        throw .usage(
          "\(file) is of a \(baseline.isQuick ? "quick" : "full") run: "
            + "\(baseline.isQuick ? "add" : "leave out") --quick")
      }
      return baseline
    }
    for file in [options.jsonFile, options.newBaselineFile].compactMap({ $0 }) {
      try TextFile.checkWritable(file)
    }
    if let directory = options.reportDirectory {
      guard access("\(options.notesDirectory)/introduction.md", R_OK) == 0 else {
        throw BenchError(
          "\(options.notesDirectory) has no introduction.md: run from the checkout, or add --notes")
      }
      try TextFile.checkWritable("\(directory)/\(Self.reportName)")
    }
  }

  private static let reportName = "benchmarks.md"

  func run() async throws {
    let isMeasured = options.earlierReports.isEmpty
    let report = isMeasured ? try await measure(options.suites) : try earlierReport()
    // Files first: whoever reads the output may have gone away.
    if let file = options.jsonFile { try JSONFile.write(report, to: file) }
    if let directory = options.reportDirectory { try write(report, into: directory) }
    Console.output(MarkdownReport(report).text)
    let figures = Baseline(report)
    if let file = options.newBaselineFile { try write(figures, asBaseline: file) }
    if let baseline { try await compare(figures, report.suites.map(\.name), with: baseline) }
    try Self.checkWhole(report)
  }

  /// - Throws: where a suite was not measured to its end.
  private static func checkWhole(_ report: Report) throws(BenchError) {
    let failures = report.suites.compactMap { suite in
      suite.failure.map { "\(suite.name): \($0)" }
    }
    guard failures.isEmpty else {
      throw BenchError("not everything was measured: \(failures.joined(separator: "; "))")
    }
  }

  // MARK: - Measuring

  private func measure(_ suites: [any Suite.Type]) async throws -> Report {
    let disk = try WorkDirectory(in: options.diskDirectory)
    defer { disk.remove() }
    let memory = try? WorkDirectory(in: "/dev/shm")  // a machine without it has one target less
    defer { memory?.remove() }
    let corpus = try PosterCorpus(
      root: try options.postersDirectory ?? disk.makeEmpty("posters"),
      count: suites.contains { $0.needsPosters } ? options.posterCount : 0,
      progress: BenchContext.progress)
    let context = BenchContext(options: options, corpus: corpus, disk: disk, memory: memory)
    var report = Report(
      arguments: arguments, machine: Machine(versions: Versions.all(disk: disk, options)),
      isQuick: options.isQuick)
    for suite in suites {
      let stopwatch = Stopwatch()
      do {
        report.suites.append(try await suite.init(context).run())
      } catch {
        // What the other suites find is not lost.
        BenchContext.progress("\(suite.name): \(error)")
        report.suites.append(
          SuiteReport(name: suite.name, summary: "Not measured: \(error).", failure: "\(error)"))
      }
      report.suites[report.suites.count - 1].made = made
      BenchContext.progress(
        "\(suite.name): done in \(Numbers.text(stopwatch.sample().seconds)) s")
    }
    return report
  }

  /// The day, the commit of the checkout that is the working directory, and the options.
  private var made: String {
    let day = Date.now.formatted(.iso8601.year().month().day())
    let commit = Command.find("git").flatMap {
      Command($0, ["describe", "--always", "--dirty"]).firstLine()
    }
    let named = options.rounds.map { ["`--rounds \($0)`"] } ?? []
    let revision = commit.flatMap { $0.contains(" ") ? nil : ["commit `\($0)`"] } ?? []
    return (["on \(day)"] + revision + named).joined(separator: ", ")
  }

  // MARK: - Earlier reports

  /// The suites of all files, each as the last of them has it.
  private func earlierReport() throws(BenchError) -> Report {
    var whole: Report?
    for file in options.earlierReports {
      let report = try JSONFile.read(
        Report.self, schema: Report.currentSchema, from: file, what: "report")
      var merged = report
      if let earlier = whole {
        guard earlier.isQuick == report.isQuick else {
          throw BenchError("\(file) and those before it are not of the same size (--quick)")
        }
        let new = Dictionary(report.suites.map { ($0.name, $0) }) { $1 }
        merged.suites = earlier.suites.map { new[$0.name] ?? $0 }
        let old = Set(earlier.suites.map(\.name))
        merged.suites += report.suites.filter { !old.contains($0.name) }
      }
      whole = merged
    }
    guard var whole else { throw BenchError("no report was named") }
    let order = allSuites.map { $0.name }
    whole.suites.sort {
      order.firstIndex(of: $0.name) ?? order.count < order.firstIndex(of: $1.name) ?? order.count
    }
    return whole
  }

  private func write(_ report: Report, into directory: String) throws(BenchError) {
    let document = MarkdownReport(
      report, notes: MarkdownReport.Notes(directory: options.notesDirectory))
    guard mkdir("\(directory)/images", 0o755) == 0 || errno == EEXIST else {
      throw BenchError(call: "mkdir", "\(directory)/images")
    }
    for (name, svg) in document.pictures { try TextFile.write(svg, to: "\(directory)/\(name)") }
    try TextFile.write(document.text, to: "\(directory)/\(Self.reportName)")
  }

  // MARK: - Baseline

  /// Writes `figures`, with the lower ratios of a baseline that is there already.
  private func write(_ figures: Baseline, asBaseline file: String) throws(BenchError) {
    var figures = figures
    if access(file, F_OK) == 0 {
      figures.keepLowerRatios(
        of: try JSONFile.read(
          Baseline.self, schema: Baseline.currentSchema, from: file, what: "baseline"))
    }
    try JSONFile.write(figures, to: file)
  }

  private func compare(
    _ figures: Baseline, _ suites: [String], with baseline: Baseline
  ) async throws {
    // Of a run, the options said so before it began.
    guard figures.isQuick == baseline.isQuick else {
      throw BenchError("the report and the baseline are not of the same size (--quick)")
    }
    let uncounted = baseline.missingCounts(in: figures, suites: suites)
    for key in uncounted + baseline.missingRatios(in: figures, suites: suites) {
      Console.error("baseline: \(key): not measured now")
    }
    for change in baseline.shrunkCounts(in: figures) {
      Console.error("baseline: \(Self.text(change)): better, the baseline should be written anew")
    }
    var check = BaselineCheck(baseline)
    var step = check.runDidFinish(figures)
    while case .again(let names) = step {
      guard options.earlierReports.isEmpty else {
        // Nothing can be measured again: what is worse in the report is worse.
        step = .decided(baseline.grownCounts(in: figures) + baseline.fallenRatios(in: figures))
        break
      }
      Console.error(
        "baseline: a figure is worse; measuring again: \(names.joined(separator: " "))")
      let again = try await measure(allSuites.filter { names.contains($0.name) })
      // What was not measured would pass for what is as good as before.
      try Self.checkWhole(again)
      step = check.runDidFinish(Baseline(again))
    }
    guard case .decided(let worse) = step else { return }
    for change in worse { Console.error("baseline: \(Self.text(change)): worse") }
    // A rival may be missing; nothing is guarded where nothing can be counted.
    guard uncounted.isEmpty else {
      throw BenchError("not counted, unlike in the baseline: \(uncounted.count)")
    }
    guard worse.isEmpty else {
      throw BenchError(
        "\(worse.count == 1 ? "a figure is" : "\(worse.count) figures are") worse than the baseline"
      )
    }
  }

  private static func text(_ change: Baseline.Change) -> String {
    "\(change.key): \(Numbers.text(change.now)), was \(Numbers.text(change.before))"
  }
}
