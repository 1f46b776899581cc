import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import PosterCache

/// What is damaged is noticed, costs nothing else, and can be mended.
@Suite(.timeLimit(.minutes(10)))
struct DiskDamageTests {
  private let directory = TemporaryDirectory()
  private var path: String { directory.path }
  private var files: CacheFiles { CacheFiles(path) }
  private let segment = "segments/00000001.seg"
  private let index = "index/data.mdb"

  /// Fills the directory with posters 0 to `count` - 1.
  private func fill(_ count: Int) throws {
    let cache = try DiskCache(directory: path)
    for number in 0..<count { cache.insert(SamplePoster.make(number)) }
    try cache.flush()
  }

  private func expectDamage(_ hint: String, _ comment: Comment = "") {
    let error = #expect(throws: PosterError.self, comment) { try DiskCache(directory: path) }
    #expect(error?.code == .damagedIndex, comment)
    #expect(error?.description.contains("verify --repair") == true, comment)
    #expect(error?.description.contains(hint) == true, "\(error?.description ?? "none")")
  }

  // MARK: - Segments

  @Test func `a sound cache is reported as such`() throws {
    try fill(40)
    let verification = try DiskCache.verify(directory: path)
    #expect(verification == DiskVerification(checked: 40, ok: 40))
    #expect(verification.isSound)
  }

