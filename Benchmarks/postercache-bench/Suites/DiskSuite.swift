import CLinux
import Glibc
import PosterCache

/// Hits, misses and inserts of the disk tier; `DiskSuite+Inserting.swift` has the inserts and
/// `DiskSuite+Counts.swift` what is counted.
struct DiskSuite: Suite {
  static let name = "disk"
  static let abstract = "disk hits, misses and inserts against bare loops and other stores"

  let context: BenchContext

  init(_ context: BenchContext) {
    self.context = context
  }

  func run() async throws -> SuiteReport {
    let posters = try context.corpus.load(host: "demo.test")
    var report = SuiteReport(
      name: Self.name,
      summary: """
        \(posters.count) posters (\(ByteSize(bytes: context.corpus.bytes))). The bare loops use one \
        file of records of the same size and an LMDB table of as many rows of the same size. \
        \(StoreProgram.conditions) Nothing is removed while the suite runs.
        """)
    for target in context.targets {
      report.contests += try await readingContests(posters, on: target)
    }
    for target in context.targets {
      report.contests.append(try await inserting(posters, into: target))
    }
    report.contests += try await foundationContests(posters)
    report.tables.append(try counts())
    return report
  }

  // MARK: - Others' stores

  /// Those that can take part, and those that cannot.
  func otherStores() throws(BenchError) -> (
    stores: [(kind: StoreProgram.Kind, program: StoreProgram)], absent: [Absentee]
  ) {
    let list = "\(context.disk.path)/store-list"
    let corpus = context.corpus
    let lines = corpus.names.map { name in
      "http://demo.test/\(PosterCorpus.folder)/\(name)\t\(corpus.path(name))\n"
    }
    try TextFile.write(lines.joined(), to: list)
    var stores: [(kind: StoreProgram.Kind, program: StoreProgram)] = []
    var absent: [Absentee] = []
    for kind in StoreProgram.Kind.allCases {
      if let program = try StoreProgram(kind, list: list, context.options.peers) {
        stores.append((kind, program))
      } else {
        absent.append(Absentee(name: kind.title, reason: "not installed"))
      }
    }
    return (stores, absent)
  }

  // MARK: - Reading

  /// Passes over all posters in a round of hits.
  private static let passes = 3

  private func readingContests(
    _ posters: [StoredPoster], on target: WorkDirectory
  ) async throws -> [Contest] {
    let cache = try DiskCache(directory: try target.makeEmpty("disk-suite"))
    defer { cache.close() }
    try CacheFiller.insert(posters, into: cache)
    let bare = try BareStore(in: try target.makeEmpty("disk-suite-bare"))
    try bare.insert(posters)
    var contestants = try ours(posters, cache, bare)
    let (stores, absent) = try otherStores()
    for (kind, store) in stores {
      _ = try store.insert(into: try target.makeEmpty("store-\(kind)"))
      contestants.append(
        Contestant(name: kind.title, role: .rival) { try store.read(times: Self.passes) })
    }
    WorkDirectory.settle()
    let title = "Hit, \(target.fileSystem), warm page cache"
    let hits = Contest(
      title: title,
      conditions: """
        Every poster three times in random order, one thread. Bare loop: LMDB get, `pread`, XXH3-64. Ours \
        does that and checks the address, decodes the metadata and notes the use. Bare `pread`: where each \
        record lies is known, and nothing is checked.
        """,
      operations: Self.passes * posters.count, operationName: "hit",
      results: try await context.rounds(15, contest: title).run(contestants), absent: absent,
      goals: Self.bareNames.map { name in
        Contest.Goal(text: "within 1.25 of \(name)", against: [name], ratio: 1 / 1.25)
      })
    return [hits, try await misses(cache, bare, on: target)]
  }

  private static let bareNames = [
    "bare loop, memory of its own for each", "bare loop, one buffer for all",
  ]

  private func ours(
    _ posters: [StoredPoster], _ cache: DiskCache, _ bare: BareStore
  ) throws -> [Contestant] {
    let order = shuffled(posters.map { PosterRequest($0.metadata.address) })
    let places = order.compactMap { bare.place($0.key) }
    return [
      Contestant(name: "DiskCache", role: .ours) {
        try Self.repeated(order) { request in try cache.poster(for: request)?.body.count ?? -1 }
      },
      Contestant(name: Self.bareNames[0], role: .limit) {
        try Self.repeated(order) { bare.readIntoFreshBuffer($0.key) }
      },
      Contestant(name: Self.bareNames[1], role: .limit) {
        try Self.repeated(order) { bare.readIntoSharedBuffer($0.key) }
      },
      Contestant(name: "bare `pread`, memory of its own for each", role: .limit) {
        try Self.repeated(places) { bare.readUnchecked($0) }
      },
    ]
  }

  private func shuffled<Element>(_ elements: [Element]) -> [Element] {
    var generator = SplitMix64(seed: 1)
    return (0..<Self.passes).flatMap { _ in elements.shuffled(using: &generator) }
  }

  private func misses(
    _ cache: DiskCache, _ bare: BareStore, on target: WorkDirectory
  ) async throws -> Contest {
    let requests = try (0..<20_000).map { number in
      try PosterRequest("http://demo.test/t/p/w342/missing\(number).jpg")
    }
    let contestants = [
      Contestant(name: "DiskCache", role: .ours) {
        try Self.repeated(requests) { request in try cache.poster(for: request) == nil ? 0 : -1 }
      },
      Contestant(name: "bare LMDB get", role: .limit) {
        try Self.repeated(requests) { bare.hasRow($0.key) ? -1 : 0 }
      },
    ]
    let title = "Miss, \(target.fileSystem)"
    return Contest(
      title: title, conditions: "Addresses that nobody has stored, one thread.",
      operations: requests.count, operationName: "miss",
      results: try await context.rounds(15, contest: title).run(contestants), absent: [],
      goals: [
        Contest.Goal(
          text: "less than two index reads", against: ["bare LMDB get"], ratio: 1 / 2)
      ])
  }

  private static func repeated<Element>(
    _ order: [Element], _ body: (Element) throws -> Int
  ) throws -> Sample {
    let stopwatch = Stopwatch()
    for element in order {
      guard try body(element) >= 0 else { throw BenchError("not as expected: \(element)") }
    }
    return stopwatch.sample()
  }
}
