import CLinux
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import PosterCache

/// What a power cut leaves: of what was written since the last sync, each page reached the disk or did
/// not, in no order, and the machine has started anew.
@Suite(.timeLimit(.minutes(5)))
struct DiskPowerCutTests {
  private static let limit = 48 << 20
  private static let baseCount = 60

  @Test func `posters committed before the last sync survive a power cut, and the rest may`()
    async throws
  {
    var generator = SeededGenerator()
    for round in 0..<12 {
      try await cutPower(
        "seed \(generator.seed), round \(round)", isRewriting: false, isKilledAgain: round % 3 == 2,
        &generator)
    }
  }

  @Test func `where the same posters were written again, each is right or a miss`() async throws {
    var generator = SeededGenerator()
    for round in 0..<6 {
      try await cutPower(
        "seed \(generator.seed), round \(round)", isRewriting: true, isKilledAgain: false,
        &generator)
    }
  }

  /// - Parameters:
  ///   - isRewriting: what is written after the sync are the same posters.
  ///   - isKilledAgain: the first process that opens the directory is killed while it does.
  private func cutPower(
    _ context: String, isRewriting: Bool, isKilledAgain: Bool, _ generator: inout SeededGenerator
  ) async throws {
    let directory = TemporaryDirectory()
    let inspection = DiskInspection(directory.path)
    let pinned = SamplePoster.request(7)
    do {
      let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: Self.limit))
      for number in 0..<Self.baseCount {
        #expect(cache.storing(TorturePoster.make(number, version: 1)) == nil, "\(context)")
      }
      try cache.pin([pinned])
      cache.close()
    }
    let synced = Synced(directory.path)
    let writer = TortureProcess.start(
      "write", directory.path, seed: generator.next(),
      ["first=\(isRewriting ? 0 : 1000)", "count=\(Self.baseCount)", "version=2"])
    let lines = Int.random(in: 1...400, using: &generator)
    #expect(await writer.waitForOutputLines(lines), "\(context)")
    writer.send(SIGKILL)
    _ = await writer.result()
    try synced.loseSome(&generator)
    if isKilledAgain {
      let process = TortureProcess.start("read", directory.path, seed: 0, ["seconds=60"])
      let calls = Int.random(in: 0...60_000, using: &generator)
      for _ in 0..<calls { _ = DiskInspection.blockBytes("\(directory.path)/format") }
      process.send(SIGKILL)
      _ = await process.result()
    }

    let cache = try DiskCache(directory: directory.path)
    #expect(try cache.statistics().limit == Self.limit, "\(context)")
    let readable = try readableVersions(cache, context)
    if !isRewriting {
      let base = (0..<Self.baseCount).filter { readable[$0] != 1 }
      #expect(base.isEmpty, "lost \(base), \(context)")
      var pins: [PosterAddress] = []
      try cache.forEachEntry { entry in
        if entry.isPinned { pins.append(entry.metadata.address) }
        return entry.isPinned
      }
      #expect(pins == [pinned.address], "\(context)")
    }
    // What could not be read has been dropped: now everything fits together.
    let corrupt = try cache.statistics().corrupt
    let versions = try inspection.check(cache, corrupt: corrupt, context)
    #expect(versions == readable, "\(context)")
    try inspection.expectNoLeak(cache, context)
    for number in 0..<40 {
      let refusal = cache.storing(TorturePoster.make(2000 + number, version: 3))
      #expect(refusal == nil, "\(context)")
    }
    let later = try inspection.check(cache, corrupt: corrupt, "later, \(context)")
    #expect(later.count == versions.count + 40, "\(context)")
    cache.close()
    try inspection.expectSound(context)
  }

  /// The versions of those posters that can be read; every one of them is right.
  private func readableVersions(
    _ cache: DiskCache, _ context: String
  ) throws -> [Int: Int] {
    var requests: [PosterRequest] = []
    try cache.forEachEntry { entry in
      requests.append(PosterRequest(entry.metadata.address))
      return true
    }
    var versions: [Int: Int] = [:]
    for request in requests {
      guard let stored = try cache.poster(for: request) else { continue }
      let fault = TorturePoster.fault(in: stored, for: request)
      #expect(fault == nil, "\(context)")
      if let (number, version) = TorturePoster.identity(of: stored.metadata) {
        versions[number] = version
      }
    }
    return versions
  }

  /// A directory as it was when everything had been synced.
  private struct Synced {
    private let path: String
    private let index: [UInt8]
    private let segmentBytes: [String: Int]
    private static let page = 4096

    init(_ path: String) {
      self.path = path
      index = Self.read("\(path)/index/data.mdb")
      var bytes: [String: Int] = [:]
      for name in DiskInspection(path).segmentNames {
        bytes[name] = Self.size("\(path)/segments/\(name)")
      }
      segmentBytes = bytes
    }

    /// Takes away some of what was written since.
    func loseSome(_ generator: inout SeededGenerator) throws {
      for name in DiskInspection(path).segmentNames {
        let file = "\(path)/segments/\(name)"
        if let before = segmentBytes[name] {
          damage(file, from: before, &generator)
        } else if Bool.random(using: &generator) {
          // The directory that names it had not reached the disk.
          unlink(file)
        } else {
          damage(file, from: 0, &generator)
        }
      }
      var state = String(decoding: Self.read("\(path)/state"), as: UTF8.self)
      guard let mark = state.firstRange(of: "unsynced ") else { return }
      state.replaceSubrange(
        mark.upperBound...,
        with: state[mark.upperBound...].map { $0 == "0" ? "1" : $0.isHexDigit ? "0" : $0 })
      Self.write(Array(state.utf8), to: "\(path)/state")
      Self.write(mixedIndex(&generator), to: "\(path)/index/data.mdb")
    }

    /// Some pages as they were, and some as they are.
    private func mixedIndex(_ generator: inout SeededGenerator) -> [UInt8] {
      let new = Self.read("\(path)/index/data.mdb")
      var mixed = index
      let share = [0, 1, 5, 9, 10].randomElement(using: &generator) ?? 0
      for start in stride(from: 0, to: new.count, by: Self.page)
      where Int.random(in: 0..<10, using: &generator) < share {
        let end = min(start + Self.page, new.count)
        if mixed.count < end { mixed += [UInt8](repeating: 0, count: end - mixed.count) }
        mixed.replaceSubrange(start..<end, with: new[start..<end])
      }
      return mixed
    }

    /// Cuts off or zeroes some of what lies behind `start`.
    private func damage(_ file: String, from start: Int, _ generator: inout SeededGenerator) {
      let end = Self.size(file)
      guard end > start else { return }
      let point = Int.random(in: start...end, using: &generator)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: truncate(file, off_t(point))
      case 1: zero(file, point / Self.page * Self.page..<end, from: start)
      case 2:
        for page in stride(from: start, to: end, by: Self.page)
        where Int.random(in: 0..<4, using: &generator) == 0 {
          zero(file, page..<min(page + Self.page, end), from: start)
        }
      default: break
      }
    }

    /// Writes zeros where there is something, as for blocks that had been given to a file whose bytes
    /// never came; holes stay holes.
    private func zero(_ file: String, _ range: Range<Int>, from start: Int) {
      let descriptor = open(file, O_RDWR)
      defer { close(descriptor) }
      var offset = max(start, range.lowerBound)
      while true {
        let data = Int(postercache_next_data(descriptor, Int64(offset)))
        guard data >= 0, data < range.upperBound else { return }
        let hole = Int(postercache_next_hole(descriptor, Int64(data)))
        let zeros = [UInt8](repeating: 0, count: min(hole, range.upperBound) - data)
        let count = pwrite(descriptor, zeros, zeros.count, off_t(data))
        precondition(count == zeros.count, "cannot write to \(file)")
        offset = data + count
      }
    }

    private static func size(_ file: String) -> Int {
      var status = stat()
      return stat(file, &status) == 0 ? Int(status.st_size) : 0
    }

    private static func read(_ file: String) -> [UInt8] {
      let data = try? Data(contentsOf: URL(filePath: file))
      return data.map { [UInt8]($0) } ?? []
    }

    private static func write(_ bytes: [UInt8], to file: String) {
      let descriptor = open(file, O_WRONLY | O_TRUNC)
      defer { close(descriptor) }
      let count = Glibc.write(descriptor, bytes, bytes.count)
      precondition(count == bytes.count, "cannot write to \(file)")
    }
  }
}
