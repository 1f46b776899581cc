import Testing

@testable import PosterCache

/// What is measured of a link by those who use it sparingly, in virtual time.
@Suite(.timeLimit(.minutes(1)))
struct LinkEstimateTests {
  /// How a link is used.
  enum Use: CaseIterable, Sendable {
    /// A row of three pictures now and then.
    case rows
    /// As many as are planned in flight for 0.7 seconds, then none for a second, as who scrolls does.
    case flings
    /// One picture after the other, with pauses.
    case single

    /// Uses `link` for a millisecond.
    func tick(_ link: inout LinkModel, _ millisecond: Int) throws {
      switch self {
      case .rows: if millisecond % 300 == 0 { for _ in 0..<3 { try link.ask(.visible) } }
      case .flings:
        while millisecond % 1700 < 700, link.waitingCount < link.plannedCount { try link.ask() }
      case .single: if millisecond % 400 == 0 { try link.ask(.visible) }
      }
      link.tick()
    }
  }

  /// Uses `link` for `seconds`, and says how far off the figures were at worst once `count` pictures had
  /// come: what is known of the bandwidth, over what it is.
  private func extremes(
    _ link: inout LinkModel, _ use: Use, seconds: Int, after count: Int
  ) throws -> (least: Double, most: Double) {
    var extremes = (least: Double.infinity, most: 0.0)
    for millisecond in 0..<seconds * 1000 {
      try use.tick(&link, millisecond)
      guard link.pictureCount >= count, let figures = link.figures else { continue }
      let share = figures.bytesPerSecond / link.bandwidth
      extremes = (min(extremes.least, share), max(extremes.most, share))
    }
    return extremes
  }

  @Test(arguments: [5.0, 20, 100], Use.allCases)
  func `a bandwidth is known after 40 posters, however few are in flight, and stays known`(
    megabits: Double, use: Use
  ) throws {
    var link = LinkModel(megabits: megabits)
    let share = try extremes(&link, use, seconds: 60, after: 40)
    #expect(share.least > 0.8 && share.most < 1.2, "\(share)")
    let figures = try #require(link.figures)
    #expect(figures.firstByteSeconds > 0.075 && figures.firstByteSeconds < 0.09)
    #expect(figures.meanBytes > 25_000 && figures.meanBytes < 55_000)
  }

  @Test func `few in flight grow to as many as a fast link can bear`() throws {
    var link = LinkModel(megabits: 100)
    #expect(link.plannedCount == 4)
    var known: Int?
    for millisecond in 0..<5000 {
      try Use.flings.tick(&link, millisecond)
      if known == nil, link.plannedCount >= 25 { known = millisecond }
    }
    // 1 MB is on its way there, 25 posters.
    #expect(try #require(known) < 1000)
  }

  @Test(arguments: [Use.flings, .rows])
  func `a link that has become faster is known at once, and a slower one after 20 seconds`(
    use: Use
  ) throws {
    var link = LinkModel(megabits: 5)
    _ = try extremes(&link, use, seconds: 30, after: 0)
    link.bandwidth *= 20
    let faster = try extremes(&link, use, seconds: 20, after: link.pictureCount + 40)
    #expect(faster.least > 0.8 && faster.most < 1.2, "\(faster)")
    link.bandwidth /= 20
    _ = try extremes(&link, use, seconds: 22, after: 0)
    let slower = try extremes(&link, use, seconds: 20, after: 0)
    #expect(slower.least > 0.8 && slower.most < 1.2, "\(slower)")
  }

  /// A server begins anew after each pause.
  @Test(arguments: [5.0, 20, 100])
  func `where servers begin slowly, more in flight show what the link can bear`(
    megabits: Double
  ) throws {
    var link = LinkModel(megabits: megabits)
    link.hasSlowStart = true
    let share = try extremes(&link, .flings, seconds: 40, after: 300)
    #expect(share.least > 0.5 && share.most < 1.2, "\(share)")
  }

  @Test(arguments: [5.0, 20, 100], [1, 2] as [UInt64])
  func `a fetch thread that is held up does not take a link for faster than it is`(
    megabits: Double, seed: UInt64
  ) throws {
    for use in Use.allCases {
      var link = LinkModel(megabits: megabits, seed: seed)
      link.stallsPerSecond = 10
      let share = try extremes(&link, use, seconds: 20, after: 40)
      #expect(share.least > 0.6 && share.most < 1.2, "\(use) \(share)")
    }
  }

  // MARK: - The meter

  private static let millisecond: UInt64 = 1_000_000

  @Test func `what is there when an answer begins does not count, nor does the time between two`() {
    var meter = ReceiveMeter()
    var now: UInt64 = 5
    for _ in 0..<10 {
      meter.answerDidBegin(now: now)
      meter.didReceive(100_000, now: now)
      for _ in 0..<5 {
        now += Self.millisecond
        meter.didReceive(1_000, now: now)
      }
      meter.answerDidEnd(now: now)
      now += 300 * Self.millisecond
    }
    // 5,000 bytes in 5 ms, ten times; that is known when something else comes.
    #expect(meter.takeRate(since: meter.bytes, seconds: 1) == 0)
    meter.answerDidBegin(now: now)
    meter.didReceive(1, now: now + Self.millisecond)
    #expect(meter.takeRate(since: meter.bytes, seconds: 1) == 1_000_000)
    #expect(meter.takeRate(since: meter.bytes, seconds: 1) == 0)
    #expect(meter.bytes == 1_050_001)
    #expect(meter.takeRate(since: 50_001, seconds: 0.5) == 2_000_000)
  }

  @Test func `answers that overlap are one measurement, and a wait within one counts`() {
    var meter = ReceiveMeter()
    meter.answerDidBegin(now: 1)
    meter.answerDidBegin(now: 1)
    meter.didReceive(30_000, now: 1 + 20 * Self.millisecond)
    meter.answerDidEnd(now: 1 + 20 * Self.millisecond)
    meter.didReceive(20_000, now: 1 + 40 * Self.millisecond)
    meter.answerDidBegin(now: 1 + 100 * Self.millisecond)
    // Neither the first nor the last of those that are read at the same time ends the measurement.
    meter.didReceive(10_000, now: 1 + 100 * Self.millisecond)
    meter.didReceive(40_000, now: 1 + 100 * Self.millisecond)
    meter.answerDidEnd(now: 1 + 100 * Self.millisecond)
    meter.answerDidEnd(now: 1 + 101 * Self.millisecond)
    #expect(meter.takeRate(since: meter.bytes, seconds: 1) == 1_000_000)
  }
}
