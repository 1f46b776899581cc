/// Curves, as numbers: the report draws them (``PlotPicture``).
///
/// Both axes begin at zero. A point may have a spread; where it is above the axis' end, it is drawn at
/// the edge with its number beside it.
struct Plot: Codable, Sendable {
  /// What its file is called, without an ending: letters, digits and hyphens.
  let id: String
  let title: String
  /// The command that anybody can run to make it anew: `Benchmarks/run scroll`.
  let command: String
  let horizontal: Axis
  let vertical: Axis
  let series: [Series]

  struct Axis: Codable, Sendable {
    let label: String
    /// `%`, `ms`; empty for plain numbers.
    let unit: String
    /// Where the axis ends; `nil`: at a round number above all points.
    var maximum: Double? = nil
    /// Names of the places 0, 1, 2 and so on, instead of a scale of numbers: for what grows tenfold.
    var names: [String]? = nil
  }

  struct Series: Codable, Sendable {
    let name: String
    let role: Contest.Role
    /// In the order in which they are joined by a line.
    let points: [Point]
  }

  struct Point: Codable, Sendable {
    let x: Double
    let y: Figure
  }
}
