import FoundationEssentials
import TestSupport
import Testing

@testable import postercache_bench

/// The benchmark as a program: its arguments, its files, what it ends with.
@Suite(.timeLimit(.minutes(2)))
struct BenchProgramTests {
  private let directory = TemporaryDirectory()

  private func run(_ arguments: String...) async -> PosterCacheBinary.Result {
    await RunningCommand(
      path: PosterCacheBinary.path(of: "postercache-bench"), arguments: arguments, environment: [:]
    ).result()
  }

  private func path(_ name: String) -> String { "\(directory.path)/\(name)" }

  private func write(_ value: some Encodable, _ name: String) throws -> String {
    try JSONFile.write(value, to: path(name))
    return path(name)
  }

  @Test(arguments: [
    (["warmth"], "no suite or option warmth; try --help"),
    (["--rounds", "4"], "--rounds must be 5 to 1000, not 4"),
    (["--json"], "--json needs a value"),
    (["memory", "--quick", "--json", ""], "--json needs a value"),
  ])
  func `wrong arguments end with 2 and a line`(arguments: [String], message: String) {
    let error = #expect(throws: BenchError.self) { try BenchOptions(arguments) }
    #expect(error?.description == message)
    #expect(error?.status == 2)
  }

  @Test func `help names every suite, and a suite named twice runs once`() throws {
    #expect(try BenchOptions(["--help"]) == nil)
    for suite in allSuites {
      #expect(BenchOptions.help.contains("  \(suite.name) "), "\(suite.name)")
    }
    let options = try #require(try BenchOptions(["decode", "memory", "decode"]))
    #expect(options.suites.map { $0.name } == ["decode", "memory"])
  }

  @Test func `earlier reports are shown, merged and written for people`() async throws {
    let first = try write(SampleReport.make(), "first.json")
    let second = try write(SampleReport.make(ours: [1, 1, 1, 1, 1], suite: "warm"), "second.json")
    let notes = TemporaryDirectory()
    try TextFile.write("Introduction.\n", to: "\(notes.path)/introduction.md")
    try TextFile.write("Note on disks.\n", to: "\(notes.path)/disk.md")
    try TextFile.write("What we found.\n", to: "\(notes.path)/findings.md")
    let result = await run(
      "--from", first, "--from", second, "--report", directory.path, "--notes", notes.path,
      "--json", path("both.json"))
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("## disk") && result.output.contains("## warm"))
    let both = try JSONFile.read(
      Report.self, schema: Report.currentSchema, from: path("both.json"), what: "report")
    // In the order in which suites run, whatever that of the files.
    #expect(both.suites.map(\.name) == ["disk", "warm"])
    let text = String(decoding: try TextFile.read(path("benchmarks.md")), as: UTF8.self)
    #expect(text.contains("Note on disks.") && text.hasSuffix("What we found.\n"))
    let svg = String(decoding: try TextFile.read(path("images/bench-sample.svg")), as: UTF8.self)
    #expect(svg == PlotPicture(SampleReport.plot).svg)
  }

  @Test func `what was measured is kept where nobody reads the output`() async throws {
    let report = try write(SampleReport.make(), "report.json")
    let result = await RunningCommand(
      path: PosterCacheBinary.path(of: "postercache-bench"),
      arguments: ["--from", report, "--json", path("kept.json")], environment: [:],
      standardOutput: .closedPipe
    ).result()
    #expect(result.status == 0, "\(result.errors)")
    let kept = try JSONFile.read(
      Report.self, schema: Report.currentSchema, from: path("kept.json"), what: "report")
    #expect(kept.suites.map(\.name) == ["disk"])
  }

  @Test func `a baseline of a run passes that run, and a run with more calls does not`()
    async throws
  {
    let report = try write(SampleReport.make(counts: ["calls": 2]), "report.json")
    let written = await run("--from", report, "--write-baseline", path("baseline.json"))
    #expect(written.status == 0, "\(written.errors)")
    let same = await run("--from", report, "--baseline", path("baseline.json"))
    #expect(same.status == 0, "\(same.errors)")
    let worse = try write(SampleReport.make(counts: ["calls": 3]), "worse.json")
    let grown = await run("--from", worse, "--baseline", path("baseline.json"))
    #expect(grown.status == 1)
    #expect(
      grown.errorLines == [
        "baseline: disk > Counts > calls: 3.00, was 2.00: worse",
        "postercache-bench: a figure is worse than the baseline",
      ])
    let better = try write(SampleReport.make(counts: ["calls": 1]), "better.json")
    let shrunk = await run("--from", better, "--baseline", path("baseline.json"))
    #expect(shrunk.status == 0)
    #expect(
      shrunk.errorLines == [
        "baseline: disk > Counts > calls: 1.00, was 2.00: better, the baseline should be written anew"
      ])
  }

  @Test func `a count that cannot be made ends with 1, a rival that is missing does not`()
    async throws
  {
    let baseline = try write(Baseline(SampleReport.make()), "baseline.json")
    let alone = try write(SampleReport.make(rivals: [:]), "alone.json")
    let withoutRival = await run("--from", alone, "--baseline", baseline)
    #expect(withoutRival.status == 0)
    #expect(withoutRival.errorLines == ["baseline: disk > Hit > rival: not measured now"])
    let uncounted = try write(SampleReport.make(counts: ["system calls a hit": nil]), "none.json")
    let result = await run("--from", uncounted, "--baseline", baseline)
    #expect(result.status == 1)
    #expect(
      result.errorLines == [
        "baseline: disk > Counts > system calls a hit: not measured now",
        "postercache-bench: not counted, unlike in the baseline: 1",
      ])
  }

  @Test func `files that are no reports or baselines are told on a line`() async throws {
    try TextFile.write("{}", to: path("empty.json"))
    let report = try write(SampleReport.make(), "report.json")
    let noReport = await run("--from", path("empty.json"))
    #expect(noReport.status == 1)
    #expect(
      noReport.errorLines == [
        "postercache-bench: \(path("empty.json")) is no report of this benchmark"
      ])
    let noBaseline = await run("--from", report, "--baseline", path("empty.json"))
    #expect(
      noBaseline.errorLines == [
        "postercache-bench: \(path("empty.json")) is no baseline of this benchmark"
      ])
    let missing = await run("--from", path("none.json"))
    #expect(
      missing.errorLines == [
        "postercache-bench: cannot read \(path("none.json")): No such file or directory"
      ])
    // Told before anything is measured.
    let nowhere = await run("memory", "--quick", "--json", path("none/report.json"))
    #expect(nowhere.status == 1)
    #expect(
      nowhere.errorLines == [
        "postercache-bench: cannot write \(path("none/report.json")): No such file or directory"
      ])
    let folder = await run("memory", "--quick", "--json", directory.path)
    #expect(
      folder.errorLines == [
        "postercache-bench: cannot write \(directory.path): it is a directory"
      ])
    try TextFile.write(#"{"schema": 2}"#, to: path("old.json"))
    let old = await run("--from", path("old.json"))
    #expect(
      old.errorLines == [
        "postercache-bench: \(path("old.json")) is a report of another version "
          + "(2, not \(Report.currentSchema))"
      ])
    let full = try write(Baseline(SampleReport.make(isQuick: false)), "full.json")
    let mixed = await run("memory", "--quick", "--baseline", full)
    #expect(mixed.status == 2)
    #expect(
      mixed.errorLines == ["postercache-bench: \(full) is of a full run: leave out --quick"])
  }
}
