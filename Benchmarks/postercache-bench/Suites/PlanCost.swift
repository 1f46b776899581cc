import PosterCache

/// What one plan of the moving window takes.
enum PlanCost {
  private static let plansOfARound = 2000

  /// - Parameter rounds: as often the plans are made.
  static func table(_ rounds: Rounds) -> FigureTable {
    FigureTable(
      title: "What a plan takes",
      conditions: """
        A grid of three columns that moves by 100 points between two plans, nothing of it there yet, on one \
        thread; \(rounds.count) rounds of \(plansOfARound) plans.
        """,
      columns: ["cells looked at", "microseconds"],
      rows: [2.0, 6, 12].flatMap { screens in
        [3000, 3_000_000].map { items in row(items: items, screens: screens, rounds) }
      }, demands: [])
  }

  private static func row(items: Int, screens: Double, _ rounds: Rounds) -> FigureTable.Row {
    var times: [Double] = []
    var examined = 0
    for _ in 0..<rounds.count {
      // Slow enough that all of the screens are worth looking at.
      let link = LinkFigures(firstByteSeconds: 0.2, bytesPerSecond: 200_000, meanBytes: 40_000)
      var configuration = VisibleWindow.Configuration()
      configuration.aheadScreens = screens
      var window = VisibleWindow(configuration)
      window.sections = [.init(.grid(columns: 3, rowLength: 180), itemCount: items)]
      let watch = Stopwatch()
      for plan in 0..<plansOfARound {
        let time = Double(plan) / 60
        window.didScroll(to: 5000 + Double(plan % 1000) * 100, viewLength: 844, at: time)
        examined = window.plan(at: time, link: link).examinedCount
      }
      times.append(watch.sample().seconds / Double(plansOfARound) * 1e6)
    }
    return FigureTable.Row(
      name: "\(items) items, \(Int(screens)) screens ahead",
      figures: [Figure(Double(examined)), Spread(times).map { Figure($0) }])
  }
}
