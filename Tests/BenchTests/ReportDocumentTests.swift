import FoundationEssentials
import TestSupport
import Testing

@testable import postercache_bench

/// The report in the repository.
@Suite(.timeLimit(.minutes(1)))
struct ReportDocumentTests {
  private func document() throws -> MarkdownReport {
    MarkdownReport(
      try JSONFile.read(
        Report.self, schema: Report.currentSchema,
        from: Checkout.path("Benchmarks/results/0.1.0.json"), what: "report"),
      notes: MarkdownReport.Notes(directory: Checkout.path("Benchmarks/notes")))
  }

  @Test func `the report says what was measured and noted, and nothing else`() throws {
    // Compared line by line: two texts of a thousand lines tell nothing where they differ.
    let right = try document().text.split(separator: "\n", omittingEmptySubsequences: false)
    let text = try Checkout.text("docs/benchmarks.md")
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let difference = zip(lines, right).first { $0 != $1 }
    #expect(difference?.0 == difference?.1, "make bench-report, or --from and --report")
    #expect(lines.count == right.count)
  }

  @Test func `its pictures are those of the same figures`() throws {
    let pictures = try document().pictures
    #expect(pictures.count >= 6)
    for (name, svg) in pictures {
      #expect(try Checkout.text("docs/\(name)") == svg, "\(name)")
    }
  }

  @Test func `every suite has its note and was measured to its end`() throws {
    let report = try JSONFile.read(
      Report.self, schema: Report.currentSchema,
      from: Checkout.path("Benchmarks/results/0.1.0.json"), what: "report")
    #expect(report.suites.map(\.name) == allSuites.map { $0.name })
    #expect(!report.isQuick)
    for suite in report.suites {
      #expect(suite.failure == nil, "\(suite.name)")
      let note = MarkdownReport.Notes(directory: Checkout.path("Benchmarks/notes")).text(suite.name)
      #expect(!note.isEmpty, "\(suite.name)")
      for contest in suite.contests {
        #expect(contest.results.allSatisfy { $0.samples.count >= 5 }, "\(contest.title)")
      }
    }
  }

  @Test func `what CI compares with is of a quick run of all suites`() throws {
    let baseline = try JSONFile.read(
      Baseline.self, schema: Baseline.currentSchema,
      from: Checkout.path("Benchmarks/baseline.json"), what: "baseline")
    #expect(baseline.schema == Baseline.currentSchema)
    #expect(baseline.isQuick)
    let suites = Set((Array(baseline.counts.keys) + baseline.ratios.keys).map(Baseline.suite))
    #expect(suites == Set(allSuites.map { $0.name }))
    #expect(baseline.counts["memory > Counted > hit: allocations"] == 0)
  }
}
