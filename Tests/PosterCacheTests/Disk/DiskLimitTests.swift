import Glibc
import Synchronization
import TestSupport
import Testing

@testable import PosterCache

/// The limit, looked at from the outside, as often as can be, while processes write.
@Suite(.timeLimit(.minutes(10)))
struct DiskLimitTests {
  /// What each process that writes may have on its way beyond the limit.
  private static let slack = 2 << 20

  /// What two processes write, and how much.
  struct Load: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var limit: Int
    var settings: [String]
    /// Bytes of pictures in all.
    var bytes: Int
  }

  private static let loads = [
    Load(
      testDescription: "posters of all sizes", limit: 64 << 20,
      settings: ["first=0", "count=4000"], bytes: 640 << 20),
    Load(
      testDescription: "small posters", limit: 16 << 20,
      settings: ["first=\(TorturePoster.smallNumbers)", "count=20000"], bytes: 160 << 20),
  ]

  @Test(arguments: DiskInspection.places, loads)
  func `two processes that write ten times the limit never exceed it`(
    place: String, load: Load
  ) async throws {
    let directory = TemporaryDirectory(in: place)
    let watch = try await written(load, in: directory)
    #expect(watch.isWithinBound, "\(watch)")
    let inspection = DiskInspection(directory.path)
    let cache = try DiskCache(directory: directory.path)
    try inspection.check(cache, "\(watch)")
    try inspection.expectNoLeak(cache, "\(watch)")
    let statistics = try cache.statistics()
    #expect(statistics.bytes <= load.limit && statistics.bytes > load.limit / 2, "\(watch)")
    #expect(statistics.evictions > 0, "\(watch)")
  }

  @Test func `the index counts where there are many small posters`() async throws {
    // One block each: more than 20,000 of them fit, whose rows are several MiB.
    let load = Load(
      testDescription: "tiny posters", limit: 96 << 20,
      settings: ["first=\(TorturePoster.tinyNumbers)", "count=60000"], bytes: 80 << 20)
    let directory = TemporaryDirectory()
    let watch = try await written(load, in: directory)
    #expect(watch.isWithinBound, "\(watch)")
    let cache = try DiskCache(directory: directory.path)
    let statistics = try cache.statistics()
    #expect(statistics.entries > 20_000, "\(watch)")
    #expect(statistics.evictions > 0, "\(watch)")
    // What is beyond the records is the index.
    let records = statistics.entries * SegmentFormat.blockSize
    #expect(statistics.bytes > records + (2 << 20), "\(watch)")
    #expect(statistics.bytes <= load.limit, "\(watch)")
  }

  @Test func `a lower limit holds once it has been set, while another process writes`()
    async throws
  {
    var generator = SeededGenerator()
    let directory = TemporaryDirectory()
    let limit = 32 << 20
    let writer = TortureProcess.start(
      "write", directory.path, seed: generator.next(), ["limit=\(limit)", "count=2000"])
    let watch = LimitWatch(directory.path, bound: limit + Self.slack, seed: generator.seed)
    // Some 50 KB each: more than the limit.
    #expect(await writer.waitForOutputLines(1000))
    let cache = try DiskCache(directory: directory.path)
    #expect(try cache.statistics().limit == limit)
    for lower in [20 << 20, 8 << 20] {
      let change = try cache.setLimit(ByteSize(bytes: lower))
      // This process writes as well.
      watch.lower(to: lower + 2 * Self.slack)
      #expect(change.posters > 0, "\(watch)")
      // Somebody who names none keeps it.
      let other = await TortureProcess.run(
        "read", directory.path, seed: generator.next(), ["rounds=50", "count=2000"])
      #expect(other.status == 0, "\(other.errors), \(watch)")
      #expect(try cache.statistics().limit == lower, "\(watch)")
      #expect(await writer.waitForOutputLines(300), "\(watch)")
    }
    writer.send(SIGKILL)
    _ = await writer.result()
    watch.end()
    #expect(watch.isWithinBound, "\(watch)")
  }

  @Test func `lowering evicts no more than it must`() throws {
    let directory = TemporaryDirectory()
    let cache = try DiskCache(directory: directory.path)
    for number in 0..<60 {
      #expect(cache.storing(TorturePoster.make(number, version: 1)) == nil)
    }
    var sizes: [Int] = []
    try cache.forEachEntry { entry in
      let metadata = RecordMetadata.length(of: entry.metadata) ?? 0
      sizes.append(SegmentFormat.blockBytes(RecordHeader.size + metadata + entry.bytes))
      return true
    }
    #expect(sizes.count == 60)
    for share in [3, 2, 5, 1] {
      let limit = sizes.reduce(0, +) * share / (share + 1) / 4096 * 4096 + 1000
      var kept = sizes
      while kept.reduce(0, +) > limit { kept.removeLast() }
      #expect(
        try cache.setLimit(ByteSize(bytes: limit)).posters == sizes.count - kept.count)
      #expect(try cache.statistics().bytes == kept.reduce(0, +))
      #expect(DiskInspection(directory.path).occupiedBytes - kept.reduce(0, +) <= 64 << 10)
      sizes = kept
    }
  }

  @Test func `a process that only reads evicts nothing and leaves the limit`() async throws {
    let directory = TemporaryDirectory()
    let limit = 4 << 20
    let writer = await TortureProcess.run(
      "write", directory.path, seed: 1, ["limit=\(limit)", "count=400", "bytes=\(8 << 20)"])
    #expect(writer.status == 0, "\(writer.errors)")
    let before = try DiskCache(directory: directory.path).statistics()
    #expect(before.evictions > 0)
    let reader = await TortureProcess.run(
      "read", directory.path, seed: 2, ["rounds=2000", "count=400"])
    #expect(reader.status == 0, "\(reader.errors)")
    for command in ["ls", "stats"] {
      let result = await PosterCacheBinary.run([command, "--cache-dir", directory.path])
      #expect(result.status == 0, "\(result.errors)")
    }
    let after = try DiskCache(directory: directory.path).statistics()
    #expect(after.hits > before.hits)
    #expect(
      (after.entries, after.bytes, after.limit, after.evictions)
        == (before.entries, before.bytes, limit, before.evictions))
  }

  /// Has two processes write, and watches.
  private func written(_ load: Load, in directory: TemporaryDirectory) async throws -> LimitWatch {
    var generator = SeededGenerator()
    // The limit is the directory's: it is set once, by whoever makes it.
    try DiskCache(directory: directory.path, limit: ByteSize(bytes: load.limit)).close()
    let watch = LimitWatch(
      directory.path, bound: load.limit + 2 * Self.slack, seed: generator.seed)
    let settings = load.settings + ["bytes=\(load.bytes / 2)"]
    let first = TortureProcess.start("write", directory.path, seed: generator.next(), settings)
    let second = TortureProcess.start(
      "write", directory.path, seed: generator.next(), settings + ["version=5000000"])
    for result in await [first.result(), second.result()] {
      #expect(result.status == 0, "\(result.errors), \(watch)")
    }
    watch.end()
    // So many looks that no overshoot that lasts goes unnoticed.
    #expect(watch.looks > 1000, "\(watch)")
    return watch
  }
}

