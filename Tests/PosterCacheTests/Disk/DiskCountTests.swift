import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import PosterCache

/// What the disk tier asks of the kernel, counted: a promise that no clock can blur.
///
/// Reading and writing calls are those of `/proc/thread-self/io`: everything that goes by way of the
/// kernel's `read` and `write`, with or without an offset or a vector, but neither opening nor locking.
@Suite(.timeLimit(.minutes(10)))
struct DiskCountTests {
  private let directory = TemporaryDirectory()

  @Test func `a hit is one read, of the record and nothing else, and a miss is none`() throws {
    let cache = try DiskCache(directory: directory.path)
    let numbers = 0..<50
    for number in numbers { cache.insert(SamplePoster.make(number, bytes: 40_000)) }
    try cache.flush()
    let requests = numbers.map(SamplePoster.request)
    let missing = (100..<150).map(SamplePoster.request)
    // The first hit in a segment opens it.
    #expect(try cache.poster(for: requests[0]) != nil)

    let overhead = try Calls.overhead()
    let start = try Calls.now()
    let found = try requests.count { try cache.poster(for: $0) != nil }
    let hits = try Calls.now().since(start, overhead: overhead)
    let startOfMisses = try Calls.now()
    let missed = try missing.count { try cache.poster(for: $0) == nil }
    let misses = try Calls.now().since(startOfMisses, overhead: overhead)

    #expect(found == 50)
    #expect(hits.reads == 50)
    #expect(hits.writes == 0)
    // Beside the body a record has 64 bytes of header and less than 200 of metadata. What was read
    // of the counts themselves goes with `overhead`, but for the digits by which they have grown.
    #expect(hits.readBytes >= 50 * 40_064)
    #expect(hits.readBytes <= 50 * 40_264 + 64)
    #expect(missed == 50)
    #expect(misses.reads == 0)
    #expect(misses.writes == 0)
  }

  @Test
  func `twenty-five posters of 40 KB take few writing calls and little more than their bytes`()
    throws
  {
    let cache = try DiskCache(directory: directory.path)
    for number in 0..<1000 { cache.insert(SamplePoster.make(number, bytes: 100)) }
    try cache.flush()
    var (writes, writtenBytes) = (0, 0)
    for batch in 0..<10 {
      let posters = (0..<25).map { SamplePoster.make(2000 + 25 * batch + $0, bytes: 40_000) }
      let calls = try insertTogether(posters, into: cache)
      writes += calls.writes
      writtenBytes += calls.writtenBytes
      #expect(calls.reads == 0)
    }
    // One call writes all records; the others are LMDB's: one for each run of changed pages that lie
    // side by side, and so at most one for each page. Those are a leaf for each key and a dozen more.
    // By the runs that happened to be, there were 158 and 284 in all.
    #expect(writes <= 10 * (25 + 12), "\(writes) writing calls for 250 posters")
    // In whole blocks, a record of 40,000 bytes takes 40,960; the rest is the index: 11,326,640
    // when this was written.
    #expect(writtenBytes >= 250 * 40_960)
    #expect(writtenBytes <= 250 * 47_500, "\(writtenBytes) bytes for 10,000,000")
  }

  @Test func `opening reads as much of a large directory as of a small one`() throws {
    let (small, large) = try (filled(10), filled(20_000))
    let overhead = try Calls.overhead()
    let counts = try [small, large].map { directory in
      let start = try Calls.now()
      let cache = try DiskCache(directory: directory.path)
      let calls = try Calls.now().since(start, overhead: overhead)
      cache.close()
      return calls
    }
    #expect(counts[0].reads == counts[1].reads)
    // LMDB reads its two meta pages, we read `format`, and there was something to read to know.
    #expect(counts[1].reads > 0 && counts[1].reads <= 8, "\(counts[1].reads) reading calls")
    // Nothing is new in the directory, so that nothing needs to be written.
    #expect(counts.map(\.writes) == [0, 0])
  }

