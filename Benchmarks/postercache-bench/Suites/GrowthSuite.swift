import Glibc
import PosterCache

/// What a larger cache costs: opening, hits, misses, inserts, evictions and memory, from a thousand
/// entries to a million.
struct GrowthSuite: Suite {
  static let name = "growth"
  static let abstract = "the disk tier from a thousand entries to a million"

  /// The largest cache on the disk, 4 GiB; beside it, the bare store takes as much again.
  private static let largestOnDisk = 1_000_000
  /// Rounds of opening, each in a process of its own.
  private static let openings = 5
  /// Hits after which a process' memory is looked at, and in which calls are counted.
  private static let probedHits = 10_000

  private let context: BenchContext

  init(_ context: BenchContext) {
    self.context = context
  }

  func run() async throws -> SuiteReport {
    let sizes = [1000, 10_000, 100_000] + (context.options.isQuick ? [] : [1_000_000])
    var report = SuiteReport(
      name: Self.name,
      summary: """
        Posters of 64 bytes, each a record of one block of 4 KiB, in a directory for each number of \
        entries. Beside each cache, a bare LMDB table of as many rows of the same size and a file of \
        as many blocks, which does what hardware and LMDB make unavoidable: what grows there grows \
        because processor caches and page tables are what they are. All caches take turns within \
        each round; figures are medians over the rounds. One thread.
        """)
    for target in (context.memory.map { [$0] } ?? []) + [context.disk] {
      let isMemory = target.fileSystem == "tmpfs"
      report.tables.append(
        try await table(isMemory ? sizes : sizes.filter { $0 <= Self.largestOnDisk }, on: target))
    }
    return report
  }

  /// Medians of one measurement, one for each size.
  private typealias Medians = [Double]

  private func table(_ sizes: [Int], on target: WorkDirectory) async throws -> FigureTable {
    var stages: [GrowthStage] = []
    for size in sizes {
      BenchContext.progress("growth: \(size) entries on \(target.fileSystem)")
      stages.append(try GrowthStage(size, in: target))
    }
    defer { for stage in stages { stage.remove() } }

    var rows = try probe(sizes, stages.map(\.directory))
    for stage in stages { try stage.open() }
    var medians: [GrowthStage.Work: Medians] = [:]
    for work in GrowthStage.Work.allCases {
      let measured = try measure(work, stages, target)
      medians[work] = measured
      rows.append(
        FigureTable.Row(
          name: "\(work.title), µs", values: Self.withGrowth(measured.map { $0 * 1e6 })))
    }
    func growth(_ work: GrowthStage.Work) -> (first: Double?, last: Double?) {
      (medians[work]?.first, medians[work]?.last)
    }
    func row(_ name: String) -> [Double?] { rows.first { $0.name == name }?.values ?? [] }
    let calls = row(Self.callsName)
    let (opened, used) = (row(Self.openedName), row(Self.usedName))
    let (hit, insert) = (growth(.hit), growth(.insertAtLimit))
    let (bareHit, evict) = (growth(.bareHit), growth(.evict))
    return FigureTable(
      title: "Growth on \(target.fileSystem)",
      conditions: """
        Inserts at the limit: the limit is what is used, so that each evicts another; batches of 64, \
        the index synced once a second. The bare store puts 64 rows, and at the limit deletes 64 \
        others, in a transaction and writes their blocks at once, but gives no blocks back. Evicting \
        by name waits for its commit each time. Opening, its system calls and memory are those of \
        fresh processes: anonymous resident memory, without pages of mapped files, beyond what the \
        process had before; system calls are those of the thread that opens, `futex` and what gets \
        memory left out. The last column is the last figure divided by the first.
        """,
      columns: sizes.map { "\($0)" } + ["growth"], rows: rows,
      demands: [
        FigureTable.Demand(
          "system calls of opening, the most divided by the fewest",
          calls.dropLast().compactMap { $0 }.max(), over: calls.dropLast().compactMap { $0 }.min(),
          atMost: 1),
        FigureTable.Demand("growth of a hit", hit.last, over: hit.first, atMost: 1.5),
        FigureTable.Demand(
          "growth of a hit, divided by that of the bare loop",
          hit.last.flatMap { last in hit.first.map { last / $0 } },
          over: bareHit.last.flatMap { last in bareHit.first.map { last / $0 } }, atMost: 1),
        FigureTable.Demand(
          "growth of an insert at the limit", insert.last, over: insert.first, atMost: 1.5),
        FigureTable.Demand(
          "growth of evicting one by name", evict.last, over: evict.first, atMost: 1.5),
        FigureTable.Demand(
          text: "MiB of memory after opening, most less least", value: Self.range(opened), bound: 1),
        // LMDB keeps the buffers of the pages that one transaction changed: 4 MiB of them at most.
        FigureTable.Demand(
          text: "MiB of memory after the hits, most less least",
          value: Self.range(used), bound: 6),
      ])
  }