/// A thread that looks at the blocks of a cache directory as often as it can.
private final class LimitWatch: Sendable, CustomStringConvertible {
  private let path: String
  private let seed: UInt64
  private let bound: Atomic<Int>
  private let count = Atomic(0)
  private let largestExcess = Atomic(Int.min)
  private let hasEnded = Atomic(false)
  private let thread = Mutex<WorkerThread?>(nil)

  init(_ path: String, bound: Int, seed: UInt64) {
    self.path = path
    self.seed = seed
    self.bound = Atomic(bound)
    thread.withLock { $0 = WorkerThread(name: "limit-watch") { self.run() } }
  }

  var looks: Int { count.load(ordering: .relaxed) }
  var isWithinBound: Bool { largestExcess.load(ordering: .relaxed) <= 0 }

  var description: String {
    "seed \(seed), \(looks) looks, at most \(largestExcess.load(ordering: .relaxed)) bytes "
      + "beyond the allowed"
  }

  /// From now on, less is allowed.
  func lower(to bound: Int) {
    self.bound.store(bound, ordering: .sequentiallyConsistent)
  }

  /// Returns when the last look has been taken.
  func end() {
    hasEnded.store(true, ordering: .relaxed)
    thread.withLock { $0.take()?.join() }
  }

  private func run() {
    while !hasEnded.load(ordering: .relaxed) {
      let bound = bound.load(ordering: .sequentiallyConsistent)
      // One file is looked at after the other, and in between what one has given back another may
      // have taken. What each file has both before and after a moment, all have at that moment.
      let before = look()
      let after = look()
      let bytes = before.reduce(0) { $0 + min($1.value, after[$1.key] ?? 0) }
      if bytes - bound > largestExcess.load(ordering: .relaxed) {
        largestExcess.store(bytes - bound, ordering: .relaxed)
      }
      count.add(1, ordering: .relaxed)
    }
  }

  private func look() -> [String: Int] {
    var bytes: [String: Int] = [:]
    if let segments = opendir("\(path)/segments") {
      while let entry = readdir(segments) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        bytes[name] =
          name.hasSuffix(".seg")
          ? DiskInspection.blockBytes("\(path)/segments/\(name)") : 0
      }
      closedir(segments)
    }
    bytes["data.mdb"] = max(0, DiskInspection.blockBytes("\(path)/index/data.mdb") - (1 << 20))
    return bytes
  }
}
