import PosterCache
import ScrollReplay
import Testing

@Suite(.timeLimit(.minutes(2)))
struct SimulatorTests {
  /// Two columns of 100 x 100, seen through 200 x 200.
  private static let small = ScreenLayout(
    view: (200, 200), cell: (100, 100), sections: [.grid(items: 100)])
  private static let pictures = SimulatedPictures(
    sizes: [Array(repeating: 25_000, count: 100)], previewShare: 0.1)

  private func trace(_ samples: [(Double, Double)]) -> ScrollTrace {
    ScrollTrace(name: "test", samples: samples.map { .init(seconds: $0.0, offset: $0.1) })
  }

  /// 1 MB/s and 100 ms: four pictures at once have their first bytes at 0.2 s and are there at 0.3 s.
  @Test func `a screen that does not move fills as the link allows`() {
    let simulator = Simulator(
      trace([(0, 0), (1, 0)]), layout: Self.small, pictures: Self.pictures)
    let result = simulator.run(LookAheadPolicy(.none), bytesPerSecond: 1e6, latency: 0.1)
    #expect(abs(result.report.blankRatio - 0.3) < 1e-6)
    #expect(abs(result.report.waitMilliseconds.p50 - 300) < 1e-3)
    #expect(result.report.cells == 4)
    #expect(result.report.receivedBytes == 100_000)
    #expect(result.report.wastedBytes == 0)
    #expect(result.report.prefetched == 0)
  }

  /// Two more cells take 0.15 s on used connections, and up to 16 ms until there is a plan.
  @Test func `what comes into sight later is fetched then, or was before`() {
    let moves = trace([(0, 0), (0.65, 50), (1.65, 50)])
    let simulator = Simulator(moves, layout: Self.small, pictures: Self.pictures)
    let late = simulator.run(LookAheadPolicy(.none), bytesPerSecond: 1e6, latency: 0.1).report
    #expect((1499.9...1500 + 2 * 16).contains(late.blankMilliseconds))
    let early = simulator.run(LookAheadPolicy(.items(2)), bytesPerSecond: 1e6, latency: 0.1).report
    #expect(early.prefetched == 4)
    #expect(early.used == 2)
    #expect(early.wastedBytes == 50_000)
    // Six share the link: one has to wait for another's connection, as they are more than fill the link.
    #expect(early.neverSeen == 0)
    #expect(early.blankMilliseconds < 1401)
  }

  @Test func `whoever has had enough gets what there is`() {
    let simulator = Simulator(
      trace([(0, 0), (1, 0)]), layout: Self.small, pictures: Self.pictures)
    var steps = 0
    let result = simulator.run(LookAheadPolicy(.none), bytesPerSecond: 1e6, latency: 0.1) {
      steps += 1
      return steps > 10
    }
    #expect(steps == 11 && result.plans <= 10 && result.report.receivedBytes == 0)
    #expect((1...4 * 160).contains(result.report.visibleMilliseconds))
  }

  @Test func `a cell that comes back has its picture at once`() {
    let moves = trace([(0, 0), (1, 1000), (2, 0), (3, 0)])
    let simulator = Simulator(moves, layout: Self.small, pictures: Self.pictures)
    let report = simulator.run(LookAheadPolicy(.none), bytesPerSecond: 1e6, latency: 0.1).report
    #expect(report.visits == 12)
    #expect((1999.9...2000 + 4 * 16).contains(report.blankMilliseconds))
  }

  @Test func `an oracle has there what comes into sight`() {
    let moves = trace([(0, 0), (1, 1000), (2, 1000)])
    let simulator = Simulator(moves, layout: Self.small, pictures: Self.pictures)
    let link = LinkFigures(firstByteSeconds: 0.1, bytesPerSecond: 1e6, meanBytes: 25_000)
    let oracle = OraclePolicy(TrueFuture(moves, layout: Self.small), link: link) { _ in 25_000 }
    let report = simulator.run(oracle, bytesPerSecond: 1e6, latency: 0.1).report
    #expect(report.wastedBytes == 0)
    #expect(report.used == 4)
    #expect(report.blankMilliseconds < 4 * 400)
    #expect(report.visits == 8)
  }

  @Test func `the future is when which cell is visible`() {
    let future = TrueFuture(trace([(0, 0), (1, 100), (2, 0), (3, 0)]), layout: Self.small)
    let first = future.visits.filter { $0.cell.item == 0 }
    #expect(first.map(\.enter) == [0, 2])
    #expect(first.map(\.leave) == [1, 3])
    #expect(future.visits.filter { $0.cell.item == 4 }.map(\.leave) == [2])
    #expect(future.visits.count == 8)
  }

  @Test(arguments: TraceKind.allCases)
  func `the same run gives the same numbers`(kind: TraceKind) {
    let layout =
      kind == .rows
      ? ScreenLayout(sections: Array(repeating: .row(items: 30), count: 20), spacing: 40)
      : ScreenLayout(sections: [.grid(items: 600)])
    let pictures = SimulatedPictures(counts: layout.sections.map(\.itemCount))
    let trace = ScrollTrace.seeded(kind, seed: 11, seconds: 6, layout: layout)
    let simulator = Simulator(trace, layout: layout, pictures: pictures)
    var policies: [any ScrollPolicy] = [
      LookAheadPolicy(.none), LookAheadPolicy(.items(12), slots: 6),
      LookAheadPolicy(.screens(lead: 2.5, trail: 1.5)), AdaptivePolicy(),
    ]
    let link = LinkFigures(firstByteSeconds: 0.08, bytesPerSecond: 2.5e6, meanBytes: 44_000)
    policies.append(
      OraclePolicy(TrueFuture(trace, layout: layout), link: link) { pictures.bytes(WindowAsk($0)) })
    for policy in policies {
      let first = simulator.run(policy, bytesPerSecond: 2.5e6, latency: 0.08)
      #expect(first == simulator.run(policy, bytesPerSecond: 2.5e6, latency: 0.08))
      #expect(first.report.visits >= first.report.cells)
      #expect(first.report.visibleMilliseconds > 0)
      #expect((0...1).contains(first.report.blankRatio))
      #expect((0...1).contains(first.report.wasteShare))
      #expect(first.report.used <= first.report.prefetched)
    }
  }
}
