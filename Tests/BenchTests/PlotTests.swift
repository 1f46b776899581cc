import Testing

@testable import postercache_bench

/// How curves are drawn.
@Suite(.timeLimit(.minutes(1)))
struct PlotTests {
  @Test(
    arguments: [
      (0.9, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (7, 8, [0, 2, 4, 6, 8]),
      (100, 100, [0, 20, 40, 60, 80, 100]), (101, 120, [0, 20, 40, 60, 80, 100, 120]),
      (1234, 1500, [0, 500, 1000, 1500]), (0, 1, [0, 1]),
    ] as [(Double, Double, [Double])])
  func `an axis begins at zero and ends at a round number`(
    most: Double, maximum: Double, marks: [Double]
  ) {
    let scale = PlotScale(upTo: most)
    #expect(abs(scale.maximum - maximum) < 1e-9)
    #expect(scale.marks.count == marks.count)
    for (mark, right) in zip(scale.marks, marks) { #expect(abs(mark - right) < 1e-9) }
  }

  @Test func `an axis with an end of its own ends there`() {
    let scale = PlotScale(upTo: 250, endsThere: true)
    #expect(scale.maximum == 250)
    #expect(scale.marks == [0, 50, 100, 150, 200, 250])
  }

  /// The curves have 64 to 570 from left to right and 370 to 40 upwards.
  @Test func `points lie where their numbers say`() {
    let svg = PlotPicture(SampleReport.plot).svg
    #expect(svg.contains(##"<polyline points="64,370 317,205" fill="none" stroke="#0072b2""##))
    // The whisker from 90 to 120 ms.
    #expect(svg.contains(##"<line x1="317" y1="221.5" x2="317" y2="172" stroke="#0072b2"/>"##))
    #expect(svg.contains(#"<circle cx="317" cy="205" r="3""#))
  }

  @Test func `what is above the axis is told at its edge`() {
    let svg = PlotPicture(SampleReport.plot).svg
    #expect(svg.contains(#"<path d="M565 48 h10 l-5 -8 z""#))
    #expect(svg.contains(">3,588</text>"))
    #expect(!svg.contains(#"<circle cx="570""#))
  }

  @Test func `the picture names axes, units, contestants and the command`() {
    let svg = PlotPicture(SampleReport.plot).svg
    for text in ["use, %", "wait, ms", "ours", "rival", "100%", "made by: Benchmarks/run disk"] {
      #expect(svg.contains(">\(text)</text>"), "\(text)")
    }
    #expect(svg.contains("Waits &amp; &lt;use&gt;"))
    #expect(svg.hasPrefix("<svg ") && svg.hasSuffix("</svg>\n"))
  }

  @Test func `named places stand side by side`() {
    let plot = Plot(
      id: "names", title: "t", command: "c",
      horizontal: Plot.Axis(label: "entries", unit: "", names: ["1,000", "10,000"]),
      vertical: Plot.Axis(label: "hit", unit: "µs"),
      series: [
        Plot.Series(
          name: "ours", role: .ours,
          points: [Plot.Point(x: 0, y: Figure(2)), Plot.Point(x: 1, y: Figure(4))])
      ])
    // A quarter and three quarters of 506, and 2 and 4 of 4.
    #expect(PlotPicture(plot).svg.contains(#"points="190.5,205 443.5,40""#))
  }
}
