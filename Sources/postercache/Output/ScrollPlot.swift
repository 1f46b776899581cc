import PosterCache

/// Draws a ``ScrollTimeline``: time to the right, items downwards, a line of its own for each.
struct ScrollPlot {
  /// Where things lie.
  struct Layout: Equatable {
    static let left = 72
    static let right = 24
    static let top = 92
    static let bottom = 52
    /// Pixels between two sections.
    static let gap = 14
    private static let tallest = 1600

    /// Pixels of the plotted time.
    let width: Int
    /// Pixels of the plotted items.
    let height: Int
    let seconds: Double
    /// Items of each section that are plotted, from the first.
    let items: [Int]
    /// The first pixel of each section.
    private let starts: [Int]
    /// Pixels of an item; less than 1 where there are very many.
    private let line: Double

    init(_ timeline: ScrollTimeline) {
      seconds = max(timeline.seconds, 0.001)
      width = min(max(Int(seconds * 90), 760), 1600)
      var items = timeline.sections.map { _ in 0 }
      for (cell, history) in timeline.cells
      where items.indices.contains(cell.section) && !history.isEmpty {
        items[cell.section] = max(items[cell.section], cell.item + 1)
      }
      let all = max(items.reduce(0, +), 1)
      let line =
        all > Self.tallest ? Double(Self.tallest) / Double(all) : Double(min(max(800 / all, 1), 16))
      var starts: [Int] = []
      var next = Self.top
      for count in items {
        starts.append(next)
        next += Int((Double(count) * line).rounded(.up)) + Self.gap
      }
      height = max(next - Self.gap - Self.top, 1)
      self.items = items
      self.starts = starts
      self.line = line
    }

    var size: PixelSize {
      PixelSize(
        width: Self.left + width + Self.right, height: Self.top + height + Self.bottom)
    }

    /// The pixel of a time.
    func x(_ seconds: Double) -> Int {
      Self.left + Int((seconds / self.seconds * Double(width)).rounded())
    }

    /// The pixels of an item, at least one.
    func y(_ cell: WindowCell) -> Range<Int> {
      let first = starts[cell.section] + Int(Double(cell.item) * line)
      let past = starts[cell.section] + Int(Double(cell.item + 1) * line)
      return first..<max(past, first + 1)
    }
  }

  /// What colours mean.
  enum Meaning: CaseIterable {
    case blank, preview, full, waiting, unused, absent

    var ink: PlotCanvas.Ink {
      switch self {
      case .blank: .init(214, 40, 40)
      case .preview: .init(246, 200, 80)
      case .full: .init(72, 160, 92)
      case .waiting: .init(178, 206, 236)
      case .unused: .init(130, 80, 190)
      case .absent: .init(200, 200, 206)
      }
    }

    var words: String {
      switch self {
      case .blank: "visible, blank"
      case .preview: "preview"
      case .full: "full picture"
      case .waiting: "fetched ahead"
      case .unused: "never seen"
      case .absent: "has no picture"
      }
    }
  }

  static let background = PlotCanvas.Ink(255, 255, 255)
  private static let writing = PlotCanvas.Ink(40, 40, 48)
  private static let rule = PlotCanvas.Ink(226, 226, 232)
  /// How long the mark of a picture is that nobody saw.
  private static let markWidth = 10

  private let timeline: ScrollTimeline
  private let layout: Layout
  private var canvas: PlotCanvas

  /// The picture of `timeline`.
  ///
  /// - Parameter title: one line above it.
  static func draw(_ timeline: ScrollTimeline, title: String) -> PlotCanvas {
    var plot = ScrollPlot(timeline)
    plot.drawHead(title)
    plot.drawTimes()
    plot.drawItems()
    plot.drawCells()
    return plot.canvas
  }

  private init(_ timeline: ScrollTimeline) {
    self.timeline = timeline
    layout = Layout(timeline)
    canvas = PlotCanvas(layout.size, background: Self.background)
  }

  // MARK: - Axes

  private mutating func drawHead(_ title: String) {
    let fits = PlotCanvas.width(of: title, scale: 2) <= layout.width
    canvas.write(title, x: Layout.left, y: 16, scale: fits ? 2 : 1, Self.writing)
    var x = Layout.left
    for meaning in Meaning.allCases {
      canvas.fill(x: x..<x + 18, y: 52..<66, meaning.ink)
      canvas.write(meaning.words, x: x + 24, y: 54, scale: 1, Self.writing)
      x += 24 + PlotCanvas.width(of: meaning.words, scale: 1) + 24
    }
  }

