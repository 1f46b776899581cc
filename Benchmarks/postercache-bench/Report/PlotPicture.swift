/// A ``Plot`` as a picture (SVG): axes from zero with units, a curve for each series, spreads as whiskers,
/// and below the curves the command that makes it anew.
///
/// What lies above the end of the vertical axis is drawn as a triangle at the edge, with its number.
struct PlotPicture {
  private let plot: Plot
  private let horizontal: PlotScale
  private let vertical: PlotScale

  private static let height = 440.0
  /// Of what the axes enclose.
  private static let plotWidth = 506.0
  private static let margins = (left: 64.0, top: 40.0, bottom: 70.0)
  /// From the axes' end to the names of the series, and the width of a letter of those on the average.
  private static let legendOffset = 40.0
  private static let letterWidth = 7.0
  /// Ours first; then rivals in their order. Told apart by those who see no red or green, too.
  private static let ours = ["#0072b2", "#56b4e9"]
  private static let rivals = ["#d55e00", "#e69f00", "#cc79a7", "#009e73", "#8c6d31", "#999933"]
  private static let limit = "#555555"

  init(_ plot: Plot) {
    self.plot = plot
    let points = plot.series.flatMap(\.points)
    let farthest = points.map(\.x).max() ?? 1
    horizontal =
      plot.horizontal.maximum.map { PlotScale(upTo: $0, endsThere: true) }
      ?? PlotScale(upTo: farthest)
    let highest = points.map { max($0.y.value, $0.y.high ?? $0.y.value) }.max() ?? 1
    vertical =
      plot.vertical.maximum.map { PlotScale(upTo: $0, endsThere: true) } ?? PlotScale(upTo: highest)
  }

