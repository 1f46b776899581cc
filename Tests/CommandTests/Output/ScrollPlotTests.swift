import PosterCache
import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(1)))
struct ScrollPlotTests {
  private typealias Layout = ScrollPlot.Layout

  private func cell(_ section: Int, _ item: Int) -> WindowCell {
    WindowCell(section: section, item: item)
  }

  /// Four seconds with two sections: what each kind of cell looks like.
  private var timeline: ScrollTimeline {
    ScrollTimeline(
      seconds: 4, sections: ["similar", "trending"],
      cells: [
        // Blank for a second, then a preview, then the picture.
        cell(0, 0): .init(
          showings: [.init(begin: 0, end: 3, anyAt: 1, fullAt: 2)], arrivedAt: 1),
        // Fetched ahead, seen twice.
        cell(1, 1): .init(
          showings: [
            .init(begin: 1, end: 2, anyAt: 1, fullAt: 1),
            .init(begin: 3, end: 4, anyAt: 3, fullAt: 3),
          ], arrivedAt: 0.5),
        // Never had a picture.
        cell(1, 2): .init(showings: [.init(begin: 2, end: 3)]),
        // Fetched for nobody.
        cell(1, 3): .init(arrivedAt: 2),
        // Has none.
        cell(1, 0): .init(showings: [.init(begin: 1, end: 2)], hasNoPicture: true),
        cell(1, 9): .init(hasNoPicture: true),
      ])
  }

  private func ink(_ canvas: PlotCanvas, _ cell: WindowCell, _ seconds: Double) -> PlotCanvas.Ink {
    let layout = Layout(timeline)
    let y = layout.y(cell)
    return canvas.ink(x: layout.x(seconds), y: (y.lowerBound + y.upperBound) / 2)
  }