  private mutating func drawTimes() {
    let bottom = Layout.top + layout.height
    let step = Self.step(layout.seconds * 80 / Double(layout.width))
    var place = 0
    while Double(place) * step <= layout.seconds + 1e-9 {
      let time = Double(place) * step
      let x = layout.x(time)
      canvas.fill(x: x..<x + 1, y: Layout.top..<bottom, Self.rule)
      canvas.fill(x: x..<x + 1, y: bottom..<bottom + 6, Self.writing)
      let words = Self.number(time)
      canvas.write(
        words, x: x - PlotCanvas.width(of: words, scale: 2) / 2, y: bottom + 12, scale: 2,
        Self.writing)
      place += 1
    }
    canvas.fill(x: Layout.left..<Layout.left + layout.width, y: bottom..<bottom + 1, Self.writing)
    canvas.write(
      "seconds", x: Layout.left, y: bottom + 36, scale: 1, Self.writing)
  }

  private mutating func drawItems() {
    for (section, count) in layout.items.enumerated() where count > 0 {
      let first = layout.y(WindowCell(section: section, item: 0))
      let last = layout.y(WindowCell(section: section, item: count - 1))
      canvas.fill(
        x: Layout.left - 1..<Layout.left, y: first.lowerBound..<last.upperBound, Self.writing)
      canvas.write(
        timeline.sections[section], x: Layout.left, y: first.lowerBound - 10, scale: 1, Self.writing
      )
      let pixels = Double(last.upperBound - first.lowerBound) / Double(count)
      let step = max(Int(Self.step(22 / pixels).rounded()), 1)
      for item in stride(from: 0, to: count, by: step) {
        let line = layout.y(WindowCell(section: section, item: item))
        let middle = (line.lowerBound + line.upperBound) / 2
        let words = String(item)
        canvas.fill(x: Layout.left - 6..<Layout.left, y: middle..<middle + 1, Self.writing)
        canvas.write(
          words, x: Layout.left - 10 - PlotCanvas.width(of: words, scale: 2), y: middle - 7,
          scale: 2, Self.writing)
      }
    }
  }

  /// The smallest of 1, 2, 5, 10, … and their hundredths that is at least `least`.
  static func step(_ least: Double) -> Double {
    var decade = 0.01
    while true {
      for factor in [1.0, 2, 5] where decade * factor >= least { return decade * factor }
      decade *= 10
    }
  }

  /// A time with as many decimals as it needs, at most two.
  private static func number(_ seconds: Double) -> String {
    let hundredths = Int((seconds * 100).rounded())
    let (whole, rest) = (hundredths / 100, hundredths % 100)
    if rest == 0 { return String(whole) }
    return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
  }

  // MARK: - Cells

  private mutating func drawCells() {
    // In order, so that where a pixel stands for several cells the picture is always the same.
    for (place, cell) in timeline.cells.sorted(by: { $0.key < $1.key })
    where layout.items.indices.contains(place.section) && !cell.isEmpty {
      draw(cell, y: layout.y(place))
    }
  }

  private mutating func draw(_ cell: ScrollTimeline.Cell, y: Range<Int>) {
    if let arrived = cell.arrivedAt {
      let x = layout.x(arrived)
      if let first = cell.showings.first {
        if arrived < first.begin { fill(arrived, first.begin, y: y, .waiting) }
      } else {
        let end = min(x + Self.markWidth, Layout.left + layout.width)
        canvas.fill(x: min(x, end - 1)..<end, y: y, Meaning.unused.ink)
      }
    }
    for showing in cell.showings {
      if cell.hasNoPicture {
        fill(showing.begin, showing.end, y: y, .absent)
        continue
      }
      let any = min(showing.anyAt ?? showing.end, showing.end)
      let full = max(min(showing.fullAt ?? showing.end, showing.end), any)
      fill(showing.begin, any, y: y, .blank)
      fill(any, full, y: y, .preview)
      fill(full, showing.end, y: y, .full)
    }
  }

  /// Colours a span of time; a span that is not empty takes at least one pixel.
  private mutating func fill(_ begin: Double, _ end: Double, y: Range<Int>, _ meaning: Meaning) {
    guard end > begin else { return }
    let first = layout.x(begin)
    canvas.fill(x: first..<max(layout.x(end), first + 1), y: y, meaning.ink)
  }
}

extension ScrollTimeline.Cell {
  /// Whether there is nothing to draw of it.
  fileprivate var isEmpty: Bool { showings.isEmpty && arrivedAt == nil }
}
