import Testing

@testable import postercache_bench

/// Reports as people read them.
@Suite(.timeLimit(.minutes(1)))
struct ReportTests {
  @Test func `a spread is the median and the ends`() throws {
    #expect(Spread([]) == nil)
    let odd = try #require(Spread([5, 1, 3]))
    #expect((odd.minimum, odd.median, odd.maximum) == (1, 3, 5))
    let even = try #require(Spread([4, 1, 3, 2]))
    #expect((even.minimum, even.median, even.maximum) == (1, 2.5, 4))
  }

  @Test(
    arguments: [
      (0, "0"), (0.00123, "0.0012"), (0.304, "0.30"), (1, "1.00"), (12.34, "12.3"),
      (99.96, "100.0"),
      (1234.5, "1,235"), (1_234_567, "1,234,567"), (-2.5, "-2.50"), (-0.0000001, "0"),
    ] as [(Double, String)])
  func `numbers have three digits or so`(number: Double, text: String) {
    #expect(Numbers.text(number) == text)
  }

  @Test func `counts are shown as they are, medians with their spread`() throws {
    #expect(Numbers.text(Figure(50_000)) == "50,000")
    #expect(Numbers.text(Figure(1)) == "1")
    #expect(Numbers.text(Figure(try #require(Spread([1, 2, 40])))) == "2.00 (1.00-40.0)")
  }

  @Test func `a contest shows times, ratios, absentees and the distance to its limit`() {
    let text = MarkdownReport(
      SampleReport.make(absent: [Absentee(name: "wget2", reason: "not installed")])
    ).text
    #expect(text.contains("| DiskCache |  | 2.00 | 2.00-2.00 | 1.00 | 1.00 | 1.00-1.00 |"))
    #expect(text.contains("| rival | rival | 4.00 | 4.00-4.00 | 2.00 | 2.00 | 2.00-2.00 |"))
    #expect(text.contains("| contestant | | ms per hit |"))
    #expect(text.contains("Warm. 5 rounds."))
    #expect(text.contains("- not measured: wget2, not installed"))
    #expect(text.contains("- distance to the limit (bare): ours takes 2.00 times as long"))
  }

  @Test func `the glance names the quickest rival, the first limit and where we lose`() {
    let report = SampleReport.make(rivals: ["slow": [9, 9, 9, 9, 9], "quick": [1, 1, 1.6, 1, 1]])
    let glance = Glance(report)
    #expect(glance.lines.map(\.rival?.name) == ["quick"])
    #expect(glance.lines.map(\.rival?.ratio.median) == [0.5])
    #expect(glance.lines.map(\.limit?.ratio.median) == [0.5])
    #expect(glance.losses.count == 1)
    #expect(
      glance.text.contains(
        "| disk | Hit | 2.00 ms per hit | quick | 0.50 (0.50-0.80) | bare | 2.00 |"))
    #expect(glance.text.contains("- disk, Hit: quick takes 0.50 (0.50-0.80) of our time"))
    #expect(Glance(SampleReport.make()).text.contains("No rival is quicker anywhere."))
  }

  @Test func `pictures belong to the report with notes, and are files beside it`() {
    let plain = MarkdownReport(SampleReport.make())
    #expect(!plain.text.contains("images/"))
    let noted = MarkdownReport(
      SampleReport.make(), notes: MarkdownReport.Notes(directory: "/nowhere"))
    #expect(noted.text.contains("![Waits & <use>](images/bench-sample.svg)"))
    #expect(noted.text.contains("(`Benchmarks/run disk`)"))
    #expect(noted.text.contains("<details><summary>All figures of disk</summary>"))
    #expect(!plain.text.contains("<details>"))
    #expect(noted.pictures.map(\.name) == ["images/bench-sample.svg"])
  }
}
