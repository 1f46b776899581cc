import PosterCache
import ScrollReplay
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ViewerTallyTests {
  private func cell(_ item: Int) -> WindowCell { WindowCell(section: 0, item: item) }

  /// Cells 0 and 1 from 0 s to 1 s, 1 and 2 until 3 s, 3 never.
  private func example() -> ViewerTally {
    var tally = ViewerTally()
    tally.screenDidChange(to: [0..<2], at: 0)
    tally.pictureDidArrive(WindowAsk(cell(1)), isPrefetch: false)
    tally.pictureDidAppear(in: cell(1), .full, at: 0.25)
    tally.bytesDidArrive(300, for: cell(0))
    tally.bytesDidArrive(1000, for: cell(1))
    tally.pictureDidArrive(WindowAsk(cell(2), .preview), isPrefetch: true)
    tally.pictureDidAppear(in: cell(2), .preview, at: 0.5)
    tally.bytesDidArrive(100, for: cell(2))
    tally.screenDidChange(to: [1..<3], at: 1)
    tally.pictureDidArrive(WindowAsk(cell(3)), isPrefetch: true)
    tally.bytesDidArrive(600, for: cell(3))
    tally.pictureDidAppear(in: cell(2), .full, at: 2.5)
    return tally
  }

  @Test func `a small example comes out as by hand`() {
    let report = example().report(at: 3)
    #expect(report.cells == 3)
    #expect(report.visits == 3)
    #expect(report.neverSeen == 1)
    // Cell 0: 1 s blank. Cell 1: 0.25 s blank of 3 s. Cell 2: 1.5 s soft of 2 s.
    #expect(report.visibleMilliseconds == 6000)
    #expect(report.blankMilliseconds == 1250)
    #expect(report.softMilliseconds == 1500)
    #expect(report.laterBlankMilliseconds == 0)
    let blank = 1250.0 / 6000
    #expect(report.blankRatio == blank)
    #expect(report.softRatio == 0.25)
    // The waits are 1 s (never seen), 0.25 s and 0.
    #expect(report.waitMilliseconds == .init(p50: 250, p95: 1000, p99: 1000))
    #expect(report.prefetched == 2)
    #expect(report.used == 1)
    #expect(report.receivedBytes == 2000)
    #expect(report.wastedBytes == 600)
    #expect(report.wasteShare == 0.3)
  }

  @Test func `a report changes nothing, and what is still blank counts as never seen`() {
    var tally = example()
    #expect(tally.report(at: 3) == tally.report(at: 3))
    tally.screenDidChange(to: [1..<4], at: 3)
    let report = tally.report(at: 4)
    #expect(report.neverSeen == 2)
    #expect(report.visibleMilliseconds == 9000)
    #expect(report.blankMilliseconds == 2250)
    #expect(report.laterBlankMilliseconds == 1000)
    #expect(report.wastedBytes == 0)
    #expect(report.used == 2)
  }

  @Test func `a cell that comes back is another visit`() {
    var tally = ViewerTally()
    tally.screenDidChange(to: [0..<1], at: 0)
    tally.pictureDidAppear(in: cell(0), .full, at: 1)
    tally.screenDidChange(to: [5..<6], at: 2)
    tally.screenDidChange(to: [0..<1], at: 3)
    var report = tally.report(at: 4)
    #expect(report.visits == 3)
    #expect(report.cells == 2)
    #expect(report.blankMilliseconds == 2000)
    #expect(report.waitMilliseconds.p50 == 1000)
    // Its picture is lost, and comes again.
    tally.pictureDidVanish(from: cell(0), at: 4)
    tally.pictureDidAppear(in: cell(0), .full, at: 4.5)
    report = tally.report(at: 5)
    #expect(report.blankMilliseconds == 2500)
    #expect(report.neverSeen == 1)
  }

  @Test func `cells without a picture do not count`() {
    var tally = ViewerTally()
    tally.cellHasNoPicture(cell(1))
    tally.screenDidChange(to: [0..<2], at: 0)
    tally.pictureDidAppear(in: cell(0), .full, at: 0)
    let report = tally.report(at: 10)
    #expect(report.cells == 1)
    #expect(report.visits == 1)
    #expect(report.visibleMilliseconds == 10_000)
    #expect(report.blankRatio == 0)
    #expect(ViewerTally().report(at: 1).blankRatio == 0)
  }
}
