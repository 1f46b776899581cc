import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import PosterCache

/// How long processes use one directory at once.
private let seconds =
  ProcessInfo.processInfo.environment["POSTERCACHE_TORTURE_SECONDS"].flatMap { Int($0) } ?? 8

/// Several processes on one directory, and what dead ones leave to the others.
///
/// `POSTERCACHE_TORTURE_SECONDS` sets how long they use it at once, 8 s unless given.
@Suite(.timeLimit(.minutes(10 + seconds / 60)))
struct DiskProcessTests {
  @Test func `four processes read, warm, trim and clear one directory at once`() async throws {
    var generator = SeededGenerator()
    let seed = generator.seed
    let directory = TemporaryDirectory()
    let limit = 24 << 20
    try DiskCache(directory: directory.path, limit: ByteSize(bytes: limit)).close()
    let processes = ["read", "warm", "trim", "clear"].map { mode in
      TortureProcess.start(
        mode, directory.path, seed: generator.next(),
        ["count=700", "seconds=\(seconds)", "version=1000"])
    }
    for process in processes {
      let result = await process.result()
      #expect(result.status == 0, "\(result.errors), seed \(seed)")
      #expect(result.errorLines.isEmpty, "\(result.errors), seed \(seed)")
    }
    let inspection = DiskInspection(directory.path)
    let cache = try DiskCache(directory: directory.path)
    let versions = try inspection.check(cache, "seed \(seed)")
    #expect(cache.storing(TorturePoster.make(1, version: 1)) == nil)
    try inspection.expectNoLeak(cache, "seed \(seed)")
    let statistics = try cache.statistics()
    #expect(statistics.limit == limit && statistics.bytes <= limit, "seed \(seed)")
    // They had something to do.
    #expect(statistics.hits > 500 && statistics.misses > 500, "\(statistics), seed \(seed)")
    #expect(versions.allSatisfy { $0.value >= 1000 }, "seed \(seed)")
    cache.close()
    try inspection.expectSound("seed \(seed)")
  }

  @Test func `what several processes confirm and store at once never gets mixed up`() async throws {
    var generator = SeededGenerator()
    let seed = generator.seed
    let directory = TemporaryDirectory()
    try DiskCache(directory: directory.path, limit: ByteSize(bytes: 24 << 20)).close()
    let confirming = (0..<3).map { number in
      TortureProcess.start(
        "warm", directory.path, seed: generator.next(),
        ["count=60", "rounds=8000", "version=\(1000 * (number + 1))"])
    }
    let storing = TortureProcess.start(
      "write", directory.path, seed: generator.next(),
      ["count=60", "bytes=100000000", "version=100000", "edits=3"])
    for process in confirming {
      let result = await process.result()
      #expect(result.status == 0, "\(result.errors), seed \(seed)")
      // It had something to do. What it confirmed may have been stored anew since.
      #expect((Int(result.output.dropLast()) ?? 0) > 0, "\(result.output), seed \(seed)")
    }
    let result = await storing.result()
    #expect(result.status == 0, "\(result.errors), seed \(seed)")
    let cache = try DiskCache(directory: directory.path)
    try DiskInspection(directory.path).check(cache, "seed \(seed)")
    cache.close()
    try DiskInspection(directory.path).expectSound("seed \(seed)")
  }

