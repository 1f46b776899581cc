import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(2)))
struct VisibleWindowTests {
  static let link = LinkFigures(
    firstByteSeconds: 0.08, bytesPerSecond: 2_500_000, meanBytes: 40_000)

  /// A grid of three columns seen through about 844 points, with one of 40 KB to a cell.
  static func window(
    items: Int, configuration: VisibleWindow.Configuration = .init()
  ) -> VisibleWindow {
    var window = VisibleWindow(configuration)
    window.sections = [.init(.grid(columns: 3, rowLength: 180), itemCount: items)]
    return window
  }

  /// Does what the plan says until nothing is left to do.
  private func settle(_ window: inout VisibleWindow, at seconds: Double) -> WindowPlan {
    var plan = window.plan(at: seconds, link: Self.link)
    while let (ask, _) = window.takeNext() {
      window.askDidFinish(ask, bytes: 40_000, at: seconds)
      plan = window.plan(at: seconds, link: Self.link)
    }
    return plan
  }

  // MARK: - What is wanted

  @Test func `the first screen is loaded from its top, then what is below it`() {
    var window = Self.window(items: 300)
    window.didScroll(to: 0, viewLength: 844, at: 0)
    let plan = window.plan(at: 0, link: Self.link)
    // Five rows are seen, the last of them in part.
    #expect(plan.load == (0..<15).map { WindowAsk(WindowCell(section: 0, item: $0)) })
    #expect(plan.prefetch.map(\.cell.item) == Array(15..<15 + plan.prefetch.count))
    #expect(!plan.prefetch.isEmpty && plan.cancel.isEmpty)
    // 200 KB are on their way where the link is full; three more.
    #expect(plan.inFlightLimit == 8)
    for item in 0..<8 {
      let next = window.takeNext()
      #expect(next?.ask.cell.item == item && next?.isVisible == true)
    }
    #expect(window.takeNext() == nil)
    window.askDidFinish(WindowAsk(WindowCell(section: 0, item: 3)), bytes: 40_000, at: 0.2)
    #expect(window.takeNext()?.ask.cell.item == 8)
    #expect(window.inFlight.count == 8)
  }

  @Test func `at rest both sides are filled, and nothing is asked for twice`() {
    var window = Self.window(items: 3000)
    window.didScroll(to: 18_000, viewLength: 844, at: 0)
    window.didScroll(to: 18_000, viewLength: 844, at: 1)
    let plan = settle(&window, at: 1)
    #expect(plan.load.isEmpty && plan.prefetch.isEmpty && plan.cancel.isEmpty)
    #expect(window.inFlight.isEmpty)
    window.didScroll(to: 18_000 - 360, viewLength: 844, at: 2)
    window.didScroll(to: 18_000 - 360, viewLength: 844, at: 3)
    #expect(window.plan(at: 3, link: Self.link).load.isEmpty, "two rows back are there")
  }

  @Test func `items without a picture and failed ones are not asked for`() {
    var window = Self.window(items: 9)
    for item in [0, 4, 8] { window.cellHasNoPicture(WindowCell(section: 0, item: item)) }
    window.didScroll(to: 0, viewLength: 844, at: 0)
    #expect(window.plan(at: 0, link: Self.link).load.map(\.cell.item) == [1, 2, 3, 5, 6, 7])
    let first = window.takeNext()?.ask
    #expect(first?.cell.item == 1)
    if let first { window.askDidFail(first) }
    #expect(window.plan(at: 0.1, link: Self.link).load.map(\.cell.item) == [2, 3, 5, 6, 7])
  }

