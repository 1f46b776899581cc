import PosterCache
import ScrollReplay
import Testing

@Suite(.timeLimit(.minutes(1)))
struct LookAheadPolicyTests {
  /// Two columns of 100 x 100, seen through 200 x 200: four cells are visible.
  private static let layout = ScreenLayout(
    view: (200, 200), cell: (100, 100), sections: [.grid(items: 100)])

  private var state = ScreenState(Self.layout)

  private func asks(_ items: some Sequence<Int>) -> [WindowAsk] {
    items.map { WindowAsk(WindowCell(section: 0, item: $0)) }
  }

  private mutating func scroll(_ policy: inout LookAheadPolicy, to offset: Double) -> WindowPlan {
    state.didScroll(to: .init(seconds: state.seconds + 1, offset: offset))
    policy.screenDidChange(to: state)
    return policy.plan(at: state.seconds, link: nil)
  }

  private func takeAll(_ policy: inout LookAheadPolicy) -> [WindowAsk] {
    var taken: [WindowAsk] = []
    while let next = policy.takeNext() {
      #expect(next.isVisible == state.isVisible(next.ask.cell))
      taken.append(next.ask)
    }
    return taken
  }

  @Test mutating func `without any look-ahead, what has left is let go of`() {
    var policy = LookAheadPolicy(.none, slots: 6)
    var plan = scroll(&policy, to: 0)
    #expect(plan.load == asks(0..<4))
    #expect(plan.prefetch.isEmpty)
    #expect(takeAll(&policy) == asks(0..<4))
    policy.askDidFinish(asks([2])[0], bytes: 1, at: 1)
    plan = scroll(&policy, to: 150)
    #expect(plan.cancel == asks([0, 1]))
    #expect(plan.load == asks([3, 4, 5, 6, 7]))
    #expect(takeAll(&policy) == asks(4..<8))
  }

  @Test mutating func `cells are loaded in the order in which they appeared`() {
    var policy = LookAheadPolicy(.none, slots: 6)
    _ = scroll(&policy, to: 400)
    let plan = scroll(&policy, to: 350)
    #expect(plan.load == asks([8, 9, 10, 11, 6, 7]))
  }

  @Test mutating func `so many items ahead, which a reversal lets go of`() {
    var policy = LookAheadPolicy(.items(3), slots: 20)
    var plan = scroll(&policy, to: 400)
    #expect(plan.prefetch == asks([12, 13, 14]))
    #expect(takeAll(&policy) == asks(8..<15))
    plan = scroll(&policy, to: 399)
    #expect(plan.cancel == asks([12, 13, 14]))
    #expect(plan.load == asks([8, 9, 10, 11, 6, 7]))
    #expect(plan.prefetch == asks([5, 4, 3]))
  }

  @Test mutating func `so many screens ahead and behind`() {
    var policy = LookAheadPolicy(.screens(lead: 1, trail: 0.5), slots: 20)
    var plan = scroll(&policy, to: 400)
    #expect(plan.prefetch == asks([12, 13, 14, 15, 7, 6]))
    _ = takeAll(&policy)
    plan = scroll(&policy, to: 399)
    #expect(plan.load == asks(6..<12))
    #expect(plan.prefetch == asks([5, 4, 3, 2, 12, 13]))
    #expect(plan.cancel == asks([14, 15]))
  }

  @Test mutating func `no more are in flight than there are slots`() {
    var policy = LookAheadPolicy(.items(20), slots: 6)
    _ = scroll(&policy, to: 0)
    #expect(takeAll(&policy) == asks(0..<6))
    policy.askDidFail(asks([1])[0])
    policy.cellHasNoPicture(WindowCell(section: 0, item: 6))
    #expect(takeAll(&policy) == asks([7]))
  }

  @Test mutating func `as many are in flight as keep the link busy`() {
    var policy = LookAheadPolicy(.items(40))
    // 2.5 MB/s x 0.2 s hold 12.5 pictures of 40 KB.
    let link = LinkFigures(firstByteSeconds: 0.2, bytesPerSecond: 2.5e6, meanBytes: 40_000)
    _ = scroll(&policy, to: 0)
    #expect(policy.plan(at: 1, link: link).inFlightLimit == 16)
    #expect(takeAll(&policy).count == 16)
    #expect(LinkFigures(firstByteSeconds: 0, bytesPerSecond: 1, meanBytes: 1).adaptiveSlots == 4)
    #expect(LinkFigures(firstByteSeconds: 9, bytesPerSecond: 1e9, meanBytes: 1).adaptiveSlots == 32)
  }

  @Test func `rows that were moved last come first, sideways`() {
    var state = ScreenState(
      ScreenLayout(
        view: (200, 200), cell: (100, 100),
        sections: [.row(items: 9), .row(items: 9), .row(items: 9)]))
    state.didScroll(to: .init(seconds: 1, offset: 0, rowOffsets: [1: 300]))
    var policy = LookAheadPolicy(.items(2), slots: 4)
    policy.screenDidChange(to: state)
    #expect(
      policy.plan(at: 1, link: nil).prefetch.map(\.cell) == [
        WindowCell(section: 1, item: 5), WindowCell(section: 1, item: 6),
        WindowCell(section: 0, item: 2), WindowCell(section: 0, item: 3),
        WindowCell(section: 2, item: 0), WindowCell(section: 2, item: 1),
      ])
  }
}
