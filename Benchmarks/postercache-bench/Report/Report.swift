/// Everything one run of the benchmark found.
struct Report: Codable, Sendable {
  /// The version of this file's shape.
  static let currentSchema = 4

  var schema = currentSchema
  /// The arguments of the benchmark that made it.
  var arguments: [String]
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
  var plots: [Plot] = []
  /// When, of which commit and with which arguments it was measured.
  var made: String? = nil
  /// Why it was not measured to its end; `nil` where it was.
  var failure: String? = nil
}

/// Somebody who could not take part, or something that could not be measured: never shown as a zero.
struct Absentee: Codable, Sendable, Equatable {
  let name: String
  /// Why, in a few words: `not installed`.
  let reason: String
}
