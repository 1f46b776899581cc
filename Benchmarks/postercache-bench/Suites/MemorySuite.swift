import Glibc
import PosterCache

/// The memory tier: hits by one, two and four threads, inserts at the limit, and how much is hit.
struct MemorySuite: Suite {
  static let name = "memory"
  static let abstract = "the memory tier against NSCache, a dictionary and one lock"

  private static let posters = 1000
  private static let threadCounts = [1, 2, 4]

  let context: BenchContext

  init(_ context: BenchContext) {
    self.context = context
  }

  func run() async throws -> SuiteReport {
    var posters = try context.corpus.load(host: "demo.test").prefix(Self.posters).map { $0 }
    let requests = posters.map { PosterRequest($0.metadata.address) }
    let bytes = posters.reduce(0) { $0 + $1.body.count }
    // Whoever keeps no order has no limit; the others keep all of them.
    let memory = MemoryCache(limitBytes: bytes)
    let foundation = FoundationCache(limitBytes: 0)
    let foundationKeys = requests.map { FoundationCache.key($0.address.canonical) }
    let locked = LockedLRU(limitBytes: bytes)
    let dictionary = LockedDictionary()
    let names = requests.map(\.address.canonical)
    let bare = Dictionary(uniqueKeysWithValues: posters.map { ($0.key, $0) })
    var configuration = PosterPipeline.Configuration()
    configuration.memoryLimit = ByteSize(bytes: bytes)
    let pipeline = try PosterPipeline(configuration)
    configuration.cacheDirectory = try context.disk.makeEmpty("memory-suite")
    let storing = try PosterPipeline(configuration)
    for (index, poster) in posters.enumerated() {
      memory.insert(poster)
      pipeline.memory.insert(poster)
      storing.memory.insert(poster)
      storing.disk?.insert(poster)
      foundation.insert(poster, for: foundationKeys[index])
      locked.insert(poster)
      dictionary.insert(poster, for: names[index])
    }
    try storing.disk?.flush()

    let lookups: [Lookup] = [
      Lookup(name: "MemoryCache", role: .ours) { memory.poster(for: requests[$0].key) },
      Lookup(name: "PosterPipeline.cachedPoster", role: .ours) {
        pipeline.cachedPoster(for: requests[$0])?.stored
      },
      Lookup(name: "PosterPipeline.cachedPoster, with a disk tier", role: .ours) {
        storing.cachedPoster(for: requests[$0])?.stored
      },
      Lookup(name: Self.foundationName, role: .rival) {
        foundation.poster(for: foundationKeys[$0])
      },
      Lookup(name: Self.dictionaryName, role: .rival) { dictionary.poster(for: names[$0]) },
      Lookup(name: "exact LRU behind one lock", role: .rival) {
        locked.poster(for: requests[$0].key)
      },
      Lookup(name: "Dictionary, no lock, no order", role: .limit) { bare[requests[$0].key] },
    ]
    var report = SuiteReport(
      name: Self.name,
      summary: """
        \(Self.posters) posters (\(ByteSize(bytes: bytes))) in memory, looked up with keys made in \
        advance; every poster's length is read. Looks by one, two and four threads take turns in the \
        same rounds.
        """)
    for order in KeyOrder.allCases {
      let contests = try await hits(lookups, order)
      report.contests += contests
      report.tables.append(Self.scaling(contests, order))
    }
    report.contests.append(try await inserts(posters, foundationKeys))
    report.tables.append(try counts())
    posters = []
    report.tables.append(try hitRatios())
    await pipeline.shutdown()
    await storing.shutdown()
    return report
  }

  // MARK: - Hits

  private static let foundationName = "NSCache"
  private static let dictionaryName = "Dictionary behind a lock, string keys"

  /// Somebody who finds posters by their place in the list.
  private struct Lookup: Sendable {
    let name: String
    let role: Contest.Role
    let find: @Sendable (Int) -> StoredPoster?
  }

  /// One contest for each number of threads, all in the same rounds.
  private func hits(_ lookups: [Lookup], _ order: KeyOrder) async throws -> [Contest] {
    let count = context.options.isQuick ? 1_000_000 : 2_000_000
    let parts = Self.threadCounts.map { threads in
      (0..<threads).map {
        order.numbers(count / threads, below: Self.posters, seed: UInt64($0 + 1))
      }
    }
    let contestants = zip(Self.threadCounts, parts).flatMap { threads, parts in
      lookups.map { lookup in
        Contestant(name: "\(lookup.name), \(threads)", role: lookup.role) {
          try Threads.measure(parts) { part in Self.walk(part, lookup.find) }
        }
      }
    }
    let results = try await context.rounds(11, contest: "Hit, \(order.name)").run(contestants)
    return Self.threadCounts.enumerated().map { index, threads in
      let own = results[(index * lookups.count)..<((index + 1) * lookups.count)]
      return Contest(
        title: "Hit, \(order.name), \(threads == 1 ? "one thread" : "\(threads) threads")",
        conditions: threads == 1
          ? "One lookup after the other."
          : "The same number of lookups, shared by \(threads) threads; time is that of all together "
            + "for one lookup.",
        operations: count, operationName: "hit",
        results: zip(lookups, own).map {
          Contest.Result(name: $0.name, role: $0.role, samples: $1.samples)
        }, absent: [], goals: threads == 1 && order == .uniform ? Self.goals : [])
    }
  }

  private static let goals = [
    Contest.Goal(text: "15 times as fast as NSCache", against: [foundationName], ratio: 15),
    Contest.Goal(
      text: "twice as fast as a dictionary behind a lock with string keys",
      against: [dictionaryName], ratio: 2),
  ]

  private static func walk(_ order: [Int32], _ find: (Int) -> StoredPoster?) -> Int {
    var bytes = 0
    for place in order {
      guard let poster = find(Int(place)) else { return -1 }
      bytes += poster.body.count
    }
    return bytes
  }

  /// How many hits all threads have together.
  private static func scaling(_ contests: [Contest], _ order: KeyOrder) -> FigureTable {
    func rates(_ index: Int) -> [Double] {
      contests.compactMap { contest in
        Spread(
          contest.results[index].samples.map { Double(contest.operations) / $0.seconds / 1e6 })?
          .median
      }
    }
    let rows = (contests.first?.results ?? []).enumerated().map { index, result in
      let rates = rates(index)
      return FigureTable.Row(
        name: result.name, values: rates + rates.prefix(1).map { rates[1] / $0 })
    }
    let ours = rates(0)
    return FigureTable(
      title: "Hits a second, \(order.name)",
      conditions: """
        Millions, of all threads together, as in the contests above. The last column is two threads \
        divided by one.
        """,
      columns: threadCounts.map { $0 == 1 ? "one thread" : "\($0) threads" } + ["two / one"],
      rows: rows,
      demands: order == .uniform
        ? [
          FigureTable.Demand(
            "one thread's hits divided by two threads' (1.6 times as many)", ours[0],
            over: ours[1], atMost: 1 / 1.6)
        ] : [])
  }
}
