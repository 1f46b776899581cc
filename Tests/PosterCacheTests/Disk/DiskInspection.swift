import CLinux
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import PosterCache

/// Looks at a cache directory from the outside, and at its entries one by one.
struct DiskInspection {
  let path: String

  init(_ path: String) {
    self.path = path
  }

  /// Where tests of real blocks make their directories: the usual place, and memory where there is
  /// some, because file systems count blocks in their own ways.
  static let places: [String] = {
    let usual = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    return [usual] + (access("/dev/shm", W_OK) == 0 && usual != "/dev/shm" ? ["/dev/shm"] : [])
  }()

  // MARK: - Blocks

  /// The names of the segment files.
  var segmentNames: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "\(path)/segments")) ?? [])
      .filter { $0.hasSuffix(".seg") }.sorted()
  }

  /// Bytes that the segment files occupy.
  var occupiedBytes: Int {
    segmentNames.reduce(0) { $0 + Self.blockBytes("\(path)/segments/\($1)") }
  }

  /// Bytes that a file occupies; 0 if there is none.
  static func blockBytes(_ file: String) -> Int {
    var status = stat()
    return lstat(file, &status) == 0 ? Int(status.st_blocks) * 512 : 0
  }

  /// What a file system may need, beyond the records, to note which blocks are whose: nothing where
  /// files are in memory.
  var blocksForMaps: Int {
    var status = statfs()
    let isMemory = statfs(path, &status) == 0 && status.f_type == 0x0102_1994
    return isMemory ? 0 : 64 << 10
  }

  // MARK: - Entries

  /// Checks every byte of every entry and every total.
  ///
  /// - Parameter corrupt: records that are known to have been found damaged.
  /// - Returns: the version of each poster that is there.
  @discardableResult
  func check(
    _ cache: DiskCache, corrupt: Int = 0, _ context: String,
    _ location: SourceLocation = #_sourceLocation
  ) throws -> [Int: Int] {
    var entries: [DiskEntry] = []
    try cache.forEachEntry { entry in
      entries.append(entry)
      return true
    }
    var versions: [Int: Int] = [:]
    var bytes = 0
    var pinnedBytes = 0
    for entry in entries {
      let request = PosterRequest(entry.metadata.address)
      let (number, version) = try #require(
        TorturePoster.identity(of: entry.metadata), "\(context)", sourceLocation: location)
      versions[number] = version
      // What was confirmed is in the index only.
      var recorded = entry.metadata
      recorded.staleUse = StaleUse()
      let length = try #require(RecordMetadata.length(of: recorded))
      let blocks = SegmentFormat.blockBytes(RecordHeader.size + length + entry.bytes)
      bytes += blocks
      if entry.isPinned { pinnedBytes += blocks }
      guard let stored = try cache.poster(for: request) else {
        Issue.record("\(number)-\(version) cannot be read, \(context)", sourceLocation: location)
        continue
      }
      let fault = TorturePoster.fault(in: stored, for: request)
      #expect(fault == nil, "\(context)", sourceLocation: location)
    }
    let statistics = try cache.statistics()
    #expect(statistics.entries == entries.count, "\(context)", sourceLocation: location)
    #expect(statistics.pinnedBytes == pinnedBytes, "\(context)", sourceLocation: location)
    #expect(statistics.corrupt == corrupt, "\(context)", sourceLocation: location)
    let indexBytes = Int(try indexSize().counted(limit: UInt64(statistics.limit)))
    #expect(statistics.bytes == bytes + indexBytes, "\(context)", sourceLocation: location)
    return versions
  }

  /// What the records occupy, and nothing else.
  func expectNoLeak(
    _ cache: DiskCache, slack: Int = 0, _ context: String,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    try cache.flush()
    let statistics = try cache.statistics()
    let live = statistics.bytes - Int(try indexSize().counted(limit: UInt64(statistics.limit)))
    let excess = occupiedBytes - live
    #expect(excess <= slack + blocksForMaps, "\(context)", sourceLocation: location)
    #expect(excess >= 0, "\(context)", sourceLocation: location)
  }

  /// The index' size; only while the cache is open in this process.
  private func indexSize() throws -> IndexSize {
    let directory = try FileDescriptor(opening: "\(path)/index", flags: O_RDONLY | O_DIRECTORY)
    let index = try Index.acquire(in: directory)
    defer { Index.release(index) }
    return try index.size()
  }

  /// That ``DiskCache/verify(directory:repairing:)`` finds nothing wrong.
  func expectSound(
    _ context: String, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let verification = try DiskCache.verify(directory: path)
    #expect(verification.isSound, "\(verification), \(context)", sourceLocation: location)
  }
}

/// Runs `disk-torture`.
enum TortureProcess {
  /// Starts it on a directory; `settings` are `NAME=NUMBER`.
  static func start(
    _ mode: String, _ directory: String, seed: UInt64, _ settings: [String] = []
  ) -> RunningCommand {
    RunningCommand(
      path: PosterCacheBinary.path(of: "disk-torture"),
      arguments: [mode, directory, String(seed)] + settings, environment: [:])
  }

  /// The same, to its end.
  static func run(
    _ mode: String, _ directory: String, seed: UInt64, _ settings: [String] = []
  ) async -> PosterCacheBinary.Result {
    await start(mode, directory, seed: seed, settings).result()
  }
}

extension DiskCache {
  /// Stores a poster and waits until that is committed; returns why not.
  func storing(_ poster: StoredPoster) -> PosterError? {
    let result = Monitor<Result<Void, PosterError>?>(nil)
    insert(poster) { value in
      result.withLock { $0 = value }
      result.signal()
    }
    switch result.wait(untilNanoseconds: { _ in nil }, for: { $0 }) {
    case .success: return nil
    case .failure(let error): return error
    }
  }
}
