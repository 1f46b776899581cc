/// The curves of the scroll suite as a picture (SVG): blank time over wasted bytes, both in percent.
struct ScrollPlot {
  let title: String
  /// Each policy's name, and for each of its settings waste and blank time as shares.
  let curves: [(name: String, points: [(waste: Double, blank: Double)])]

  private static let size = (width: 640.0, height: 420.0)
  private static let margins = (left: 56.0, right: 16.0, top: 36.0, bottom: 44.0)
  private static let colours = ["#2ca02c", "#d62728", "#1f77b4", "#7f7f7f", "#9467bd"]
  /// The most waste that is shown.
  private static let mostWaste = 0.5

  /// The most blank time that is shown: the next of these steps above all.
  private var mostBlank: Double {
    let most = curves.flatMap(\.points).map(\.blank).max() ?? 0
    return [0.02, 0.05, 0.1, 0.2, 0.3, 0.5].first { $0 >= most } ?? 1
  }

  var svg: String {
    let (width, height) = Self.size
    var lines = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" \
      font-family="sans-serif" font-size="12">
      <rect width="100%" height="100%" fill="white"/>
      <text x="\(width / 2)" y="20" text-anchor="middle" font-size="14">\(title): blank time over \
      wasted bytes</text>
      """
    ]
    for step in 0...5 {
      let share = Double(step) / 5
      let (x, y) = (horizontal(share * Self.mostWaste), vertical(share * mostBlank))
      lines.append(line((x, vertical(0)), (x, vertical(mostBlank))))
      lines.append(line((horizontal(0), y), (horizontal(Self.mostWaste), y)))
      lines.append(text(percent(share * Self.mostWaste), x, vertical(0) + 16, "middle"))
      lines.append(text(percent(share * mostBlank), horizontal(0) - 8, y + 4, "end"))
    }
    lines.append(text("wasted bytes", width / 2, height - 8, "middle"))
    for (place, (name, points)) in curves.enumerated() {
      let colour = Self.colours[place % Self.colours.count]
      let places = points.map { (horizontal($0.waste), vertical($0.blank)) }
      let path = places.map { "\($0.0),\($0.1)" }.joined(separator: " ")
      lines.append(
        "<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"/>")
      lines += places.map { "<circle cx=\"\($0.0)\" cy=\"\($0.1)\" r=\"3.5\" fill=\"\(colour)\"/>" }
      let y = Self.margins.top + 18 + Double(place) * 18
      let x = horizontal(0.85 * Self.mostWaste)
      lines.append("<circle cx=\"\(x)\" cy=\"\(y - 4)\" r=\"4\" fill=\"\(colour)\"/>")
      lines.append(text(name, x + 10, y, "start"))
    }
    return (lines + ["</svg>", ""]).joined(separator: "\n")
  }

  private func horizontal(_ waste: Double) -> Double {
    let room = Self.size.width - Self.margins.left - Self.margins.right
    return rounded(Self.margins.left + room * min(max(waste / Self.mostWaste, 0), 1))
  }

  private func vertical(_ blank: Double) -> Double {
    let room = Self.size.height - Self.margins.top - Self.margins.bottom
    return rounded(Self.margins.top + room * (1 - min(max(blank / mostBlank, 0), 1)))
  }

  private func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }

  private func percent(_ share: Double) -> String {
    let tenths = Int((share * 1000).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)%" : "\(tenths / 10).\(tenths % 10)%"
  }

  private func line(_ from: (Double, Double), _ to: (Double, Double)) -> String {
    "<line x1=\"\(from.0)\" y1=\"\(from.1)\" x2=\"\(to.0)\" y2=\"\(to.1)\" stroke=\"#ddd\"/>"
  }

  private func text(_ text: String, _ x: Double, _ y: Double, _ anchor: String) -> String {
    "<text x=\"\(x)\" y=\"\(y)\" text-anchor=\"\(anchor)\">\(text)</text>"
  }
}
