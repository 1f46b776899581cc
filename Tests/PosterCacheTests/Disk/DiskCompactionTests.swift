import Glibc
import TestSupport
import Testing

@testable import PosterCache

/// Segments that hold little are emptied, and file systems without holes are no obstacle.
@Suite(.timeLimit(.minutes(10)))
struct DiskCompactionTests {
  private let directory = TemporaryDirectory()
  private var files: CacheFiles { CacheFiles(directory.path) }

  private func open(canPunch: Bool, limit: Int) throws -> DiskCache {
    let cache = try DiskCache(
      in: CacheDirectory(directory.path, creating: true, prepare: IndexRecovery.prepare),
      canPunch: canPunch)
    try cache.setLimit(ByteSize(bytes: limit))
    return cache
  }

  @Test func `without holes the limit holds, the order is exact, and hot posters move on`() throws {
    let limit = 24 << 20
    let cache = try open(canPunch: false, limit: limit)
    let size = 60_000
    for number in 0..<4000 {
      #expect(cache.store(SamplePoster.make(number, bytes: size)) == nil)
      // Posters 0 to 9 are used all the time, so that every segment of theirs would stay for ever.
      for hot in 0..<10 where number >= 10 {
        #expect(try cache.poster(for: SamplePoster.request(hot)) != nil)
      }
      // What is appended, and what a segment that is being emptied occupies twice.
      #expect(files.segmentBytes <= limit + (4 << 20), "poster \(number)")
    }
    let statistics = try cache.statistics()
    // An eighth of the limit may be lost, and an open segment.
    #expect(statistics.entries * 61_440 > limit * 3 / 4)
    let numbers = try cache.numbers()
    #expect(Set(numbers.prefix(11)) == Set(Array(0..<10) + [3999]))
    #expect(Array(numbers.dropFirst(11)) == (1...numbers.count - 11).map { 3999 - $0 })
    for number in numbers { #expect(try cache.hasSample(number, bytes: size)) }
    cache.close()
    #expect(try DiskCache.verify(directory: directory.path).corrupt == 0)
  }

  @Test func `a record that moved keeps its version, place in the order and pin for a rebuild`()
    throws
  {
    let limit = 8 << 20
    do {
      let cache = try open(canPunch: false, limit: limit)
      for number in 0..<3 { #expect(cache.store(SamplePoster.make(number)) == nil) }
      try cache.pin([SamplePoster.request(1)])
      for number in 10..<400 {
        #expect(cache.store(SamplePoster.make(number, bytes: 60_000)) == nil)
        for kept in [0, 2] { #expect(try cache.poster(for: SamplePoster.request(kept)) != nil) }
      }
      // They have been moved out of the first segment, which is gone.
      #expect(!files.segments.contains("00000001.seg"))
      #expect(try cache.numbers().first == 1)
      // What was evicted is still in the files, and comes back with the rest.
      try cache.setLimit(ByteSize(bytes: 8 * limit))
    }
    #expect(unlinkIndex())
    _ = try DiskCache.verify(directory: directory.path, repairing: true)
    let cache = try DiskCache(directory: directory.path)
    let numbers = try cache.numbers()
    // By when they were stored: the pinned one first, the others as the oldest.
    #expect(numbers.first == 1)
    #expect(numbers.suffix(2) == [2, 0])
    for kept in 0..<3 { #expect(try cache.hasSample(kept)) }
  }

  @Test func `with holes, nearly empty segments are emptied once there are many`() {
    func plan(_ live: [UInt64], held: [UInt64] = [], canPunch: Bool = true) -> CompactionPlan {
      CompactionPlan(
        closed: live.enumerated().map { index, bytes in
          let row = SegmentRow(committedEnd: 64 << 20, liveBytes: bytes, liveCount: 1)
          return (UInt32(index), row, held.isEmpty ? 0 : held[index])
        }, limit: 128 << 20, canPunch: canPunch)
    }
    #expect(plan([UInt64](repeating: 4096, count: 12)).victim == nil)
    #expect(plan([UInt64](repeating: 8192, count: 12) + [4096, 8192]).victim == 12)
    #expect(plan([9, 9], held: [5 << 20, 11 << 20], canPunch: false).victim == nil)
    #expect(plan([9, 9], held: [5 << 20, 12 << 20], canPunch: false).victim == 1)
  }

  @Test func `emptying a segment with holes deletes it and changes nothing else`() throws {
    let cache = try open(canPunch: true, limit: 1 << 30)
    // One poster of each segment stays.
    for round in 0..<12 {
      for number in 0..<3 {
        let poster = SamplePoster.make(10 * round + number, bytes: 30 << 20)
        #expect(cache.store(poster) == nil)
      }
      #expect(cache.store(SamplePoster.make(10 * round + 5)) == nil)
      try cache.evict((0..<3).map { SamplePoster.request(10 * round + $0) })
    }
    let segments = files.segments.count
    #expect(segments > 8)
    let editor = DirectoryEditor(
      index: cache.index, directory: cache.directory, files: cache.records.files,
      counters: DiskCounters())
    let before = try cache.index.read { (rows) throws(PosterError) in try rows.segments() }
    let closed = try #require(before.first { !$0.row.isOpen })
    try editor.empty(closed.number)
    editor.end()
    #expect(!files.segments.contains(SegmentFormat.fileName(closed.number)))
    let numbers = try cache.numbers()
    #expect(numbers == (0..<12).reversed().map { 10 * $0 + 5 })
    for number in numbers { #expect(try cache.hasSample(number)) }
    #expect(files.segmentBytes == 12 * 4096)
  }

  private func unlinkIndex() -> Bool {
    unlink("\(directory.path)/index/data.mdb") == 0
  }
}
