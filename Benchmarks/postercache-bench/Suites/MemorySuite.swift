import Glibc
import PosterCache

/// The memory tier: hits by one, two and four threads, inserts at the limit, and how much is hit.
struct MemorySuite: Suite {
  static let name = "memory"
  static let abstract = "the memory tier against NSCache, a dictionary and one lock"

  private static let posters = 600
  private var threadCounts: [Int] { context.options.isQuick ? [1, 2] : [1, 2, 4] }

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
    let array = posters
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
      Lookup(name: "array by number, no key at all", role: .limit) { array[$0] },
    ]
    var report = SuiteReport(
      name: Self.name,
      summary: """
        \(PosterCorpus.description(ofSizes: posters.map(\.body.count))), in memory, looked up with keys \
        made in advance; every poster's length is read. Looks by \
        \(threadCounts.map { "\($0)" }.joined(separator: ", ")) threads take turns in the same rounds. \
        A hit hands out a reference, and nobody copies a body. What cannot be gone below is to know the \
        poster's number and to have it in an array, and still to count the reference.
        """)
    for order in KeyOrder.allCases {
      let contests = try await hits(lookups, order, among: posters.count)
      report.contests += contests
      report.tables.append(scaling(contests, order))
    }
    report.contests.append(try await inserts(posters, foundationKeys))
    report.tables.append(try counts())
    posters = []
    report.tables.append(try zipfRatios())
    report.tables.append(try recordedRatios())
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
  private func hits(
    _ lookups: [Lookup], _ order: KeyOrder, among posters: Int
  ) async throws -> [Contest] {
    let count = context.options.isQuick ? 200_000 : 2_000_000
    let parts = threadCounts.map { threads in
      (0..<threads).map {
        order.numbers(count / threads, below: posters, seed: UInt64($0 + 1))
      }
    }
    let contestants = zip(threadCounts, parts).flatMap { threads, parts in
      lookups.map { lookup in
        Contestant(name: "\(lookup.name), \(threads)", role: lookup.role) {
          try Threads.measure(parts) { part in Self.walk(part, lookup.find) }
        }
      }
    }
    let results = try await context.rounds(11, contest: "Hit, \(order.name)").run(contestants)
    return threadCounts.enumerated().map { index, threads in
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
  private func scaling(_ contests: [Contest], _ order: KeyOrder) -> FigureTable {
    func rates(_ contest: Contest, _ index: Int) -> [Double] {
      contest.results[index].samples.map { Double(contest.operations) / $0.seconds / 1e6 }
    }
    func gain(_ index: Int) -> Spread? {
      Spread(zip(rates(contests[1], index), rates(contests[0], index)).map { $0 / $1 })
    }
    return FigureTable(
      title: "Hits a second, \(order.name)",
      conditions: """
        Millions, of all threads together, as in the contests above. The last column is two threads \
        divided by one in the same round.
        """,
      columns: threadCounts.map { $0 == 1 ? "one thread" : "\($0) threads" } + ["two / one"],
      rows: (contests.first?.results ?? []).enumerated().map { index, result in
        FigureTable.Row(
          name: result.name,
          figures: contests.map { Spread(rates($0, index)).map { Figure($0) } }
            + [gain(index).map { Figure($0) }])
      },
      demands: order == .uniform
        ? [
          FigureTable.Demand(
            text: "one thread's hits divided by two threads' (1.6 times as many)",
            value: gain(0).map { 1 / $0.median }, bound: 1 / 1.6)
        ] : [])
  }
}
