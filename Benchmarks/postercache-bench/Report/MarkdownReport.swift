/// A report as people read it, in Markdown: on the standard output, and as `docs/benchmarks.md` with what
/// somebody wrote about each suite and with its pictures.
struct MarkdownReport {
  private let report: Report
  private let notes: Notes

  /// What is written by hand: a file `SUITE.md` for each suite, `introduction.md` and `findings.md`.
  struct Notes {
    /// The directory of the files; `nil` adds nothing.
    var directory: String?

    /// The text called `name`, or nothing where there is none.
    func text(_ name: String) -> String {
      guard let directory, let bytes = try? TextFile.read("\(directory)/\(name).md") else {
        return ""  // a suite without a note is no fault
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  init(_ report: Report, notes: Notes = Notes()) {
    self.report = report
    self.notes = notes
  }

  /// The whole text.
  var text: String {
    ([header, Glance(report).text] + report.suites.map(text(of:)) + [ending])
      .filter { !$0.isEmpty }.joined(separator: "\n")
  }

  /// The pictures, by the names of their files beside the text.
  var pictures: [(name: String, svg: String)] {
    report.suites.flatMap(\.plots).map { (Self.pictureName($0), PlotPicture($0).svg) }
  }

  private static func pictureName(_ plot: Plot) -> String {
    "images/bench-\(plot.id.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }).svg"
  }

  private var isForReaders: Bool { notes.directory != nil }

  private var header: String {
    let machine = report.machine
    let versions = machine.versions.sorted { $0.key < $1.key }.map { "- \($0.key): \($0.value)" }
    return """
      # Benchmarks\(report.isQuick ? " (quick)" : "")

      \(notes.text("introduction"))
      \(machine.processor), \(machine.cores) cores, \(machine.memoryBytes >> 30) GiB, \
      \(machine.system), Linux \(machine.kernel).

      \(versions.joined(separator: "\n"))

      Times are medians over the rounds, with the smallest and the largest. A ratio is a contestant's time \
      divided by that of the first line in the same round, again the median with its spread: 2 took twice \
      as long as the first line, 0.5 half as long. Contestants took turns within each round; one round \
      before the first did not count. Counts have no spread.

      ## At a glance

      """
  }

  private func text(of suite: SuiteReport) -> String {
    var parts = ["## \(suite.name)\n\n\(suite.summary)\n", notes.text(suite.name)]
    if let made = suite.made { parts.append("Measured \(made).\n") }
    if isForReaders {
      parts += suite.plots.map { plot in
        """
        ![\(plot.title)](\(Self.pictureName(plot)))

        *\(plot.title)* (`\(plot.command)`)

        """
      }
    }
    let tables =
      suite.contests.map(MarkdownTables.text(of:)) + suite.tables.map(MarkdownTables.text(of:))
    // Readers see them when they ask: there are a thousand lines.
    parts += isForReaders ? Self.folded(tables, "All figures of \(suite.name)") : tables
    return parts.filter { !$0.isEmpty }.joined(separator: "\n")
  }

  /// `parts` behind a line that shows them when it is clicked on.
  private static func folded(_ parts: [String], _ summary: String) -> [String] {
    parts.isEmpty ? [] : ["<details><summary>\(summary)</summary>\n"] + parts + ["</details>\n"]
  }

  private var ending: String { notes.text("findings") }
}
