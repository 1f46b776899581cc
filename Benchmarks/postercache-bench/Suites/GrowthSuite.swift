import Glibc
import PosterCache

/// What a larger cache costs: opening, hits, misses, inserts, evictions and memory, from a thousand
/// entries to a million.
struct GrowthSuite: Suite {
  static let name = "growth"
  static let abstract = "the disk tier from a thousand entries to a million"

  /// Rounds of opening, each in a process of its own.
  private static let openings = 5
  private static let quickOpenings = 4
  /// Hits after which a process' memory is looked at.
  private static let probedHits = 10_000

  private let context: BenchContext

  init(_ context: BenchContext) {
    self.context = context
  }

  func run() async throws -> SuiteReport {
    var report = SuiteReport(
      name: Self.name,
      summary: """
        Posters of 64 bytes, each a record of one block of 4 KiB, in a directory for each number of \
        entries. Beside each cache, a bare LMDB table of as many rows of the same size and a file of \
        as many blocks, which does what hardware and LMDB make unavoidable: what grows there grows \
        because processor caches and page tables are what they are. All sizes, and whoever does the \
        same work, take turns within each round. One thread.
        """)
    if let memory = context.memory {
      try add(
        context.options.isQuick ? [1000, 10_000, 100_000] : Self.sizes, on: memory,
        plot: "growth-hit-memory", to: &report)
    }
    try add(
      context.options.isQuick ? [1000, 10_000] : Self.sizes, on: context.disk, plot: "growth-hit",
      to: &report)
    return report
  }

  /// From the smallest cache to the largest, which on the disk is 4 GiB; beside it, the bare store takes as
  /// much again.
  private static let sizes = [1000, 10_000, 100_000, 1_000_000]
  /// The largest store of a rival who keeps a file for each poster, and of SQLite.
  private static let largestRivals: [StoreProgram.Kind: Int] = [
    .files: 100_000, .sqlite: 1_000_000,
  ]
  /// Rounds of a rival that counts no more than it must: each reads all of its posters.
  private static let roundsOfLargest = 3

  /// What each round took, by the place of the size.
  private typealias Samples = [[Sample]]

  private func add(
    _ sizes: [Int], on target: WorkDirectory, plot: String, to report: inout SuiteReport
  ) throws {
    var stages: [GrowthStage] = []
    var absent: [Absentee] = []
    for size in sizes {
      BenchContext.progress("growth: \(size) entries on \(target.fileSystem)")
      let stage = try GrowthStage(size, in: target)
      stages.append(stage)
      for kind in Self.rivals where size <= largest(kind) {
        guard try !stage.addRival(kind, context.options.peers) else { continue }
        let absentee = Absentee(name: kind.title, reason: "not installed")
        if !absent.contains(absentee) { absent.append(absentee) }
      }
    }
    defer { for stage in stages { stage.remove() } }
    let probed = try probe(sizes, stages.map(\.directory))
    for stage in stages { try stage.open() }
    var samples: [GrowthStage.Work: Samples] = [:]
    for works in GrowthStage.Work.groups {
      samples.merge(try measure(works, stages, target)) { $1 }
    }
    report.contests.append(contest(sizes, samples, target, absent))
    report.tables.append(table(sizes, probed, samples, target, absent))
    report.plots.append(self.plot(plot, sizes, samples, target))
  }

  private static let rivals: [StoreProgram.Kind] = [.files, .sqlite]

  private func largest(_ kind: StoreProgram.Kind) -> Int {
    min(Self.largestRivals[kind] ?? 0, context.options.isQuick ? 10_000 : .max)
  }

  // MARK: - The contest and the plot

  private static let roles: [(work: GrowthStage.Work, name: String, role: Contest.Role)] = [
    (.hit, "DiskCache", .ours), (.filesHit, StoreProgram.Kind.files.title, .rival),
    (.sqliteHit, StoreProgram.Kind.sqlite.title, .rival),
    (.bareHit, "bare LMDB get, pread, XXH3", .limit),
  ]

  /// A hit in the largest cache of which everybody has one.
  private func contest(
    _ sizes: [Int], _ samples: [GrowthStage.Work: Samples], _ target: WorkDirectory,
    _ absent: [Absentee]
  ) -> Contest {
    let size = sizes.last { size in Self.rivals.allSatisfy { size <= largest($0) } } ?? sizes[0]
    let place = sizes.firstIndex(of: size) ?? 0
    return Contest(
      title: "Hit among \(size) entries, \(target.fileSystem)",
      conditions: """
        Ours, the bare store and the two rivals in turn, all in the page cache. The rivals are programs of \
        their own in C: a file for each poster is `open`, `fstat`, `read`, `close`, and SQLite finds a blob \
        by its name; neither checks a sum or notes the use, and a file takes a block like ours.
        """,
      operations: 1, operationName: "hit",
      results: Self.roles.compactMap { work, name, role in
        guard let own = samples[work]?[place], !own.isEmpty else { return nil }
        return Contest.Result(name: name, role: role, samples: own)
      }, absent: absent, goals: [])
  }