  @Test(.enabled(if: Program.path(of: "strace") != nil))
  func `a command makes as many calls about a large directory as about a small one`() async throws {
    let (small, large) = try (filled(10), filled(20_000))
    let strace = try #require(Program.path(of: "strace"))
    var counts: [Int] = []
    for directory in [small, large] {
      let logs = TemporaryDirectory()
      // Nobody listens there: the command opens the cache, finds nothing, and gives up. With a log
      // for each thread, no call is interrupted by another one's.
      let result = await RunningCommand(
        path: strace,
        arguments: [
          "-ff", "-y", "-qq", "-s", "256", "-o", "\(logs.path)/calls", PosterCacheBinary.path,
          "get",
          "http://127.0.0.1:1/none.jpg", "--cache-dir", directory.path, "--retries", "0",
        ],
        // A leak check does not work while another process traces.
        environment: ["ASAN_OPTIONS": "detect_leaks=0"]
      ).result()
      #expect(result.status == 4, "\(result.errors)")
      let lines = try FileManager.default.contentsOfDirectory(atPath: logs.path).flatMap { name in
        try String(contentsOfFile: "\(logs.path)/\(name)", encoding: .utf8).split(separator: "\n")
      }
      // LMDB writes changed pages that lie side by side with one call and others with several, and
      // how often it syncs depends on the clock: its commits are left out.
      let others = ["execve(", "writev(", "pwrite64(", "lseek(", "fdatasync("]
      counts.append(
        lines.count { line in
          line.contains(directory.path) && !others.contains { line.hasPrefix($0) }
        })
    }
    #expect(counts[0] == counts[1])
    #expect(counts[0] > 10)
  }

  // MARK: - Helpers

  /// Reading and writing calls of a thread.
  private struct Calls {
    var reads = 0
    var writes = 0
    var readBytes = 0
    var writtenBytes = 0

    /// What the calling thread has made so far.
    static func now() throws -> Calls {
      let file = try FileDescriptor(opening: "/proc/thread-self/io", flags: O_RDONLY)
      var bytes = [UInt8](repeating: 0, count: 512)
      let count = pread(file.number, &bytes, bytes.count, 0)
      let lines = String(decoding: bytes[..<max(0, count)], as: UTF8.self).split(separator: "\n")
      func value(_ name: String) throws -> Int {
        let line = try #require(lines.first { $0.hasPrefix("\(name): ") })
        return try #require(Int(line.dropFirst(name.count + 2)))
      }
      return Calls(
        reads: try value("syscr"), writes: try value("syscw"), readBytes: try value("rchar"),
        writtenBytes: try value("wchar"))
    }

    /// What looking twice costs.
    static func overhead() throws -> Calls {
      let first = try now()
      return try now().since(first, overhead: Calls())
    }

    /// What was made since `start`, less what looking twice costs.
    func since(_ start: Calls, overhead: Calls) -> Calls {
      Calls(
        reads: reads - start.reads - overhead.reads,
        writes: writes - start.writes - overhead.writes,
        readBytes: readBytes - start.readBytes - overhead.readBytes,
        writtenBytes: writtenBytes - start.writtenBytes - overhead.writtenBytes)
    }
  }

  /// Inserts `posters` as one batch and returns what the writer's thread called for that.
  ///
  /// The writer is held in the completion of another poster until all of them wait. It tells its own
  /// counts: completions are called on its thread.
  private func insertTogether(_ posters: [StoredPoster], into cache: DiskCache) throws -> Calls {
    let gate = Monitor((isReached: false, isOpen: false))
    let counts = Monitor([Result<Calls, any Error>]())
    cache.insert(SamplePoster.make(1 << 30)) { _ in
      gate.withLock { $0.isReached = true }
      gate.signal()
      gate.wait(untilNanoseconds: { _ in nil }, for: { $0.isOpen ? () : nil })
      for _ in 0..<2 { counts.withLock { $0.append(Result { try Calls.now() }) } }
    }
    gate.wait(untilNanoseconds: { _ in nil }, for: { $0.isReached ? () : nil })
    for poster in posters.dropLast() { cache.insert(poster) }
    cache.insert(try #require(posters.last)) { _ in
      counts.withLock { $0.append(Result { try Calls.now() }) }
      counts.signal()
    }
    gate.withLock { $0.isOpen = true }
    gate.signal()
    let all = try counts.wait(untilNanoseconds: { _ in nil }, for: { $0.count == 3 ? $0 : nil })
      .map { try $0.get() }
    return all[2].since(all[1], overhead: all[1].since(all[0], overhead: Calls()))
  }

  /// A closed cache of `count` small posters.
  private func filled(_ count: Int) throws -> TemporaryDirectory {
    let directory = TemporaryDirectory()
    let cache = try DiskCache(directory: directory.path)
    for number in 0..<count {
      cache.insert(SamplePoster.make(number, bytes: 100))
      // No more than 32 MiB may wait.
      if number % 4000 == 3999 { try cache.flush() }
    }
    try cache.flush()
    #expect(try cache.statistics().entries == count)
    cache.close()
    return directory
  }
}
