/// Figures that are no contest, such as counts, or how costs grow.
struct FigureTable: Codable, Sendable {
  /// What was measured, as a heading.
  let title: String
  /// How, and under which conditions.
  let conditions: String
  /// What the figures of each row belong to.
  let columns: [String]
  let rows: [Row]
  /// Whether the first column holds exact counts of ours, which a baseline guards: see ``Baseline``.
  var isCounted = false
  /// What could not be measured, and why.
  var absent: [Absentee] = []
  /// What the project demands of itself here.
  var demands: [Demand] = []

  struct Row: Codable, Sendable {
    /// What was measured, with its unit.
    let name: String
    /// One for each column; `nil` where there is none.
    let figures: [Figure?]
    /// `false` for what is counted exactly but depends on how threads happen to meet: no baseline has it.
    var isGuarded = true
  }

  /// A bound on one figure.
  struct Demand: Codable, Sendable {
    /// What is demanded, in words.
    let text: String
    /// What it came to; `nil` where it was not measured.
    let value: Double?
    /// The most it may be.
    let bound: Double
  }
}

extension FigureTable.Demand {
  /// That `right` is at most `factor` times `left`.
  init(_ text: String, _ right: Double?, over left: Double?, atMost factor: Double) {
    self.text = text
    if let left, let right, left > 0 { value = right / left } else { value = nil }
    bound = factor
  }
}

extension FigureTable {
  /// A heading under which nothing could be measured, and why.
  static func absent(_ title: String, _ absentee: Absentee) -> FigureTable {
    FigureTable(title: title, conditions: "", columns: [], rows: [], absent: [absentee])
  }
}

extension FigureTable.Row {
  /// Exact figures.
  init(name: String, values: [Double?], isGuarded: Bool = true) {
    self.init(
      name: name, figures: values.map { $0.map { Figure($0) } }, isGuarded: isGuarded)
  }

  /// The figures without their spreads.
  var values: [Double?] { figures.map { $0?.value } }
}
