/// Everything one run of the benchmark found.
struct Report: Codable, Sendable {
  /// The version of this file's shape.
  var schema = 2
  let machine: Machine
  /// Whether it was a quick run, with fewer rounds and posters.
  let isQuick: Bool
  var suites: [SuiteReport] = []
}

/// What one suite found.
struct SuiteReport: Codable, Sendable {
  let name: String
  /// What was measured, for readers of the report.
  let summary: String
  var contests: [Contest] = []
  /// Counts, and how costs grow.
  var tables: [FigureTable] = []
}
