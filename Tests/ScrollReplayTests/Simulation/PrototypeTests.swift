import FoundationEssentials
import PosterCache
import ScrollReplay
import Testing

/// The figures that a small simulator in steps of 4 ms gave, which the planner was first tried in: so many
/// transfers at once, nothing else between a plan and the link.
@Suite(.timeLimit(.minutes(2)))
struct PrototypeTests {
  private static let layout = ScreenLayout(sections: [.grid(items: 3000)])

  private func run(
    _ policy: any ScrollPolicy, _ simulator: Simulator, megabits: Double, latency: Double,
    slots: Int?
  ) -> ViewerReport {
    let figures = LinkFigures(
      firstByteSeconds: latency, bytesPerSecond: megabits * 125_000, meanBytes: 44_000)
    return simulator.run(
      policy,
      SlottedFetching(
        simulator.pictures, bytesPerSecond: figures.bytesPerSecond, latency: latency,
        slots: slots ?? figures.adaptiveSlots, meanBytes: figures.meanBytes)
    ).report
  }

  /// What that simulator printed for its own traces: blank ratio and waste, for screens and slots.
  private static let rows:
    [(
      megabits: Double, latency: Double, lead: Double, trail: Double, slots: Int?, blank: Double,
      waste: Double
    )] = [
      (5, 0.08, 2.5, 1.5, 6, 0.419, 0.13), (5, 0.08, 2.5, 1.5, nil, 0.407, 0.13),
      (5, 0.08, 1, 0.5, nil, 0.417, 0.06), (20, 0.08, 2.5, 1.5, 6, 0.034, 0.18),
      (20, 0.08, 2.5, 1.5, nil, 0.027, 0.18), (20, 0.08, 1, 0.5, nil, 0.063, 0.08),
      (20, 0.2, 2.5, 1.5, 6, 0.130, 0.17), (20, 0.2, 2.5, 1.5, nil, 0.054, 0.18),
      (20, 0.2, 1, 0.5, nil, 0.109, 0.08), (100, 0.08, 2.5, 1.5, 6, 0.011, 0.19),
      (100, 0.08, 2.5, 1.5, nil, 0.009, 0.19), (100, 0.08, 1, 0.5, nil, 0.009, 0.08),
    ]

  /// The traces and sizes that it wrote, if they are there.
  private static let dump = ProcessInfo.processInfo.environment["POSTERCACHE_SCROLL_DUMP"]

  @Test(.enabled(if: Self.dump != nil))
  func `the prototype's figures come out of its own traces`() throws {
    struct Dump: Decodable {
      let sizes: [Double]
      let traces: [[[Double]]]
    }
    let file = try #require(Self.dump)
    let dump = try JSONDecoder().decode(Dump.self, from: Data(contentsOf: URL(filePath: file)))
    let pictures = SimulatedPictures(sizes: [dump.sizes.map { Int($0.rounded()) }])
    let simulators = dump.traces.map { rows in
      Simulator(
        ScrollTrace(name: "", samples: rows.map { .init(seconds: $0[0], offset: $0[1]) }),
        layout: Self.layout, pictures: pictures)
    }
    #expect(simulators.count == 6)
    for row in Self.rows {
      let reports = simulators.map { simulator in
        run(
          LookAheadPolicy(.screens(lead: row.lead, trail: row.trail), slots: row.slots), simulator,
          megabits: row.megabits, latency: row.latency, slots: row.slots)
      }
      let blank = reports.reduce(0) { $0 + $1.blankRatio } / 6
      let waste = reports.reduce(0) { $0 + $1.wasteShare } / 6
      #expect(abs(blank - row.blank) < 0.02, "\(row): \(blank)")
      #expect(abs(waste - row.waste) < 0.02, "\(row): \(waste)")
    }
    for (megabits, latency, blank) in [
      (5.0, 0.08, 0.116), (20, 0.08, 0.019), (20, 0.2, 0.031), (100, 0.08, 0.009),
    ] {
      let figures = LinkFigures(
        firstByteSeconds: latency, bytesPerSecond: megabits * 125_000, meanBytes: 44_000)
      let reports = simulators.map { simulator in
        run(
          OraclePolicy(TrueFuture(simulator.trace, layout: Self.layout), link: figures) {
            pictures.bytes(WindowAsk($0))
          }, simulator, megabits: megabits, latency: latency, slots: nil)
      }
      let mean = reports.reduce(0) { $0 + $1.blankRatio } / 6
      #expect(abs(mean - blank) < 0.01, "oracle at \(megabits) Mbit/s, \(latency) s: \(mean)")
    }
  }

  /// The same on traces of our own, to see when anything about a run changes.
  @Test(
    arguments: [
      (5.0, 0.08, 2.5, 1.5, 6, 0.4766, 0.0326), (20, 0.08, 2.5, 1.5, 6, 0.0184, 0.1281),
      (20, 0.2, 1, 0.5, nil, 0.1224, 0.0456),
    ] as [(Double, Double, Double, Double, Int?, Double, Double)])
  func `seeded traces give these figures`(
    megabits: Double, latency: Double, lead: Double, trail: Double, slots: Int?, blank: Double,
    waste: Double
  ) {
    let pictures = SimulatedPictures(counts: [3000])
    let reports = (0..<UInt64(3)).map { seed in
      let trace = ScrollTrace.seeded(.iOSFlings, seed: seed, layout: Self.layout)
      return run(
        LookAheadPolicy(.screens(lead: lead, trail: trail), slots: slots),
        Simulator(trace, layout: Self.layout, pictures: pictures), megabits: megabits,
        latency: latency, slots: slots)
    }
    let meanBlank = reports.reduce(0) { $0 + $1.blankRatio } / 3
    let meanWaste = reports.reduce(0) { $0 + $1.wasteShare } / 3
    #expect(abs(meanBlank - blank) < 0.001, "\(meanBlank)")
    #expect(abs(meanWaste - waste) < 0.001, "\(meanWaste)")
  }
}