  @Test func `what failed is asked for again once its cell has left the window`() {
    var window = Self.window(items: 3000)
    window.didScroll(to: 0, viewLength: 844, at: 0)
    _ = window.plan(at: 0, link: Self.link)
    guard let first = window.takeNext()?.ask else { return #expect(Bool(false)) }
    window.askDidFail(first)
    #expect(!window.plan(at: 0.1, link: Self.link).load.contains(first))
    window.didScroll(to: 90_000, viewLength: 844, at: 1)
    _ = window.plan(at: 1, link: Self.link)
    window.didScroll(to: 0, viewLength: 844, at: 2)
    #expect(window.plan(at: 2, link: Self.link).load.contains(first))
  }

  @Test func `a jump looks at its target alone`() {
    var window = Self.window(items: 1_000_000)
    window.didScroll(to: 0, viewLength: 844, at: 0)
    _ = window.plan(at: 0, link: Self.link)
    while window.takeNext() != nil {}
    let left = window.inFlight
    window.didScroll(to: 30_000_000, viewLength: 844, at: 0.016)
    let plan = window.plan(at: 0.016, link: Self.link)
    #expect(Set(plan.cancel) == left)
    #expect(plan.load.first?.cell.item == 30_000_000 / 180 * 3)
    #expect(plan.examinedCount < 150)
    #expect(window.takeNext()?.isVisible == true)
  }

  @Test func `a reversal keeps what is near again`() {
    var window = Self.window(items: 3000)
    for frame in 0..<30 {
      let time = Double(frame) / 60
      let place = Motion(position: 18_000, velocity: 2000).position(after: time)
      window.didScroll(to: place, viewLength: 844, at: time)
      _ = window.plan(at: time, link: Self.link)
      while window.takeNext() != nil {}
    }
    let before = window.inFlight
    #expect(!before.isEmpty)
    let turn = Motion(position: 18_000, velocity: 2000).position(after: 29.0 / 60)
    for frame in 1...3 {
      let time = Double(29 + frame) / 60
      window.didScroll(to: turn - Double(frame) * 8, viewLength: 844, at: time)
      let plan = window.plan(at: time, link: Self.link)
      #expect(plan.cancel.allSatisfy { Double($0.cell.item / 3) * 180 > turn + 844 + 180 })
    }
  }

  // MARK: - Costs

  @Test func `a plan costs what its window holds, however long the list is`() {
    var counts: Set<Int> = []
    for items in [3000, 100_000, 3_000_000] {
      var window = Self.window(items: items)
      window.didScroll(to: 18_000, viewLength: 844, at: 0)
      counts.insert(window.plan(at: 0, link: Self.link).examinedCount)
    }
    #expect(counts.count == 1 && counts.allSatisfy { $0 < 150 })
  }

  @Test func `a thousand sections cost what the few near the window hold`() {
    var window = VisibleWindow()
    window.sections = (0..<1000).map { _ in
      .init(.row(length: 200, itemLength: 120, viewLength: 390), itemCount: 10_000)
    }
    window.didScroll(to: 100_000, viewLength: 844, at: 0)
    let plan = window.plan(at: 0, link: Self.link)
    #expect(plan.examinedCount < 300)
    #expect(Set(plan.load.map(\.cell.section)) == Set(500...504))
  }

  @Test func `what nobody sees stays within the budget`() {
    for seed in 0..<20 as Range<UInt64> {
      var random = SplitMix64(seed: seed)
      var configuration = VisibleWindow.Configuration()
      configuration.aheadScreens = 4
      configuration.byteBudget = 800_000
      var window = Self.window(items: 3000, configuration: configuration)
      var unseen: [WindowCell: Int] = [:]
      var position = 9000.0
      for tick in 0..<300 {
        let time = Double(tick) / 60
        if Int.random(in: 0..<40, using: &random) == 0 {
          position = Double(Int.random(in: 0..<170_000, using: &random))
        }
        position = max(0, position + Double(Int.random(in: -20..<60, using: &random)))
        window.didScroll(to: position, viewLength: 844, at: time)
        _ = window.plan(at: time, link: Self.link)
        for cell in window.visibleCells { unseen[cell] = nil }
        while window.takeNext() != nil {}
        for ask in window.inFlight where Int.random(in: 0..<4, using: &random) == 0 {
          window.askDidFinish(ask, bytes: 40_000, at: time)
          if !window.visibleCells.contains(ask.cell) { unseen[ask.cell] = 40_000 }
        }
        let flying = window.inFlight.filter { !window.visibleCells.contains($0.cell) }.count
        let held = unseen.filter { window.holds($0.key) }.values.reduce(0, +)
        #expect(held + flying * 40_000 <= 800_000, "seed \(seed), tick \(tick)")
      }
    }
  }

  // MARK: - Properties

  /// A random scroll with everything that can happen meanwhile.
  private func scroll(seed: UInt64, check: (VisibleWindow, WindowPlan, Set<Int>) -> Void)
    -> [WindowPlan]
  {
    var random = SplitMix64(seed: seed)
    var configuration = VisibleWindow.Configuration()
    if Bool.random(using: &random) { configuration.previewShare = 0.125 }
    var window = VisibleWindow(configuration)
    window.sections = [
      .init(.row(length: 200, itemLength: 120, viewLength: 390), itemCount: 40),
      .init(.grid(columns: 3, rowLength: 180), itemCount: 600, spacingBefore: 40),
      .init(.row(length: 200, itemLength: 120, viewLength: 390), itemCount: 0),
    ]
    var plans: [WindowPlan] = []
    var motion = Motion(position: 0)
    var side = 0.0
    for tick in 0..<400 {
      let time = Double(tick) / 60
      // Sections whose items may be other ones than before.
      var changed: Set<Int> = []
      motion = Motion(
        position: motion.position(after: 1.0 / 60), velocity: motion.velocity * 0.967)
      switch Int.random(in: 0..<60, using: &random) {
      case 0: motion.velocity = Double(Int.random(in: -6000..<6000, using: &random))
      case 1: motion.position = Double(Int.random(in: 0..<36_000, using: &random))
      case 2:
        window.sections[1].itemCount = Int.random(in: 0..<900, using: &random)
        changed = [1]
      case 3:
        changed = [Int.random(in: 0..<3, using: &random)]
        for section in changed { window.sectionWasReplaced(section) }
      case 4: side = Double(Int.random(in: 0..<4000, using: &random))
      case 5: window.sections[2].itemCount += 20
      default: break
      }
      window.didScroll(to: motion.position, viewLength: 844, at: time)
      window.row(0, didScrollTo: side, at: time)
      let plan = window.plan(at: time, link: Self.link)
      plans.append(plan)
      while window.takeNext() != nil {}
      check(window, plan, changed)
      for ask in window.inFlight.sorted(by: { ($0.cell, $0.rung) < ($1.cell, $1.rung) }) {
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: window.askDidFinish(ask, bytes: 40_000, at: time)
        case 2: window.askDidFail(ask)
        default: break
        }
      }
    }
    return plans
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `nothing visible is cancelled, and what is alive is wanted`(seed: UInt64) {
    var alive: Set<WindowAsk> = []
    _ = scroll(seed: seed) { window, plan, changed in
      for ask in plan.cancel where !changed.contains(ask.cell.section) {
        #expect(!window.visibleCells.contains(ask.cell))
      }
      let wanted = Set(plan.load).union(plan.prefetch)
      #expect(Set(plan.load).isDisjoint(with: plan.prefetch))
      #expect(window.inFlight.isDisjoint(with: Set(plan.cancel).subtracting(wanted)))
      for ask in plan.load { #expect(window.visibleCells.contains(ask.cell)) }
      for ask in plan.prefetch { #expect(!window.visibleCells.contains(ask.cell)) }
      alive = window.inFlight
    }
    #expect(alive.allSatisfy { $0.cell.section < 3 })
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `a random scroll leaves exactly the last window's interests`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var window = Self.window(items: 3000)
    var time = 0.0
    var place = 80_000.0
    for _ in 0..<200 {
      time += 1.0 / 60
      // To and fro, and now and then somewhere else at once.
      let isJump = Int.random(in: 0..<10, using: &random) == 0
      let way = Double(Int.random(in: isJump ? -9000..<9000 : -60..<60, using: &random))
      place = min(max(place + way, 0), 170_000)
      window.didScroll(to: place, viewLength: 844, at: time)
      _ = window.plan(at: time, link: Self.link)
      while window.takeNext() != nil {}
    }
    // What has begun to arrive is let finish; nothing else is alive that is not wanted.
    let plan = window.plan(at: time, link: Self.link)
    let wanted = Set(plan.load).union(plan.prefetch)
    let finishing = window.inFlight.subtracting(wanted)
    for ask in finishing { window.askDidFinish(ask, bytes: 40_000, at: time) }
    while window.takeNext() != nil {}
    #expect(window.inFlight.isSubset(of: wanted))
    #expect(window.inFlight.count == min(plan.inFlightLimit, wanted.count))
  }

  @Test func `plans are deterministic`() {
    for seed in 0..<10 as Range<UInt64> {
      #expect(scroll(seed: seed) { _, _, _ in } == scroll(seed: seed) { _, _, _ in })
    }
  }

  // MARK: - Ladder

  @Test func `cells that would be late get a preview first, then their own size`() {
    var configuration = VisibleWindow.Configuration()
    configuration.previewShare = 0.125
    var window = Self.window(items: 300, configuration: configuration)
    window.didScroll(to: 0, viewLength: 844, at: 0)
    let slow = LinkFigures(firstByteSeconds: 0.08, bytesPerSecond: 625_000, meanBytes: 40_000)
    let plan = window.plan(at: 0, link: slow)
    #expect(plan.load.prefix(15).allSatisfy { $0.rung == .preview })
    var rungs: [WindowCell: [WindowAsk.Rung]] = [:]
    for tick in 0..<200 {
      _ = window.plan(at: Double(tick) / 10, link: slow)
      guard let (ask, _) = window.takeNext() else { continue }
      rungs[ask.cell, default: []].append(ask.rung)
      window.askDidFinish(ask, bytes: 1000, at: Double(tick) / 10)
    }
    for item in 0..<15 {
      #expect(rungs[WindowCell(section: 0, item: item)]?.last == .full)
    }
  }

  // MARK: - Pages

  @Test func `the next page is wanted near the end of the content, or at its last item`() {
    for (ahead, offset, isWanted) in [
      (1.0, 0.0, false), (1.0, 16_000.0, false), (1.0, 16_400.0, true), (0.0, 16_400.0, false),
      (0.0, 16_975.0, false), (0.0, 16_977.0, true),
    ] {
      var configuration = VisibleWindow.Configuration()
      configuration.pageAheadScreens = ahead
      var window = VisibleWindow(configuration)
      window.sections = [
        .init(.grid(columns: 3, rowLength: 180), itemCount: 300, canAskForPage: true)
      ]
      window.didScroll(to: offset, viewLength: 844, at: 0)
      #expect(window.plan(at: 0, link: Self.link).nextPages == (isWanted ? [0] : []))
      window.sections[0].canAskForPage = false
      #expect(window.plan(at: 0, link: Self.link).nextPages == [])
    }
  }

  @Test func `empty sections near the window want their first page, far ones do not`() {
    var window = VisibleWindow()
    window.sections = (0..<40).map { _ in
      .init(.row(length: 200, itemLength: 120, viewLength: 390), canAskForPage: true)
    }
    window.didScroll(to: 0, viewLength: 844, at: 0)
    let pages = window.plan(at: 0, link: Self.link).nextPages
    #expect(pages.starts(with: [0, 1, 2, 3, 4]) && pages.count < 20)
  }

  @Test func `a row's items count where both scrolls show them`() {
    var window = VisibleWindow()
    window.sections = [
      .init(.row(length: 200, itemLength: 120, viewLength: 390), itemCount: 50),
      .init(.row(length: 200, itemLength: 120, viewLength: 390), itemCount: 50),
    ]
    window.didScroll(to: 0, viewLength: 300, at: 0)
    window.row(1, didScrollTo: 1200, at: 0)
    let plan = window.plan(at: 0, link: Self.link)
    let seen = Dictionary(grouping: plan.load.map(\.cell), by: \.section)
    #expect(seen[0]?.map(\.item) == [0, 1, 2, 3])
    #expect(seen[1]?.map(\.item) == [10, 11, 12, 13])
  }

  @Test func `nonsense is not believed`() {
    var window = VisibleWindow()
    window.sections = [
      .init(.grid(columns: 0, rowLength: 0), itemCount: 10),
      .init(.grid(columns: 3, rowLength: -.infinity), itemCount: -5),
      .init(.row(length: .nan, itemLength: 0, viewLength: 0), itemCount: 3),
      .init(.grid(columns: 3, rowLength: 180), itemCount: 30, spacingBefore: .nan),
    ]
    window.didScroll(to: .nan, viewLength: .nan, at: .nan)
    window.row(7, didScrollTo: 5, at: 0)
    window.didScroll(to: 1e300, viewLength: -4, at: 1)
    let nothing = LinkFigures(firstByteSeconds: .nan, bytesPerSecond: 0, meanBytes: -1)
    for link in [nil, nothing] { #expect(window.plan(at: 2, link: link).cancel.isEmpty) }
  }
}
