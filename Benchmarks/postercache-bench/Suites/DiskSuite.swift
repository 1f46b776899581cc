import CLinux
import Glibc
import PosterCache

/// Hits, misses and inserts of the disk tier.
struct DiskSuite: Suite {
  static let name = "disk"
  static let abstract = "disk hits, misses and inserts against bare loops over the same bytes"

  private let context: BenchContext

  init(_ context: BenchContext) {
    self.context = context
  }

  func run() async throws -> SuiteReport {
    let posters = try context.corpus.load(host: "demo.test")
    var contests = try await readingContests(posters)
    for target in context.targets { contests.append(try await inserting(posters, into: target)) }
    return SuiteReport(
      name: Self.name,
      summary: """
        \(posters.count) posters (\(ByteSize(bytes: context.corpus.bytes))). The bare loops use one \
        file of records of the same size and an LMDB table of as many rows of the same size. Nobody \
        syncs while the time runs.
        """,
      contests: contests)
  }

  // MARK: - Reading

  private func readingContests(_ posters: [StoredPoster]) async throws -> [Contest] {
    let cache = try DiskCache(directory: try context.disk.makeEmpty("disk-suite"))
    defer { cache.close() }
    try Self.insert(posters, into: cache)
    let bare = try BareStore(posters, in: try context.disk.makeEmpty("disk-suite-bare"))
    WorkDirectory.settle()
    return [
      try await hits(posters.map { PosterRequest($0.metadata.address) }, cache, bare),
      try await misses(cache, bare),
    ]
  }

  private func hits(
    _ requests: [PosterRequest], _ cache: DiskCache, _ bare: BareStore
  ) async throws -> Contest {
    var generator = SplitMix64(seed: 1)
    let order = (0..<3).flatMap { _ in requests.shuffled(using: &generator) }
    let contestants = [
      Contestant(name: "DiskCache", role: .ours) {
        try Self.repeated(order) { request in try cache.poster(for: request)?.body.count ?? -1 }
      },
      Contestant(name: "bare loop, memory of its own for each", role: .limit) {
        try Self.repeated(order) { bare.readIntoFreshBuffer($0.key) }
      },
      Contestant(name: "bare loop, one buffer for all", role: .limit) {
        try Self.repeated(order) { bare.readIntoSharedBuffer($0.key) }
      },
    ]
    return Contest(
      title: "Hit, \(context.disk.fileSystem), warm page cache",
      conditions: """
        Every poster three times in random order, one thread. Bare: LMDB get, `pread`, XXH3-64. Ours \
        does that and checks the address, decodes the metadata and notes the use.
        """,
      operations: order.count, operationName: "hit",
      results: try await context.rounds(15, contest: "disk hit").run(contestants), absent: [],
      goals: contestants.dropFirst().map { loop in
        Contest.Goal(text: "within 1.3 of \(loop.name)", against: [loop.name], ratio: 1 / 1.3)
      })
  }

  private func misses(_ cache: DiskCache, _ bare: BareStore) async throws -> Contest {
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
    return Contest(
      title: "Miss", conditions: "Addresses that nobody has stored, one thread.",
      operations: requests.count, operationName: "miss",
      results: try await context.rounds(15, contest: "disk miss").run(contestants), absent: [],
      goals: [])
  }

  private static func repeated(
    _ requests: [PosterRequest], _ body: (PosterRequest) throws -> Int
  ) throws -> Sample {
    let stopwatch = Stopwatch()
    for request in requests {
      guard try body(request) >= 0 else {
        throw BenchError("not as expected: \(request.address)")
      }
    }
    return stopwatch.sample()
  }

  // MARK: - Inserting

  private func inserting(
    _ posters: [StoredPoster], into target: WorkDirectory
  ) async throws -> Contest {
    let records = posters.map(BareStore.record)
    let contestants = [
      Contestant(name: "DiskCache", role: .ours) {
        let cache = try DiskCache(directory: try target.makeEmpty("insert"))
        WorkDirectory.settle()
        let stopwatch = Stopwatch()
        try Self.insert(posters, into: cache)
        let sample = stopwatch.sample()
        let stored = try cache.statistics().entries
        cache.close()
        guard stored == posters.count else { throw BenchError("only \(stored) were stored") }
        return sample
      },
      Contestant(name: "bare appends", role: .limit) {
        let path = try target.makeEmpty("insert") + "/records"
        WorkDirectory.settle()
        let stopwatch = Stopwatch()
        let file = postercache_open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        defer { close(file) }
        var offset = 0
        for record in records {
          try BareStore.append(record, to: file, at: offset)
          offset += record.count
        }
        return stopwatch.sample()
      },
      Contestant(name: "a file for each", role: .rival) {
        let directory = try target.makeEmpty("insert")
        WorkDirectory.settle()
        let stopwatch = Stopwatch()
        for (poster, name) in zip(posters, context.corpus.names) {
          try Self.write(poster.body, to: "\(directory)/\(name)")
        }
        return stopwatch.sample()
      },
    ]
    let title = "Insert, \(target.fileSystem)"
    let results = try await context.rounds(9, contest: title).run(contestants)
    _ = try target.makeEmpty("insert")
    return Contest(
      title: title,
      conditions: """
        All posters into an empty directory; ours until all of them are committed. Bare: one \
        `pwrite` of a whole record each, no index, no checksum.
        """,
      operations: posters.count, operationName: "poster", results: results, absent: [], goals: [])
  }

  /// Inserts `posters` no faster than they are stored, and waits until all of them are committed.
  private static func insert(_ posters: [StoredPoster], into cache: DiskCache) throws {
    let waiting = Monitor((bytes: 0, failure: PosterError?.none))
    for poster in posters {
      let bytes = poster.body.count
      waiting.wait(
        untilNanoseconds: { _ in nil }, for: { $0.bytes < maximumWaitingBytes ? () : nil })
      waiting.withLock { $0.bytes += bytes }
      cache.insert(poster) { result in
        waiting.withLock { waiting in
          waiting.bytes -= bytes
          if case .failure(let error) = result { waiting.failure = error }
        }
        waiting.signal()
      }
    }
    try cache.flush()
    if let failure = waiting.withLock({ $0.failure }) { throw failure }
  }

  /// Half of what the disk tier lets wait.
  private static let maximumWaitingBytes = 16 << 20

  private static func write(_ body: PosterBody, to path: String) throws(BenchError) {
    let file = postercache_open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw BenchError(call: "open", path) }
    defer { close(file) }
    let count = body.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
    guard count == body.count else { throw BenchError(call: "write", path) }
  }
}