  @Test func `twelve processes open a fresh directory at once`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/a/b/cache"
    let processes = (0..<12).map { number in
      TortureProcess.start(
        "write", path, seed: UInt64(number),
        ["first=\(number * 100)", "count=60", "bytes=500000"])
    }
    for process in processes {
      let result = await process.result()
      #expect(result.status == 0, "\(result.errors)")
    }
    let cache = try DiskCache(directory: path)
    let versions = try DiskInspection(path).check(cache, "12 writers")
    for number in 0..<12 {
      #expect(versions.keys.contains { $0 / 100 == number }, "nothing from process \(number)")
    }
  }

  @Test func `one process clears, and another goes on storing`() async throws {
    let directory = TemporaryDirectory()
    let writer = TortureProcess.start("write", directory.path, seed: 7, ["count=300"])
    let cache = try DiskCache(directory: directory.path)
    for _ in 0..<20 {
      #expect(await writer.waitForOutputLines(20))
      try cache.removeAll()
    }
    while try cache.statistics().entries == 0 {
      try #require(await writer.waitForOutputLines(1))
    }
    writer.send(SIGKILL)
    let result = await writer.result()
    #expect(result.status == 256 + SIGKILL && result.errors.isEmpty, "\(result.errors)")
    #expect(try !DiskInspection(directory.path).check(cache, "after clearing").isEmpty)
  }

  @Test func `the next process continues the segment that a killed one left half used`()
    async throws
  {
    var generator = SeededGenerator()
    let directory = TemporaryDirectory()
    let inspection = DiskInspection(directory.path)
    for round in 0..<20 {
      let context = "seed \(generator.seed), round \(round)"
      let process = TortureProcess.start(
        "write", directory.path, seed: generator.next(),
        ["first=\(TorturePoster.smallNumbers)", "count=200", "version=\(1 + 1000 * round)"])
      #expect(await process.waitForOutputLines(.random(in: 1...30, using: &generator)))
      process.send(SIGKILL)
      #expect(await process.result().status == 256 + SIGKILL, "\(context)")
      // Another process puts its first poster where the dead one has left off.
      let names = inspection.segmentNames
      let next = await TortureProcess.run(
        "write", directory.path, seed: generator.next(),
        ["first=\(TorturePoster.tinyNumbers)", "count=1", "bytes=1", "version=\(round)"])
      #expect(next.status == 0, "\(next.errors), \(context)")
      #expect(next.output == "stored \(TorturePoster.tinyNumbers) \(round)\n", "\(context)")
      #expect(inspection.segmentNames == names && !names.isEmpty, "\(context)")
    }
    let cache = try DiskCache(directory: directory.path)
    try inspection.check(cache, "seed \(generator.seed)")
    try inspection.expectNoLeak(cache, "seed \(generator.seed)")
  }

  @Test func `killed processes, two at a time, do not leave a segment each`() async throws {
    var generator = SeededGenerator()
    let directory = TemporaryDirectory()
    let inspection = DiskInspection(directory.path)
    for round in 0..<6 {
      let processes = (0..<2).map { number in
        TortureProcess.start(
          "write", directory.path, seed: generator.next(),
          [
            "first=\(TorturePoster.smallNumbers + 100 * number)", "count=100",
            "version=\(1 + 1000 * round)",
          ])
      }
      for process in processes {
        #expect(await process.waitForOutputLines(40))
      }
      for process in processes {
        process.send(SIGKILL)
        _ = await process.result()
      }
      // Each has one of its own, and one that it has just filled may still be needed.
      #expect((1...4).contains(inspection.segmentNames.count), "round \(round)")
    }
    try inspection.check(
      DiskCache(directory: directory.path), "seed \(generator.seed)")
  }

  @Test func `the reader slots of 1,500 threads that died reading are used again`() async throws {
    let directory = TemporaryDirectory()
    let cache = try DiskCache(directory: directory.path)
    // So many that looking at the whole index takes a while, and all threads are at it at once.
    for number in 0..<3000 {
      cache.insert(TorturePoster.make(TorturePoster.tinyNumbers + number, version: 1))
    }
    try cache.flush()
    // Closing it would give up LMDB's own lock, by which other processes know that this one lives.
    let lockFile = open("\(directory.path)/index/lock.mdb", O_RDONLY)
    defer {
      cache.close()
      close(lockFile)
    }
    var slots = 0
    var round = 0
    while slots < 1500 {
      // Every fourth process ends in its own way, the others are killed.
      let isKilled = round % 4 != 3
      let process = TortureProcess.start(
        "hold", directory.path, seed: 0, ["threads=128"] + (isKilled ? [] : ["rounds=1"]))
      try #require(await process.waitForOutputLines(128), "round \(round)")
      if isKilled { slots += readerSlots(lockFile, of: process.processIdentifier) }
      process.send(SIGKILL)
      let result = await process.result()
      #expect(isKilled ? result.status == 256 + SIGKILL : result.errors.isEmpty, "\(result)")
      let request = SamplePoster.request(TorturePoster.tinyNumbers + round % 100)
      #expect(try cache.poster(for: request) != nil, "round \(round)")
      round += 1
    }
    try DiskInspection(directory.path).check(cache, "at the end")
    let next = await TortureProcess.run(
      "hold", directory.path, seed: 0, ["threads=128", "rounds=2"])
    #expect(next.status == 0, "\(next.errors)")
  }

  /// How many reader slots of the index a process has: LMDB's lock file is a header of two cache
  /// lines and a cache line for each slot, with the process' number in its second word.
  private func readerSlots(_ file: CInt, of process: pid_t) -> Int {
    var line = [UInt8](repeating: 0, count: 64)
    var slots = 0
    for slot in 0..<Int(Index.maximumReaders) {
      guard pread(file, &line, 64, off_t(128 + 64 * slot)) == 64 else { break }
      let owner = line.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: pid_t.self) }
      if owner == process { slots += 1 }
    }
    return slots
  }
}
