import Glibc

/// The curves of the wait suite as a picture (SVG): waits on a logarithmic scale over use.
struct WaitPlot {
  let title: String
  /// Each policy's name and its curve.
  let curves: [(name: String, curve: WaitCurve)]

  private static let size = (width: 640.0, height: 420.0)
  private static let margins = (left: 56.0, right: 16.0, top: 36.0, bottom: 44.0)
  /// The largest wait that is shown; longer ones lie on the upper edge.
  private static let highest = 64.0
  private static let lowest = 0.7
  private static let colours = ["#d62728", "#7f7f7f", "#1f77b4", "#2ca02c", "#9467bd"]

  var svg: String {
    let (width, height) = Self.size
    var lines = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(width) \(height)" \
      font-family="sans-serif" font-size="12">
      <rect width="100%" height="100%" fill="white"/>
      <text x="\(width / 2)" y="20" text-anchor="middle" font-size="14">\(title): mean wait of a \
      visible poster</text>
      """
    ]
    for use in stride(from: 0.0, through: 100, by: 20) {
      let x = horizontal(use / 100)
      lines.append(line((x, vertical(Self.lowest)), (x, vertical(Self.highest)), "#ddd"))
      lines.append(text("\(Int(use))%", x, vertical(Self.lowest) + 16, "middle"))
    }
    for wait in [1.0, 2, 4, 8, 16, 32, 64] {
      let y = vertical(wait)
      lines.append(line((horizontal(0), y), (horizontal(1), y), "#ddd"))
      lines.append(text("\(Int(wait))x", horizontal(0) - 8, y + 4, "end"))
    }
    lines.append(text("use of the link", width / 2, height - 8, "middle"))
    for (place, (name, curve)) in curves.enumerated() {
      let colour = Self.colours[place % Self.colours.count]
      let points = curve.points.map { (horizontal($0.use), vertical($0.alone)) }
      let path = points.map { "\($0.0),\($0.1)" }.joined(separator: " ")
      lines.append(
        "<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"/>")
      lines += points.map { "<circle cx=\"\($0.0)\" cy=\"\($0.1)\" r=\"3.5\" fill=\"\(colour)\"/>" }
      let y = Self.margins.top + 18 + Double(place) * 18
      lines.append(
        "<circle cx=\"\(horizontal(0.03))\" cy=\"\(y - 4)\" r=\"4\" fill=\"\(colour)\"/>")
      lines.append(text(name, horizontal(0.03) + 10, y, "start"))
    }
    return (lines + ["</svg>", ""]).joined(separator: "\n")
  }

  private func horizontal(_ use: Double) -> Double {
    let room = Self.size.width - Self.margins.left - Self.margins.right
    return rounded(Self.margins.left + room * min(max(use, 0), 1))
  }

  private func vertical(_ wait: Double) -> Double {
    let room = Self.size.height - Self.margins.top - Self.margins.bottom
    let shown = min(max(wait, Self.lowest), Self.highest)
    let part = log2(shown / Self.lowest) / log2(Self.highest / Self.lowest)
    return rounded(Self.margins.top + room * (1 - part))
  }

  private func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }

  private func line(_ from: (Double, Double), _ to: (Double, Double), _ colour: String) -> String {
    "<line x1=\"\(from.0)\" y1=\"\(from.1)\" x2=\"\(to.0)\" y2=\"\(to.1)\" stroke=\"\(colour)\"/>"
  }

  private func text(_ text: String, _ x: Double, _ y: Double, _ anchor: String) -> String {
    "<text x=\"\(x)\" y=\"\(y)\" text-anchor=\"\(anchor)\">\(text)</text>"
  }
}
