import CLinux
import Glibc
import PosterCache

extension DiskSuite {
  func inserting(
    _ posters: [StoredPoster], into target: WorkDirectory
  ) async throws -> Contest {
    var contestants = [
      Contestant(name: "DiskCache", role: .ours) { try Self.insert(posters, into: target) },
      Contestant(name: "bare appends", role: .limit) {
        try Self.append(posters, in: try target.makeEmpty("insert"))
      },
    ]
    let (stores, absent) = try otherStores()
    for (kind, store) in stores {
      contestants.append(
        Contestant(name: kind.title, role: .rival) {
          let directory = try target.makeEmpty("insert")
          WorkDirectory.settle()
          return try store.insert(into: directory)
        })
    }
    let title = "Insert, \(target.fileSystem)"
    let results = try await context.rounds(9, quick: 3, contest: title).run(contestants)
    _ = try target.makeEmpty("insert")
    return Contest(
      title: title,
      conditions: """
        All posters into an empty directory; ours until all of them are committed, with the index \
        synced after the first commit and then once a second. Bare: one `pwrite` of a whole record \
        each, no index, no checksum, no sync.
        """,
      operations: posters.count, operationName: "poster", results: results, absent: absent,
      goals: [
        Contest.Goal(text: "within 2.5 of bare appends", against: ["bare appends"], ratio: 1 / 2.5)
      ])
  }

  private static func insert(
    _ posters: [StoredPoster], into target: WorkDirectory
  ) throws -> Sample {
    let cache = try DiskCache(directory: try target.makeEmpty("insert"))
    WorkDirectory.settle()
    let stopwatch = Stopwatch()
    try CacheFiller.insert(posters, into: cache)
    let sample = stopwatch.sample()
    let stored = try cache.statistics().entries
    cache.close()
    guard stored == posters.count else { throw BenchError("only \(stored) were stored") }
    return sample
  }

  private static func append(
    _ posters: [StoredPoster], in directory: String
  ) throws(BenchError) -> Sample {
    let records = posters.map(BareStore.record)
    WorkDirectory.settle()
    let stopwatch = Stopwatch()
    let path = "\(directory)/records"
    let file = postercache_open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw BenchError(call: "open", path) }
    defer { close(file) }
    var offset = 0
    for record in records {
      try BareStore.append(record, to: file, at: offset)
      offset += record.count
    }
    return stopwatch.sample()
  }

  // MARK: - Foundation

  /// `URLCache` takes a thousand times as long as everybody else, so it gets few posters.
  func foundationContests(_ posters: [StoredPoster]) async throws -> [Contest] {
    let posters = Array(posters.prefix(context.options.isQuick ? 20 : 100))
    let requests = posters.map { PosterRequest($0.metadata.address) }
    let bytes = posters.reduce(0) { $0 + $1.body.count }
    // The few of a quick run say something only where making files takes the same time every time.
    let disk = context.options.isQuick ? context.memory ?? context.disk : context.disk
    func check(_ read: Int) throws(BenchError) {
      guard read == bytes else { throw BenchError("\(read) bytes were read, not \(bytes)") }
    }
    let cache = try DiskCache(directory: try disk.makeEmpty("foundation-ours"))
    defer { cache.close() }
    try CacheFiller.insert(posters, into: cache)
    let foundation = try FoundationDiskCache(posters, in: try disk.makeEmpty("foundation"))
    foundation.insertAll()
    let hits = [
      Contestant(name: "DiskCache", role: .ours) {
        let stopwatch = Stopwatch()
        var read = 0
        for request in requests { read += try cache.poster(for: request)?.body.count ?? 0 }
        let sample = stopwatch.sample()
        try check(read)
        return sample
      },
      Contestant(name: "URLCache", role: .rival) {
        let stopwatch = Stopwatch()
        let read = foundation.readAll()
        let sample = stopwatch.sample()
        try check(read)
        return sample
      },
    ]
    let inserts = [
      Contestant(name: "DiskCache", role: .ours) { try Self.insert(posters, into: disk) },
      Contestant(name: "URLCache", role: .rival) {
        let store = try FoundationDiskCache(posters, in: try disk.makeEmpty("insert"))
        WorkDirectory.settle()
        let stopwatch = Stopwatch()
        store.insertAll()
        return stopwatch.sample()
      },
    ]
    let conditions = """
      \(posters.count) posters only, because Foundation's `URLCache` works on Linux, but copies bodies \
      byte by byte when it archives them. No memory for it, and as much of the disk as it likes.
      """
    var contests: [Contest] = []
    for (word, contestants) in [("Hit", hits), ("Insert", inserts)] {
      let title = "\(word), \(disk.fileSystem), \(posters.count) posters, against URLCache"
      contests.append(
        Contest(
          title: title, conditions: conditions, operations: posters.count, operationName: "poster",
          results: try await context.rounds(5, quick: 3, contest: title).run(contestants),
          absent: [], goals: []))
    }
    return contests
  }
}
