import Testing

@testable import PosterCache

/// Links, lists and scrolls at the end of what there can be.
@Suite(.timeLimit(.minutes(1)))
struct WindowExtremesTests {
  private func window(
    _ configuration: VisibleWindow.Configuration = .init(), items: Int = 300
  ) -> VisibleWindow {
    var window = VisibleWindow(configuration)
    window.sections = [.init(.grid(columns: 3, rowLength: 180), itemCount: items)]
    return window
  }

  /// Rests, and has each picture come as soon as the window asks for it; the cells that got their own size.
  private func rest(
    _ window: inout VisibleWindow, from start: Double, on link: LinkFigures
  ) -> Set<Int> {
    var full: Set<Int> = []
    for tick in 1...400 {
      let time = start + Double(tick)
      _ = window.plan(at: time, link: link)
      while let (ask, _) = window.takeNext() {
        if ask.rung == .full { full.insert(ask.cell.item) }
        window.askDidFinish(ask, bytes: 1000, at: time)
        _ = window.plan(at: time, link: link)
      }
    }
    return full
  }

  @Test(arguments: [nil, 0.125, 1e-300, 7])
  func `every cell at rest gets its own size, however slow the link is`(preview: Double?) {
    var configuration = VisibleWindow.Configuration()
    configuration.previewShare = preview
    for latency in [0.001, 0.3, 1.3, 30, 1e300] {
      for bandwidth in [1e-300, 10, 1000, 100_000, 1e300] {
        for mean in [1.0, 40_000, 3_000_000, 1e300] {
          let link = LinkFigures(
            firstByteSeconds: latency, bytesPerSecond: bandwidth, meanBytes: mean)
          var window = window(configuration)
          window.didScroll(to: 9000, viewLength: 844, at: 0)
          #expect(rest(&window, from: 0, on: link).isSuperset(of: 150..<162), "\(link)")
        }
      }
    }
  }

  @Test func `a row at rest gets its pictures over a slow link, too`() {
    var window = VisibleWindow()
    window.sections = [
      .init(.row(length: 200, itemLength: 130, viewLength: 390), itemCount: 40)
    ]
    window.didScroll(to: 0, viewLength: 844, at: 0)
    window.row(0, didScrollTo: 1300, at: 0)
    let slow = LinkFigures(firstByteSeconds: 2, bytesPerSecond: 1000, meanBytes: 40_000)
    #expect(rest(&window, from: 0, on: slow).isSuperset(of: 10..<13))
  }

  @Test func `on a slow link what nobody wants any more is not let finish before what is visible`()
  {
    let slow = LinkFigures(firstByteSeconds: 0.1, bytesPerSecond: 40_000, meanBytes: 40_000)
    let fast = LinkFigures(firstByteSeconds: 0.1, bytesPerSecond: 4_000_000, meanBytes: 40_000)
    for (link, isLetFinish) in [(slow, false), (fast, true)] {
      var window = window(items: 3000)
      window.didScroll(to: 0, viewLength: 844, at: 0)
      _ = window.plan(at: 0, link: link)
      while window.takeNext() != nil {}
      let before = window.inFlight
      window.didScroll(to: 90_000, viewLength: 844, at: 1)
      let plan = window.plan(at: 1, link: link)
      #expect(before.isDisjoint(with: plan.cancel) == isLetFinish)
      if !isLetFinish { #expect(window.takeNext()?.isVisible == true) }
    }
  }

  @Test func `a row that comes in place of a removed one stands at its beginning`() {
    var window = VisibleWindow()
    let row = VisibleWindow.Section(
      .row(length: 200, itemLength: 130, viewLength: 390), itemCount: 40)
    window.sections = [row, row]
    window.didScroll(to: 0, viewLength: 844, at: 0)
    window.row(1, didScrollTo: 2600, at: 0)
    window.row(2, didScrollTo: 2600, at: 0)
    window.sections = [row]
    window.sections += [row, row]
    _ = window.plan(at: 1, link: nil)
    for section in 1...2 {
      let seen = window.visibleCells.filter { $0.section == section }.map(\.item).sorted()
      #expect(seen == [0, 1, 2])
    }
  }

  @Test func `a picture that was lost is asked for again`() {
    var window = window(items: 9)
    window.didScroll(to: 0, viewLength: 844, at: 0)
    _ = window.plan(at: 0, link: nil)
    while let (ask, _) = window.takeNext() { window.askDidFinish(ask, bytes: 1000, at: 0) }
    #expect(window.plan(at: 1, link: nil).load.isEmpty)
    window.pictureWasLost(WindowCell(section: 0, item: 4))
    #expect(window.plan(at: 1, link: nil).load == [WindowAsk(WindowCell(section: 0, item: 4))])
  }

  @Test func `numbers at the end of their range are no trap`() {
    let lengths = [0, -1, 1e-300, 180, 1e300, .infinity, -.infinity, .nan]
    let counts = [Int.min, -1, 0, 1, 3, Int.max - 1, Int.max]
    var sections: [VisibleWindow.Section] = []
    for length in lengths {
      for count in counts {
        sections.append(
          .init(
            .grid(columns: count, rowLength: length), itemCount: 3, spacingBefore: length,
            canAskForPage: true))
        sections.append(
          .init(.grid(columns: 3, rowLength: 180), itemCount: count, spacingBefore: length))
        sections.append(
          .init(
            .row(length: 200, itemLength: max(length, 100), viewLength: 390), itemCount: count,
            canAskForPage: true))
        sections.append(.init(.row(length: length, itemLength: 130, viewLength: length)))
      }
    }
    for screens in lengths {
      var configuration = VisibleWindow.Configuration()
      configuration.aheadScreens = min(screens, 10)
      configuration.behindScreens = min(-screens, 10)
      configuration.pageAheadScreens = screens
      configuration.previewShare = screens
      configuration.byteBudget = .max
      var window = VisibleWindow(configuration)
      window.sections = sections
      for (index, place) in (lengths + [1e12, -1e12]).enumerated() {
        for view in [-1, 1e-300, 844, .nan] {
          window.didScroll(to: place, viewLength: view, at: Double(index))
          for section in sections.indices {
            window.row(section, didScrollTo: place, at: Double(index))
          }
          _ = window.plan(at: Double(index), link: nil)
          while let (ask, _) = window.takeNext() {
            window.askDidFinish(ask, bytes: .max, at: place)
          }
          #expect(!window.plan(at: place, link: nil).cancel.contains { $0.cell.item < 0 })
        }
      }
    }
  }
}