  /// What a hit costs, by the number of entries.
  private func plot(
    _ id: String, _ sizes: [Int], _ samples: [GrowthStage.Work: Samples], _ target: WorkDirectory
  ) -> Plot {
    Plot(
      id: id, title: "A hit by the number of entries, \(target.fileSystem)",
      command: "Benchmarks/run \(Self.name)",
      horizontal: Plot.Axis(label: "entries", unit: "", names: sizes.map(Self.grouped)),
      vertical: Plot.Axis(label: "a hit", unit: "µs"),
      series: Self.roles.map { work, name, role in
        Plot.Series(
          name: name, role: role,
          points: (samples[work] ?? []).enumerated().compactMap { place, own in
            Spread(own.map { $0.seconds * 1e6 }).map { Plot.Point(x: Double(place), y: Figure($0)) }
          })
      }.filter { !$0.points.isEmpty })
  }

  /// `number` with a comma for each thousand.
  private static func grouped(_ number: Int) -> String {
    number < 1000
      ? "\(number)"
      : "\(grouped(number / 1000))," + String("\(1000 + number % 1000)".dropFirst())
  }

  // MARK: - The table

  private func table(
    _ sizes: [Int], _ probed: [FigureTable.Row], _ samples: [GrowthStage.Work: Samples],
    _ target: WorkDirectory, _ absent: [Absentee]
  ) -> FigureTable {
    let rows =
      probed
      + GrowthStage.Work.groups.joined().compactMap { work in
        guard let own = samples[work], own.contains(where: { !$0.isEmpty }) else { return nil }
        return Self.row("\(work.title), µs", own.map { $0.map { $0.seconds * 1e6 } })
      }
    func growth(_ work: GrowthStage.Work) -> (first: Double?, last: Double?) {
      let medians = (samples[work] ?? []).map { Spread($0.map(\.seconds))?.median }
      return (medians.first ?? nil, medians.last ?? nil)
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
      columns: sizes.map(Self.grouped) + ["growth"], rows: rows, absent: absent,
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
    var calls = sizes.map { _ in [Double]() }
    for round in 0...(context.options.isQuick ? Self.quickOpenings : Self.openings) {
      for (place, size) in sizes.enumerated() {
        BenchContext.progress("growth: opening \(size) entries, round \(round)")
        let probe = CacheProbe(
          directory: directories[place], entries: size, hits: Self.probedHits)
        findings[place].append(try probe.run())
        guard round == 0 else { continue }
        let opening = CacheProbe(directory: directories[place], entries: size, hits: 0)
        if let counted = try opening.systemCalls(log: "\(context.disk.path)/calls") {
          calls[place] = [counted.total(CacheProbe.opening, ownThread: true)]
        }
      }
    }
    let mebibyte = Double(1 << 20)
    func row(_ name: String, _ value: (CacheProbe.Findings) -> Double) -> FigureTable.Row {
      // The first opening is the one that finds nothing in the processor's caches.
      Self.row(name, findings.map { $0.dropFirst().map(value) })
    }
    return [
      row("opening, ms") { $0.opening * 1e3 },
      Self.row(Self.callsName, calls),
      row(Self.openedName) { Double($0.anonymousAfterOpening - $0.anonymousBefore) / mebibyte },
      row(Self.usedName) { Double($0.anonymousAfterHits - $0.anonymousBefore) / mebibyte },
    ]
  }

  // MARK: - This process

  /// What one of each of `works` took in each round, the stages and the works taking turns.
  private func measure(
    _ works: [GrowthStage.Work], _ stages: [GrowthStage], _ target: WorkDirectory
  ) throws -> [GrowthStage.Work: Samples] {
    let rounds = context.options.rounds ?? (context.options.isQuick ? 5 : 9)
    var samples = Dictionary(
      uniqueKeysWithValues: works.map { ($0, stages.map { _ in [Sample]() }) })
    for work in works { for stage in stages { try stage.prepare(work) } }
    WorkDirectory.settle()
    for round in 0...rounds {
      BenchContext.progress(
        "growth on \(target.fileSystem): \(works[0].title), round \(round) of \(rounds)")
      for turn in stages.indices {
        let place = (turn + round) % stages.count
        for step in works.indices {
          let work = works[(step + round) % works.count]
          guard stages[place].takesPart(in: work) else { continue }
          let isLong = work.rival != nil && stages[place].size > 100_000
          guard !isLong || round <= Self.roundsOfLargest else { continue }
          let sample = try stages[place].run(work)
          if round > 0 { samples[work]?[place].append(sample) }
        }
      }
    }
    return samples
  }

  /// Medians, and the last one divided by the first.
  private static func row(_ name: String, _ samples: [[Double]]) -> FigureTable.Row {
    let spreads = samples.map { Spread($0) }
    var growth: Figure?
    if let first = spreads.first ?? nil, let last = spreads.last ?? nil, first.median > 0 {
      growth = Figure(last.median / first.median)
    }
    return FigureTable.Row(
      name: name,
      figures: zip(samples, spreads).map { samples, spread in
        samples.count == 1 ? Figure(samples[0]) : spread.map { Figure($0) }
      } + [growth])
  }

  /// The largest less the smallest of a row, its growth left out.
  private static func range(_ row: [Double?]) -> Double? {
    let values = row.dropLast().compactMap { $0 }
    guard let least = values.min(), let most = values.max() else { return nil }
    return most - least
  }
}