  // MARK: - Fresh processes

  private static let callsName = "system calls of opening"
  private static let openedName = "memory after opening, MiB"
  private static let usedName = "memory after \(probedHits) hits, MiB"

  private func probe(_ sizes: [Int], _ directories: [String]) throws -> [FigureTable.Row] {
    var findings = sizes.map { _ in [CacheProbe.Findings]() }
    var calls = sizes.map { _ in Double?.none }
    for round in 0...Self.openings {
      for (place, size) in sizes.enumerated() {
        BenchContext.progress("growth: opening \(size) entries, round \(round)")
        let probe = CacheProbe(
          directory: directories[place], entries: size, hits: Self.probedHits)
        findings[place].append(try probe.run())
        guard round == 0 else { continue }
        calls[place] = try probe.systemCalls(log: "\(context.disk.path)/calls")?
          .total(CacheProbe.Phase.opening.rawValue, ownThread: true)
      }
    }
    func medians(_ value: (CacheProbe.Findings) -> Double) -> [Double?] {
      Self.withGrowth(findings.map { Spread($0.dropFirst().map(value))?.median ?? 0 })
    }
    let mebibyte = Double(1 << 20)
    return [
      FigureTable.Row(name: "opening, ms", values: medians { $0.opening * 1e3 }),
      FigureTable.Row(name: Self.callsName, values: Self.withGrowth(calls)),
      FigureTable.Row(
        name: Self.openedName,
        values: medians { Double($0.anonymousAfterOpening - $0.anonymousBefore) / mebibyte }),
      FigureTable.Row(
        name: Self.usedName,
        values: medians { Double($0.anonymousAfterHits - $0.anonymousBefore) / mebibyte }),
    ]
  }

  // MARK: - This process

  /// Seconds for one of `work`, as medians over the rounds, the stages taking turns.
  private func measure(
    _ work: GrowthStage.Work, _ stages: [GrowthStage], _ target: WorkDirectory
  ) throws -> Medians {
    let rounds = context.options.rounds ?? (context.options.isQuick ? 5 : 9)
    var samples = stages.map { _ in [Double]() }
    for stage in stages { try stage.prepare(work) }
    WorkDirectory.settle()
    for round in 0...rounds {
      BenchContext.progress(
        "growth on \(target.fileSystem): \(work.title), round \(round) of \(rounds)")
      for turn in stages.indices {
        let place = (turn + round) % stages.count
        let seconds = try stages[place].run(work)
        if round > 0 { samples[place].append(seconds) }
      }
    }
    return samples.map { Spread($0)?.median ?? 0 }
  }

  /// `values` and the last divided by the first.
  private static func withGrowth(_ values: [Double?]) -> [Double?] {
    guard let first = values.first ?? nil, let last = values.last ?? nil, first > 0 else {
      return values + [nil]
    }
    return values + [last / first]
  }

  /// The largest less the smallest of a row, its growth left out.
  private static func range(_ row: [Double?]) -> Double? {
    let values = row.dropLast().compactMap { $0 }
    guard let least = values.min(), let most = values.max() else { return nil }
    return most - least
  }
}
