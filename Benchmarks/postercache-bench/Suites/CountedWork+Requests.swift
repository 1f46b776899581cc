import PosterCache

/// What is computed before anything is fetched.
extension CountedWork {
  func requests(_ phases: inout CountedPhases) throws {
    let texts = (0..<500).map {
      "https://image.tmdb.org/t/p/w342/\(1_000_000 + $0)kqjL17yufvn9OVLyXYpvtyrFfak.jpg"
    }
    func parse() throws {
      for text in texts {
        guard try PosterRequest(text).key.high != 0 else { throw BenchError("no key") }
      }
    }
    try parse()
    try phases.measure("address", texts.count, parse)

    // Slow enough that all of the screens are worth looking at.
    let link = LinkFigures(firstByteSeconds: 0.2, bytesPerSecond: 200_000, meanBytes: 40_000)
    var configuration = VisibleWindow.Configuration()
    configuration.aheadScreens = 6
    var window = VisibleWindow(configuration)
    window.sections = [.init(.grid(columns: 3, rowLength: 180), itemCount: 3_000_000)]
    func scroll(_ plans: Range<Int>) {
      for plan in plans {
        let time = Double(plan) / 60
        window.didScroll(to: 5000 + Double(plan) * 100, viewLength: 844, at: time)
        _ = window.plan(at: time, link: link)
      }
    }
    scroll(0..<50)
    try phases.measure("plan", 100) { scroll(50..<150) }
  }
}