  @Test func `flipped bytes are corrupt records, which a repair drops`() throws {
    try fill(10)
    // Header, pin's mark, metadata, body, in four records.
    for (record, offset) in [(1, 0), (3, 52), (5, 80), (8, 2000)] {
      files.flip(segment, at: record * SegmentFormat.blockSize + offset)
    }
    #expect(
      try DiskCache.verify(directory: path) == DiskVerification(checked: 10, ok: 6, corrupt: 4))
    // Looking changes nothing.
    #expect(try DiskCache(directory: path).statistics().entries == 10)
    #expect(
      try DiskCache.verify(directory: path, repairing: true)
        == DiskVerification(checked: 10, ok: 6, corrupt: 4, repaired: 4))
    #expect(try DiskCache.verify(directory: path) == DiskVerification(checked: 6, ok: 6))
    #expect(try DiskCache(directory: path).numbers() == [9, 7, 6, 4, 2, 0])
  }

  @Test func `every byte of a record counts`() throws {
    let cache = try DiskCache(directory: path)
    cache.insert(SamplePoster.make(0, bytes: 20))
    cache.insert(SamplePoster.make(1, bytes: 20))
    try cache.flush()
    var metadata: [UInt8] = []
    RecordMetadata.append(SamplePoster.make(0).metadata, to: &metadata)
    for offset in 0..<RecordHeader.size + metadata.count + 20 {
      // What is dropped gives its blocks back: a new record each time.
      let row = try #require(
        try cache.index.read { (rows) throws(PosterError) in
          try rows.entry(SamplePoster.request(0).key)
        })
      files.flip(segment, at: Int(row.offset) + offset)
      #expect(try cache.poster(for: SamplePoster.request(0)) == nil, "byte \(offset)")
      #expect(cache.store(SamplePoster.make(0, bytes: 20)) == nil)
    }
    #expect(try cache.hasSample(1, bytes: 20))
  }

  @Test func `a segment that is gone takes its posters along and nothing else`() throws {
    let cache = try DiskCache(directory: path)
    let other = try DiskCache(directory: path)
    for number in 0..<5 { #expect(cache.store(SamplePoster.make(number)) == nil) }
    for number in 5..<9 { #expect(other.store(SamplePoster.make(number)) == nil) }
    cache.close()
    other.close()
    #expect(unlink("\(path)/\(segment)") == 0)
    #expect(
      try DiskCache.verify(directory: path) == DiskVerification(checked: 9, ok: 4, missing: 5))
    do {
      let reader = try DiskCache(directory: path)
      for number in 0..<5 {
        #expect(try reader.poster(for: SamplePoster.request(number)) == nil)
      }
      for number in 5..<9 { #expect(try reader.hasSample(number)) }
      #expect(reader.store(SamplePoster.make(1)) == nil)
      #expect(try reader.hasSample(1))
    }
    #expect(
      try DiskCache.verify(directory: path, repairing: true) == DiskVerification(checked: 5, ok: 5))
  }

  @Test func `a record with an absurd length takes no memory and hides nothing`() throws {
    try fill(6)
    // Body lengths of 4 GiB and of just below 1 GiB, which only the file's end contradicts.
    files.overwrite(segment, at: 1 * SegmentFormat.blockSize + 44, with: [255, 255, 255, 255])
    files.overwrite(segment, at: 3 * SegmentFormat.blockSize + 44, with: [0, 0, 255, 63])
    #expect(
      try DiskCache.verify(directory: path) == DiskVerification(checked: 6, ok: 4, corrupt: 2))
    #expect(unlink("\(path)/\(index)") == 0)
    let before = residentBytes()
    let verification = try DiskCache.verify(directory: path, repairing: true)
    #expect(residentBytes() - before < 64 << 20)
    #expect(verification.ok == 4)
    #expect(try DiskCache(directory: path).numbers() == [5, 4, 2, 0])
  }

  @Test func `an entry with an absurd length takes no memory either`() throws {
    try fill(3)
    do {
      let cache = try DiskCache(directory: path)
      let key = SamplePoster.request(1).key
      try cache.index.write { transaction throws(PosterError) in
        guard var entry = try transaction.entry(key) else { return }
        entry.bodyLength = 1 << 30
        try transaction.put(.entries, key, entry)
      }
      let before = residentBytes()
      #expect(try cache.poster(for: SamplePoster.request(1)) == nil)
      #expect(residentBytes() - before < 64 << 20)
      #expect(try cache.hasSample(0))
      #expect(try cache.hasSample(2))
    }
    // The sums do not fit the entries any more: this is for a repair.
    let verification = try DiskCache.verify(directory: path, repairing: true)
    #expect(verification.index != .intact)
    #expect(try DiskCache(directory: path).numbers() == [2, 1, 0])
  }

  @Test func `blocks that nothing refers to are found and given back`() throws {
    try fill(4)
    let segmentFile = try FileDescriptor(opening: "\(path)/\(segment)", flags: O_RDWR)
    // Two blocks in a hole of the segment, and a segment that nobody entered.
    let cache = try DiskCache(directory: path)
    try cache.evict([SamplePoster.request(1), SamplePoster.request(2)])
    cache.close()
    files.overwrite(segment, at: SegmentFormat.blockSize, with: [1])
    files.overwrite(segment, at: 2 * SegmentFormat.blockSize + 100, with: [1])
    try Data(count: 5000).write(to: URL(filePath: "\(path)/segments/00000007.seg"))
    var expected = DiskVerification(checked: 2, ok: 2, orphanBytes: 4 * 4096)
    #expect(try DiskCache.verify(directory: path) == expected)
    expected.repaired = 1
    #expect(try DiskCache.verify(directory: path, repairing: true) == expected)
    #expect(try DiskCache.verify(directory: path) == DiskVerification(checked: 2, ok: 2))
    #expect(files.segments == ["00000001.seg"])
    #expect(try segmentFile.status().st_blocks * 512 == 2 * 4096)
  }

  // MARK: - The index

  @Test func `a deleted index is reported, and rebuilt with order, versions and pins`() throws {
    do {
      let cache = try DiskCache(directory: path, limit: ByteSize(bytes: 40 << 20))
      for number in 0..<30 { cache.insert(SamplePoster.make(number), isSeen: number != 7) }
      try cache.pin([SamplePoster.request(3), SamplePoster.request(4), SamplePoster.request(5)])
      try cache.unpin([SamplePoster.request(4)])
      // Pins outlive new versions.
      cache.insert(SamplePoster.make(5, version: 1))
      cache.insert(SamplePoster.make(0, version: 2))
      cache.insert(SamplePoster.make(0, version: 3))
      try cache.evict([SamplePoster.request(9)])
    }
    #expect(unlink("\(path)/\(index)") == 0)
    expectDamage("missing")
    let found = try DiskCache.verify(directory: path)
    #expect(found.index == .missing)
    #expect(found.ok == 29)
    let repaired = try DiskCache.verify(directory: path, repairing: true)
    #expect(repaired.index == .missing)
    #expect(repaired.repaired == 1)
    #expect(try DiskCache.verify(directory: path) == DiskVerification(checked: 29, ok: 29))
    do {
      let cache = try DiskCache(directory: path)
      // Pinned, then seen by the order of their records, then the one that nobody had looked at.
      let order = [5, 3, 0] + (1...29).reversed().filter { ![3, 5, 7, 9].contains($0) } + [7]
      #expect(try cache.numbers() == order)
      #expect(try cache.hasSample(0, version: 3))
      #expect(try cache.hasSample(5, version: 1))
      let statistics = try cache.statistics()
      #expect(statistics.entries == 29)
      #expect(statistics.bytes == 29 * 4096)
      #expect(statistics.pinnedBytes == 2 * 4096)
      #expect(statistics.limit == 40 << 20)
      // The older versions' blocks have been given back, and what comes now is newer than all of it.
      #expect(files.segmentBytes == 29 * 4096)
      #expect(cache.store(SamplePoster.make(0, version: 4)) == nil)
    }
    #expect(unlink("\(path)/\(index)") == 0)
    _ = try DiskCache.verify(directory: path, repairing: true)
    #expect(try DiskCache(directory: path).hasSample(0, version: 4))
  }

  @Test(arguments: [0, 1, 4096, 8192, 20_000])
  func `an index cut short is reported and can be rebuilt`(bytes: Int) throws {
    try fill(200)
    #expect(truncate("\(path)/\(index)", off_t(bytes)) == 0)
    expectDamage(bytes == 0 ? "missing" : "", "\(bytes)")
    #expect(try DiskCache.verify(directory: path, repairing: true).repaired == 1)
    let cache = try DiskCache(directory: path)
    #expect(try cache.statistics().entries == 200)
    #expect(try cache.hasSample(123))
  }

  @Test(arguments: [16, 20, 24, 40, 88, 96, 120, 136, 144])
  func `bad first pages are reported and can be rebuilt`(offset: Int) throws {
    try fill(50)
    // Both of them, so that LMDB cannot use the other.
    for page in 0...1 {
      files.overwrite(
        index, at: page * 4096 + offset, with: [UInt8](repeating: 0x7B, count: 8))
    }
    let verification = try DiskCache.verify(directory: path)
    guard verification.index != .intact else { return }
    #expect(try DiskCache.verify(directory: path, repairing: true).index != .intact)
    #expect(try DiskCache.verify(directory: path) == DiskVerification(checked: 50, ok: 50))
  }

  @Test(arguments: [UInt64.random(in: 0...UInt64.max), 1, 2, 3])
  func `random pages of the index never end who verifies it`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for round in 0..<12 {
      let directory = TemporaryDirectory()
      let files = CacheFiles(directory.path)
      do {
        let cache = try DiskCache(directory: directory.path)
        for number in 0..<300 { cache.insert(SamplePoster.make(number, bytes: 100)) }
      }
      let pages = files.size(of: index) / 4096
      for _ in 0..<Int.random(in: 1...pages / 2, using: &generator) {
        let page = Int.random(in: 0..<pages, using: &generator)
        let bytes = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let start = Int.random(in: 0..<4000, using: &generator)
        let end = Int.random(in: start..<4096, using: &generator)
        files.overwrite(index, at: page * 4096 + start, with: Array(bytes[start...end]))
      }
      let found = try DiskCache.verify(directory: directory.path, repairing: true)
      let left = try DiskCache.verify(directory: directory.path)
      #expect(left == DiskVerification(checked: 300, ok: 300), "seed \(seed), round \(round)")
      #expect(found.checked >= 300, "seed \(seed), round \(round)")
    }
  }

  @Test func `an index that a power cut may have left half written is rebuilt silently`() throws {
    try fill(20)
    var state = try String(contentsOfFile: "\(path)/state", encoding: .utf8)
    #expect(state.hasPrefix("limit 1073741824\nseed ") && state.contains("\nsynced"))
    do {
      let cache = try DiskCache(directory: path, limit: ByteSize(bytes: 50 << 20))
      #expect(cache.store(SamplePoster.make(20)) == nil)
      state = try String(contentsOfFile: "\(path)/state", encoding: .utf8)
      #expect(state.hasPrefix("limit 52428800\nseed "))
      #expect(state.contains("\nunsynced \(Boot.current.digits)"))
      #expect(state.utf8.count == DirectoryState.size)
    }
    state = state.replacing(Boot.current.digits, with: Boot(high: 1, low: 2).digits)
    files.overwrite("state", at: 0, with: Array(state.utf8))
    files.overwrite(index, at: 0, with: [UInt8](repeating: 0xAA, count: 30_000))
    let cache = try DiskCache(directory: path)
    #expect(try cache.numbers() == (0...20).reversed())
    #expect(try cache.statistics().limit == 50 << 20)
    cache.close()
    state = try String(contentsOfFile: "\(path)/state", encoding: .utf8)
    #expect(state.hasPrefix("limit 52428800\nseed ") && state.contains("\nsynced"))
  }

  @Test func `an index in use is not rebuilt under its users`() throws {
    try fill(10)
    let user = try DiskCache(directory: path)
    #expect(try user.hasSample(1))
    let elsewhere = try CacheDirectory(path, creating: false) { _ in }
    let error = #expect(throws: PosterError.self) { try IndexRecovery.rebuild(elsewhere) }
    #expect(error?.code == .directoryUnavailable)
    #expect(try user.hasSample(2))
  }

  // MARK: - What is not ours

  @Test func `files that are not ours are neither deleted nor followed`() throws {
    try fill(5)
    let outside = TemporaryDirectory()
    let target = "\(outside.path)/00000009.seg"
    try Data("precious".utf8).write(to: URL(filePath: target))
    let names = ["note.txt", "9.seg", "00000008.seg.bak", "0000000x.seg"]
    for name in names {
      try Data("mine".utf8).write(to: URL(filePath: "\(path)/segments/\(name)"))
    }
    #expect(symlink(target, "\(path)/segments/00000009.seg") == 0)
    #expect(mkdir("\(path)/segments/00000010.seg", 0o755) == 0)
    #expect(try DiskCache.verify(directory: path, repairing: true).isSound)
    #expect(unlink("\(path)/\(index)") == 0)
    #expect(try DiskCache.verify(directory: path, repairing: true).ok == 5)
    let cache = try DiskCache(directory: path)
    try cache.removeAll()
    cache.close()
    #expect(
      CacheFiles.names(in: "\(path)/segments").sorted()
        == (names + ["00000009.seg", "00000010.seg"]).sorted())
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
  }

  @Test func `a picture cannot pass for a record`() throws {
    // A whole record of another directory, at a block boundary inside a picture.
    let other = TemporaryDirectory()
    do {
      let cache = try DiskCache(directory: other.path)
      #expect(cache.store(SamplePoster.make(1, version: 66)) == nil)
    }
    let forged = try Data(contentsOf: URL(filePath: "\(other.path)/\(segment)"))
    do {
      let cache = try DiskCache(directory: path)
      cache.insert(SamplePoster.make(1))
      let carrier = SamplePoster.make(2, bytes: 20_000)
      var metadata: [UInt8] = []
      RecordMetadata.append(carrier.metadata, to: &metadata)
      var body = Array(carrier.body.data)
      let start = SegmentFormat.blockSize - RecordHeader.size - metadata.count
      body.replaceSubrange(start..<start + forged.count, with: forged)
      cache.insert(
        StoredPoster(metadata: carrier.metadata, body: PosterBody(copying: body)))
      try cache.flush()
    }
    // The carrier's header is damaged, so that what follows is searched.
    files.flip(segment, at: SegmentFormat.blockSize)
    #expect(unlink("\(path)/\(index)") == 0)
    _ = try DiskCache.verify(directory: path, repairing: true)
    let cache = try DiskCache(directory: path)
    #expect(try cache.numbers() == [1])
    #expect(try cache.hasSample(1))
  }

  /// Bytes of memory that the process has in use (`/proc/self/statm`).
  private func residentBytes() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * Int(getpagesize())
  }
}