  @Test func `each moment of a cell has the colour of what was to be seen`() {
    let canvas = ScrollPlot.draw(timeline, title: "a scroll")
    #expect(canvas.size == Layout(timeline).size)
    // Between the lines of the axis, which are at each half second.
    let expected: [(WindowCell, Double, ScrollPlot.Meaning?)] = [
      (cell(0, 0), 0.6, .blank), (cell(0, 0), 1.6, .preview), (cell(0, 0), 2.6, .full),
      (cell(0, 0), 3.6, nil), (cell(1, 1), 0.3, nil), (cell(1, 1), 0.8, .waiting),
      (cell(1, 1), 1.6, .full), (cell(1, 1), 2.6, nil), (cell(1, 1), 3.6, .full),
      (cell(1, 2), 2.6, .blank), (cell(1, 2), 3.6, nil), (cell(1, 3), 1.6, nil),
      (cell(1, 3), 2.01, .unused), (cell(1, 3), 3.6, nil), (cell(1, 0), 1.6, .absent),
    ]
    for (cell, seconds, meaning) in expected {
      #expect(
        ink(canvas, cell, seconds) == meaning?.ink ?? ScrollPlot.background,
        "\(cell) at \(seconds)")
    }
  }

  @Test func `the moment that something changes is the pixel where it changes`() {
    let canvas = ScrollPlot.draw(timeline, title: "")
    let layout = Layout(timeline)
    let y = layout.y(cell(0, 0)).lowerBound
    #expect(layout.x(0) == Layout.left && layout.x(4) == Layout.left + layout.width)
    #expect(canvas.ink(x: layout.x(1) - 1, y: y) == ScrollPlot.Meaning.blank.ink)
    #expect(canvas.ink(x: layout.x(1), y: y) == ScrollPlot.Meaning.preview.ink)
    #expect(canvas.ink(x: layout.x(2), y: y) == ScrollPlot.Meaning.full.ink)
    #expect(canvas.ink(x: layout.x(3), y: y) != ScrollPlot.Meaning.full.ink)
  }

  @Test func `sections lie apart, and items below each other`() {
    let layout = Layout(timeline)
    #expect(layout.items == [1, 4])
    #expect(layout.y(cell(0, 0)).lowerBound == Layout.top)
    #expect(layout.y(cell(1, 0)).lowerBound == layout.y(cell(0, 0)).upperBound + Layout.gap)
    for item in 0..<3 {
      #expect(layout.y(cell(1, item)).upperBound == layout.y(cell(1, item + 1)).lowerBound)
    }
    #expect(layout.y(cell(1, 3)).upperBound == Layout.top + layout.height)
  }

  @Test func `what happens is noted cell by cell`() {
    var timeline = ScrollTimeline(sections: ["trending"])
    timeline.cellHasNoPicture(cell(0, 2))
    timeline.screenDidChange(to: [0..<2], at: 0)
    timeline.pictureDidArrive(for: cell(0, 0), at: 0.5)
    timeline.pictureDidAppear(in: cell(0, 0), .preview, at: 0.5)
    timeline.pictureDidAppear(in: cell(0, 0), .full, at: 1)
    timeline.pictureDidArrive(for: cell(0, 0), at: 1)
    timeline.screenDidChange(to: [1..<3], at: 2)
    timeline.pictureDidVanish(from: cell(0, 0))
    timeline.pictureDidAppear(in: cell(0, 3), .full, at: 2.5)
    timeline.screenDidChange(to: [0..<4], at: 3)
    timeline.didEnd(at: 4)
    #expect(timeline.seconds == 4)
    let first = [
      ScrollTimeline.Showing(begin: 0, end: 2, anyAt: 0.5, fullAt: 1),
      ScrollTimeline.Showing(begin: 3, end: 4),
    ]
    #expect(timeline.cells[cell(0, 0)]?.showings == first)
    #expect(timeline.cells[cell(0, 0)]?.arrivedAt == 0.5)
    #expect(timeline.cells[cell(0, 1)]?.showings == [.init(begin: 0, end: 4)])
    #expect(timeline.cells[cell(0, 2)]?.hasNoPicture == true)
    #expect(timeline.cells[cell(0, 2)]?.showings == [.init(begin: 2, end: 4)])
    #expect(
      timeline.cells[cell(0, 3)]?.showings == [.init(begin: 3, end: 4, anyAt: 3, fullAt: 3)])
  }

  @Test func `very many items and very long scrolls stay a picture that can be looked at`() {
    let many = ScrollTimeline(
      seconds: 600, sections: ["trending"],
      cells: [
        cell(0, 0): .init(showings: [.init(begin: 0, end: 1, anyAt: 0, fullAt: 0)]),
        cell(0, 9999): .init(showings: [.init(begin: 599, end: 600)]),
      ])
    let layout = Layout(many)
    #expect(layout.width == 1600 && layout.height == 1600)
    #expect(layout.y(cell(0, 9999)) == Layout.top + 1599..<Layout.top + 1600)
    let canvas = ScrollPlot.draw(many, title: "long")
    #expect(
      canvas.ink(x: Layout.left + 1599, y: Layout.top + 1599) == ScrollPlot.Meaning.blank.ink)
    #expect(canvas.ink(x: Layout.left, y: Layout.top) == ScrollPlot.Meaning.full.ink)
  }

  @Test func `a scroll of nothing is an empty picture`() {
    for seconds in [0, 1.0] {
      let empty = ScrollTimeline(seconds: seconds, sections: ["trending"], cells: [:])
      let canvas = ScrollPlot.draw(empty, title: "nothing")
      #expect(canvas.size == Layout(empty).size)
    }
  }

  @Test(arguments: [
    (0.001, 0.01), (0.011, 0.02), (0.2, 0.2), (0.21, 0.5), (1, 1), (3, 5), (7, 10), (1500, 2000),
  ])
  func `ticks are at round numbers`(least: Double, step: Double) {
    #expect(abs(ScrollPlot.step(least) - step) < step * 1e-9)
  }

  @Test func `words are dots, small letters as capitals`() {
    let (black, white) = (PlotCanvas.Ink(0, 0, 0), PlotCanvas.Ink(255, 255, 255))
    var canvas = PlotCanvas(PixelSize(width: 40, height: 20), background: white)
    canvas.write("i1", x: 2, y: 3, scale: 2, black)
    // The second row of an I is its middle dot alone, that of a 1 its second and third.
    let row = (0..<40).map { canvas.ink(x: $0, y: 3 + 2) == black }
    #expect(row.indices.filter { row[$0] } == [6, 7, 16, 17, 18, 19])
    #expect(PlotCanvas.width(of: "i1", scale: 2) == 22)
    canvas.write("far away", x: 38, y: 18, scale: 3, black)
    #expect(canvas.size == PixelSize(width: 40, height: 20))
  }
}