  /// The whole file.
  var svg: String {
    let height = Self.height
    let letters = plot.series.map(\.name.count).max() ?? 0
    let width = right + Self.legendOffset + Double(max(letters, 20)) * Self.letterWidth + 8
    let lines =
      [
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.number(width)) \
        \(Self.number(height))" font-family="sans-serif" font-size="12" role="img">
        <title>\(Self.escaped(plot.title))</title>
        <rect width="100%" height="100%" fill="white"/>
        """,
        text(plot.title, (Self.margins.left + right) / 2, 22, anchor: "middle", size: 14),
      ] + grid + names + plot.series.indices.flatMap(curve)
      + plot.series.indices.flatMap(legend) + [
        text("made by: \(plot.command)", width - 8, height - 8, anchor: "end", size: 10), "</svg>",
        "",
      ]
    return lines.joined(separator: "\n")
  }

  // MARK: - Axes

  private var right: Double { Self.margins.left + Self.plotWidth }
  private var bottom: Double { Self.height - Self.margins.bottom }

  /// The lines at the marks, with their numbers.
  private var grid: [String] {
    var lines: [String] = []
    for mark in vertical.marks {
      let y = place(y: mark)
      lines.append(line((Self.margins.left, y), (right, y), mark == 0 ? "#000" : "#ddd"))
      lines.append(
        text(Self.label(mark, plot.vertical.unit), Self.margins.left - 8, y + 4, anchor: "end"))
    }
    if let names = plot.horizontal.names {
      for (number, name) in names.enumerated() {
        let x = place(x: Double(number))
        lines.append(line((x, bottom), (x, bottom + 5), "#000"))
        lines.append(text(name, x, bottom + 18, anchor: "middle"))
      }
    } else {
      for mark in horizontal.marks {
        let x = place(x: mark)
        lines.append(line((x, Self.margins.top), (x, bottom), mark == 0 ? "#000" : "#ddd"))
        lines.append(
          text(Self.label(mark, plot.horizontal.unit), x, bottom + 18, anchor: "middle"))
      }
    }
    return lines
  }

  /// What the axes show.
  private var names: [String] {
    let middle = (Self.margins.top + bottom) / 2
    return [
      text(
        Self.title(plot.horizontal), (Self.margins.left + right) / 2, bottom + 38, anchor: "middle"),
      """
      <text x="16" y="\(Self.number(middle))" text-anchor="middle" transform="rotate(-90 16 \
      \(Self.number(middle)))">\(Self.escaped(Self.title(plot.vertical)))</text>
      """,
    ]
  }

  private static func title(_ axis: Plot.Axis) -> String {
    axis.unit.isEmpty ? axis.label : "\(axis.label), \(axis.unit)"
  }

  private static func label(_ mark: Double, _ unit: String) -> String {
    let text = Numbers.exact(mark)
    return unit == "%" ? text + "%" : text
  }

  private func place(x: Double) -> Double {
    let room = right - Self.margins.left
    if let names = plot.horizontal.names {
      return Self.margins.left + room * (x + 0.5) / Double(max(names.count, 1))
    }
    return Self.margins.left + room * min(max(x / horizontal.maximum, 0), 1)
  }

  private func place(y: Double) -> Double {
    bottom - (bottom - Self.margins.top) * min(max(y / vertical.maximum, 0), 1)
  }

  // MARK: - Curves

  private func curve(_ index: Int) -> [String] {
    let series = plot.series[index]
    let colour = colour(index)
    let places = series.points.map { (place(x: $0.x), place(y: $0.y.value)) }
    let path = places.map { "\(Self.number($0.0)),\(Self.number($0.1))" }.joined(separator: " ")
    let dash = series.role == .limit ? " stroke-dasharray=\"5 4\"" : ""
    let width = series.role == .ours ? 2.5 : 1.5
    var lines = [
      """
      <polyline points="\(path)" fill="none" stroke="\(colour)" stroke-width="\(width)"\(dash)/>
      """
    ]
    for (point, (x, y)) in zip(series.points, places) {
      if let low = point.y.low, let high = point.y.high, high > low {
        lines.append(line((x, place(y: low)), (x, place(y: high)), colour))
      }
      if point.y.value > vertical.maximum {
        lines.append(
          """
          <path d="M\(Self.number(x - 5)) \(Self.number(y + 8)) h10 l-5 -8 z" fill="\(colour)"/>
          """)
        lines.append(
          text(Numbers.text(point.y.value), x - 8, y + 10, anchor: "end", size: 10))
      } else {
        lines.append(
          "<circle cx=\"\(Self.number(x))\" cy=\"\(Self.number(y))\" r=\"3\" fill=\"\(colour)\"/>")
      }
    }
    return lines
  }

  private func legend(_ index: Int) -> [String] {
    let y = Self.margins.top + 12 + Double(index) * 20
    let series = plot.series[index]
    let dash = series.role == .limit ? " stroke-dasharray=\"5 4\"" : ""
    return [
      """
      <line x1="\(Self.number(right + 14))" y1="\(Self.number(y))" x2="\(Self.number(right + 34))" \
      y2="\(Self.number(y))" stroke="\(colour(index))" stroke-width="2"\(dash)/>
      """,
      text(series.name, right + Self.legendOffset, y + 4, anchor: "start"),
    ]
  }

  private func colour(_ index: Int) -> String {
    let role = plot.series[index].role
    let number = plot.series[..<index].count { $0.role == role }
    return switch role {
    case .ours: Self.ours[number % Self.ours.count]
    case .rival: Self.rivals[number % Self.rivals.count]
    case .limit: Self.limit
    }
  }

  // MARK: - Elements

  private func line(
    _ from: (Double, Double), _ to: (Double, Double), _ colour: String
  ) -> String {
    """
    <line x1="\(Self.number(from.0))" y1="\(Self.number(from.1))" x2="\(Self.number(to.0))" \
    y2="\(Self.number(to.1))" stroke="\(colour)"/>
    """
  }

  private func text(
    _ text: String, _ x: Double, _ y: Double, anchor: String, size: Int = 12
  ) -> String {
    """
    <text x="\(Self.number(x))" y="\(Self.number(y))" text-anchor="\(anchor)" font-size="\(size)">\
    \(Self.escaped(text))</text>
    """
  }

  /// A tenth of a unit is as exact as anybody can see.
  private static func number(_ value: Double) -> String {
    // A file that somebody has written may say anything.
    let tenths = Int((min(max(value, -1e6), 1e6) * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.append(character)
      }
    }
    return result
  }
}
