import Glibc
import PosterCache

/// Hits of the memory tier.
struct MemorySuite: Suite {
  static let name = "memory"
  static let abstract = "a memory hit against NSCache"

  private static let posters = 1000

  private let context: BenchContext

  init(_ context: BenchContext) {
    self.context = context
  }

  func run() async throws -> SuiteReport {
    var posters = try context.corpus.load(host: "demo.test").prefix(Self.posters).map { $0 }
    let requests = posters.map { PosterRequest($0.metadata.address) }
    let bytes = posters.reduce(0) { $0 + $1.body.count }

    let memory = MemoryCache(limitBytes: bytes)
    let foundation = FoundationCache(limitBytes: 0)  // no limit: it keeps all of them, like ours
    let foundationKeys = requests.map { FoundationCache.key($0.address.canonical) }
    var dictionary: [CacheKey: StoredPoster] = [:]
    var configuration = PosterPipeline.Configuration()
    configuration.memoryLimit = ByteSize(bytes: bytes)
    let pipeline = try PosterPipeline(configuration)
    configuration.cacheDirectory = try context.disk.makeEmpty("memory-suite")
    let storing = try PosterPipeline(configuration)
    for (poster, key) in zip(posters, foundationKeys) {
      memory.insert(poster)
      pipeline.memory.insert(poster)
      storing.memory.insert(poster)
      storing.disk?.insert(poster)
      foundation.insert(poster, for: key)
      dictionary[poster.key] = poster
    }
    try storing.disk?.flush()
    posters = []

    let table = dictionary
    let lookups: [Lookup] = [
      Lookup(name: "MemoryCache", role: .ours) { memory.poster(for: requests[$0].key) },
      Lookup(name: "PosterPipeline.cachedPoster", role: .ours) {
        pipeline.cachedPoster(for: requests[$0])?.stored
      },
      Lookup(name: "PosterPipeline.cachedPoster, with a disk tier", role: .ours) {
        storing.cachedPoster(for: requests[$0])?.stored
      },
      Lookup(name: "NSCache", role: .rival) { foundation.poster(for: foundationKeys[$0]) },
      Lookup(name: "Dictionary, no lock, no order", role: .limit) { table[requests[$0].key] },
    ]
    let contests = [
      try await contest(lookups, threads: 1), try await contest(lookups, threads: 4),
    ]
    await pipeline.shutdown()
    await storing.shutdown()
    return SuiteReport(
      name: Self.name,
      summary: """
        \(Self.posters) posters (\(ByteSize(bytes: bytes))) in memory, looked up in random order \
        with keys made in advance; every poster's length is read.
        """,
      contests: contests)
  }

  /// Somebody who finds posters by their place in the list.
  private struct Lookup: Sendable {
    let name: String
    let role: Contest.Role
    let find: @Sendable (Int) -> StoredPoster?
  }

  private func contest(_ lookups: [Lookup], threads: Int) async throws -> Contest {
    let count = context.options.isQuick ? 400_000 : 1_000_000
    let orders = (0..<threads).map { thread in
      var generator = SplitMix64(seed: UInt64(thread))
      return (0..<count / threads).map { _ in
        Int32.random(in: 0..<Int32(Self.posters), using: &generator)
      }
    }
    let contestants = lookups.map { lookup in
      Contestant(name: lookup.name, role: lookup.role) {
        try Threads.measure(orders) { order in Self.walk(order, lookup.find) }
      }
    }
    let title = threads == 1 ? "Hit, one thread" : "Hit, \(threads) threads"
    return Contest(
      title: title,
      conditions: threads == 1
        ? "One lookup after the other."
        : "The same number of lookups, shared by \(threads) threads; time is that of all together "
          + "for one lookup.",
      operations: count, operationName: "hit",
      results: try await context.rounds(11, contest: title).run(contestants), absent: [],
      goals: threads == 1
        ? [Contest.Goal(text: "15 times as fast as NSCache", against: ["NSCache"], ratio: 15)] : [])
  }

  private static func walk(_ order: [Int32], _ find: (Int) -> StoredPoster?) -> Int {
    var bytes = 0
    for place in order {
      guard let poster = find(Int(place)) else { return -1 }
      bytes += poster.body.count
    }
    return bytes
  }
}
