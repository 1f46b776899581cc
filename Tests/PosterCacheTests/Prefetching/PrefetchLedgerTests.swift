import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct PrefetchLedgerTests {
  private static let grid = VisibleWindow.Layout.grid(columns: 3, rowLength: 180)

  /// A section of `count` items that are all there.
  private func world(
    _ count: Int, wishLimit: Int = 2, blanks: Set<Int> = [], hasMore: Bool = false
  ) -> LedgerWorld {
    var configuration = Prefetcher.Configuration()
    configuration.wishLimit = wishLimit
    var world = LedgerWorld(configuration)
    world.append(Self.grid)
    world.loadPage(1, (0..<count).map { blanks.contains($0) }, hasMore: hasMore)
    return world
  }

  private func cells(_ items: some Sequence<Int>, section: Int = 0) -> [WindowCell] {
    items.map { WindowCell(section: section, item: $0) }
  }

  private func started(_ world: LedgerWorld) -> [Int] { world.started.map(\.ask.cell.item) }

  private func wanted(_ world: LedgerWorld) -> [Int] {
    world.tickets.values.map(\.ask.cell.item).sorted()
  }

  @Test func `wishes start in their order, some at a time, without any position`() {
    var world = world(9, blanks: [4])
    world.wish(cells([5, 3, 4, 8, 3, 99]))
    #expect(started(world) == [5, 3])
    world.finish(world.tickets.keys.min() ?? 0)
    #expect(started(world) == [5, 3, 8])
    world.wish(cells([5]))
    #expect(started(world) == [5, 3, 8])
    #expect(world.started.allSatisfy { $0.priority == .prefetch })
    #expect(world.flaws == [])
  }

  @Test func `a later prefetch wins over an earlier cancel, and a later cancel over that`() {
    var world = world(9)
    world.takeBack(cells([1]))
    world.wish(cells([1]))
    #expect(wanted(world) == [1])
    world.takeBack(cells([1, 1, 2, 77]))
    #expect(wanted(world) == [])
    world.wish(cells([1]))
    #expect(wanted(world) == [1])
    #expect(world.flaws == [])
  }

  @Test
  func `a prefetch whose cell is bound is asked for as visible, and its cancel changes nothing`() {
    var world = world(9)
    world.wish(cells([1]))
    world.bind(WindowCell(section: 0, item: 1))
    #expect(world.started.map(\.priority) == [.prefetch, .visible])
    world.takeBack(cells([1]))
    #expect(world.tickets.count == 2)
    // The visible one decides, the other one is let go of with it.
    world.finish(world.tickets.keys.max() ?? 0)
    #expect(world.tickets.isEmpty && world.ledger.statistics.dropped == 1)
    #expect(world.flaws == [])
  }

  @Test func `what is visible is asked for as visible, and let go of when it is far away`() {
    var world = world(300)
    world.scroll(to: 0)
    #expect(world.started.first?.priority == .visible)
    let before = wanted(world)
    #expect(!before.isEmpty)
    world.pass(0.01)
    world.scroll(to: 15_000)
    #expect(Set(wanted(world)).isDisjoint(with: before))
    #expect(world.flaws == [])
  }

  @Test func `of a visible cell the window decides, but for what has come or failed before`() {
    var world = world(300)
    world.scroll(to: 0)
    let first = world.tickets.keys.min() ?? 0
    let (cell, count) = (world.tickets[first]?.ask.cell, world.started.count)
    guard let cell else { return }
    world.bind(cell)
    #expect(world.started.count == count)
    world.fail(first)
    #expect(!world.tickets.values.contains { $0.ask.cell == cell })
    world.bind(cell)
    #expect(world.started.last.map { $0.ask.cell == cell && $0.priority == .visible } == true)
    world.settleDown()
    #expect(world.tickets.isEmpty)
    // Its pixels are not at hand any more, or others are needed.
    world.bind(cell)
    #expect(world.tickets.values.map(\.ask.cell) == [cell])
    #expect(world.started.last?.priority == .visible)
    #expect(world.flaws == [])
  }

  @Test func `after the last report of a position it rests, and the plan is made anew once`() {
    var world = world(300)
    world.scroll(to: 0)
    #expect(world.ledger.nextWake == 0.12)
    world.pass(0.05)
    world.scroll(to: 10)
    #expect(abs((world.ledger.nextWake ?? 0) - 0.17) < 1e-9)
    world.pass(0.13)
    #expect(world.ledger.nextWake == nil)
  }

  @Test func `the last item asks for the next page, once`() {
    var world = world(20, hasMore: true)
    #expect(world.pagesAsked == [0])
    world.wish(cells([18]))
    #expect(world.pagesAsked == [0])
    world.wish(cells([19, 19]))
    world.wish(cells([19]))
    world.bind(WindowCell(section: 0, item: 19))
    #expect(world.pagesAsked == [0, 0])
    world.loadPage(world.pages.keys.min() ?? 0, [false], hasMore: false)
    world.wish(cells([20]))
    #expect(world.pagesAsked == [0, 0])
    #expect(world.flaws == [])
  }

  @Test func `the next page is asked for when the end of the content is near`() {
    var world = world(60, hasMore: true)
    // 20 rows of 180: the end is at 3600.
    world.scroll(to: 0)
    #expect(world.pagesAsked == [0])
    // So fast that it is a jump, behind which nothing moves.
    world.pass(0.01)
    world.scroll(to: 3600 - 844 - 850)
    #expect(world.pagesAsked == [0])
    world.pass(1)
    world.scroll(to: 3600 - 844 - 840)
    #expect(world.pagesAsked == [0, 0])
    #expect(world.flaws == [])
  }

  @Test func `a page that failed comes by itself, and stale ones are ignored`() {
    var world = world(20, hasMore: true)
    world.wish(cells([19]))
    let stale = world.pages.keys.min() ?? 0
    world.failPage(stale, .mayPass)
    #expect(world.ledger.nextWake == 1)
    world.loadPage(stale, [false], hasMore: true)
    #expect(world.items[0].count == 20)
    world.pass(1)
    #expect(world.pagesAsked == [0, 0, 0])
    let old = world.pages.keys.min() ?? 0
    world.replace(0)
    #expect(world.pagesAsked == [0, 0, 0, 0])
    world.loadPage(old, [false], hasMore: true)
    #expect(world.items[0].isEmpty)
    world.failPage(world.pages.keys.min() ?? 0, .refused)
    world.retry(0)
    world.pass(100)
    #expect(world.pagesAsked.count == 4)
    #expect(world.flaws == [])
  }

  @Test func `a page behind an item that is looked at comes again, whoever takes back its wish`() {
    var world = world(20, hasMore: true)
    world.wish(cells([19]))
    world.bind(WindowCell(section: 0, item: 19))
    world.takeBack(cells([19]))
    world.failPage(world.pages.keys.min() ?? 0, .mayPass)
    world.pass(1)
    #expect(world.pagesAsked == [0, 0, 0])
    // Nobody looks at it any more.
    world.unbind(WindowCell(section: 0, item: 19))
    world.takeBack(cells([19]))
    world.failPage(world.pages.keys.min() ?? 0, .mayPass)
    world.pass(100)
    #expect(world.pagesAsked.count == 3)
    #expect(world.flaws == [])
  }

  @Test func `whoever goes on scrolling at the end does not hurry a page that failed`() {
    var world = world(60, hasMore: true)
    let end = 3600.0 - 844
    world.scroll(to: end)
    for (failures, wait) in [1.0, 2, 4].enumerated() {
      #expect(world.pagesAsked.count == failures + 2)
      // Planned while the page is on its way.
      world.pass(0.1)
      world.scroll(to: end - 1)
      world.failPage(world.pages.keys.min() ?? 0, .mayPass)
      for step in 1...9 {
        world.pass(wait / 10)
        world.scroll(to: end - Double(step % 2))
      }
      #expect(world.pagesAsked.count == failures + 2)
      world.pass(wait / 5)
    }
    #expect(world.pagesAsked.count == 5)
    world.scroll(to: end)
    world.failPage(world.pages.keys.min() ?? 0, .hopeless)
    world.pass(100)
    world.scroll(to: end - 1)
    #expect(world.pagesAsked.count == 5)
    // Away and back again is news.
    world.scroll(to: 0)
    world.pass(1)
    world.scroll(to: end)
    #expect(world.pagesAsked.count == 6)
    #expect(world.flaws == [])
  }

  @Test func `a list that grows keeps what is on its way, one that shrinks only what is left`() {
    var world = world(9, wishLimit: 9)
    world.wish(cells([1, 5, 8]))
    world.setItems(Array(repeating: false, count: 12), in: 0, kept: 9)
    #expect(wanted(world) == [1, 5, 8] && started(world).count == 3)
    world.setItems(Array(repeating: false, count: 6), in: 0, kept: 6)
    #expect(wanted(world) == [1, 5] && started(world).count == 3)
    world.setItems(Array(repeating: false, count: 6), in: 0, kept: 2)
    #expect(wanted(world) == [])
    #expect(world.flaws == [])
  }

  @Test func `a section that is removed takes what it wants along, and no other's`() {
    var world = world(9, wishLimit: 9)
    world.append(Self.grid)
    world.loadPage(world.pages.keys.min() ?? 0, Array(repeating: false, count: 9), hasMore: false)
    world.wish(cells([1, 2]) + cells([3, 4], section: 1))
    world.remove(0)
    #expect(wanted(world) == [3, 4] && world.started.count == 4)
    #expect(world.tickets.values.allSatisfy { $0.ask.cell.section == 0 })
    #expect(world.flaws == [])
  }

  @Test func `a stop lets go of everything, and whatever is reported goes on`() {
    var world = world(60, hasMore: true)
    world.scroll(to: 3600 - 844)
    world.wish(cells(0..<60))
    #expect(!world.tickets.isEmpty && world.pages.count == 1)
    world.stop()
    #expect(world.tickets.isEmpty && world.pages.isEmpty && world.ledger.nextWake == nil)
    world.takeBack(cells([1]))
    #expect(world.tickets.isEmpty)
    world.pass(1)
    world.scroll(to: 3600 - 844)
    #expect(!world.tickets.isEmpty && world.pages.count == 1)
    #expect(world.flaws == [])
  }

  @Test func `visible items tell where the scrolls stand`() {
    var world = world(60)
    world.append(.row(length: 200, itemLength: 130, viewLength: 390))
    world.loadPage(world.pages.keys.min() ?? 0, Array(repeating: false, count: 40), hasMore: false)
    world.show(cells(57..<60) + cells(10..<13, section: 1))
    #expect(
      world.ledger.window.visibleCells
        == Set(cells(57..<60) + cells(10..<13, section: 1)))
    world.show(cells([99]))
    world.show([])
    world.pass(1)
    world.show(cells(0..<12).reversed())
    #expect(world.ledger.window.visibleCells == Set(cells(0..<12)))
    #expect(world.flaws == [])
  }

  // MARK: - What is not forgotten

  @Test func `a page whose end was left while it was on its way is not asked for by time alone`() {
    var world = world(300, hasMore: true)
    world.scroll(to: 17_000)
    #expect(world.pagesAsked == [0, 0])
    world.scroll(to: 0)
    world.failPage(world.pages.keys.min() ?? 0, .mayPass)
    for _ in 0..<20 { world.pass(5) }
    #expect(world.pagesAsked == [0, 0])
    world.scroll(to: 17_000)
    #expect(world.pagesAsked == [0, 0, 0])
    #expect(world.flaws == [])
  }

  @Test func `a visible slot gets a picture that was lost though its wish was taken back`() {
    var world = world(9)
    world.scroll(to: 0)
    world.settleDown()
    world.lose(WindowCell(section: 0, item: 4))
    world.wish(cells([4]))
    world.takeBack(cells([4]))
    world.bind(WindowCell(section: 0, item: 4))
    #expect(wanted(world) == [4])
    #expect(world.flaws == [])
  }

  @Test func `a slot that waits for a wish keeps its picture coming when that is taken back`() {
    var world = world(300)
    world.scroll(to: 0)
    world.settleDown()
    world.wish(cells([200]))
    world.bind(WindowCell(section: 0, item: 200))
    world.takeBack(cells([200]))
    #expect(wanted(world) == [200])
    world.unbind(WindowCell(section: 0, item: 200))
    #expect(wanted(world) == [])
    #expect(world.flaws == [])
  }

  @Test func `cells that a scroll bar only passes are not asked for, those at its end are`() {
    var world = world(3000)
    world.scroll(to: 0)
    world.settleDown()
    let before = world.started.count
    for jump in 1...5 {
      world.pass(0.016)
      world.scroll(to: Double(jump) * 18_000)
      let items = cells(jump * 300..<jump * 300 + 12)
      if jump > 1 { for cell in items { world.bind(cell) } }
      if jump > 1 { #expect(world.tickets.isEmpty) }
      if jump > 1, jump < 5 { for cell in items { world.unbind(cell) } }
    }
    #expect(started(world).dropFirst(before).allSatisfy { $0 < 900 })
    world.pass(0.2)
    let visible = world.tickets.values.filter { $0.priority == .visible }.map(\.ask.cell.item)
    #expect(!visible.isEmpty && visible.allSatisfy { (1500..<1515).contains($0) })
    #expect(world.flaws == [])
  }

  @Test func `the window decides once a position is known and until it is stopped`() {
    var world = world(9)
    #expect(!world.ledger.isPlanning)
    world.row(0, to: 5)
    world.scroll(to: .nan)
    #expect(!world.ledger.isPlanning && !world.ledger.hasPositions)
    world.bind(WindowCell(section: 0, item: 3))
    #expect(world.started.map(\.priority) == [.visible], "nobody knows what else is visible")
    world.scroll(to: 0)
    #expect(world.ledger.isPlanning)
    world.stop()
    #expect(!world.ledger.isPlanning)
    world.scroll(to: 0)
    #expect(world.ledger.isPlanning)
  }

  @Test func `layouts at the end of their range are no trap`() {
    var world = LedgerWorld()
    world.append(.grid(columns: .max, rowLength: .infinity))
    world.append(.row(length: 1e300, itemLength: 1e300, viewLength: 1e300))
    for section in 0..<2 {
      world.setItems([false, false, false], in: section, kept: 0)
      world.show(cells([0, 2], section: section))
    }
    world.settleDown()
    #expect(world.flaws == [])
  }
}
