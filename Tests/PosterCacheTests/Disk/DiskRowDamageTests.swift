import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import PosterCache

/// Rows of the index that cannot be: an error or a miss, never a trap.
@Suite(.timeLimit(.minutes(10)))
struct DiskRowDamageTests {
  private let directory = TemporaryDirectory()
  private var path: String { "\(directory.path)/cache" }

  @Test func `a segment's count that cannot be is no trap`() async throws {
    await #expect(processExitsWith: .success) {
      try DiskRowDamageTests.damaging { transaction throws(PosterError) in
        var row = SegmentRow(committedEnd: 4096, liveBytes: 4096)
        row.liveCount = .max
        try transaction.put(.segments, SegmentKey(1), row)
      } then: { cache in
        _ = cache.store(SamplePoster.make(2))
      }
    }
  }

  @Test func `a sequence number that cannot be is no trap`() async throws {
    await #expect(processExitsWith: .success) {
      let key = SamplePoster.request(1).key
      try DiskRowDamageTests.damaging { transaction throws(PosterError) in
        guard var row = try transaction.entry(key) else { return }
        row.sequence = .max
        try transaction.put(.entries, key, row)
      } then: { cache in
        _ = try DiskCache.verify(directory: cache.directory.path)
      }
    }
  }

  @Test func `a pending extent that cannot be is no trap`() async throws {
    await #expect(processExitsWith: .success) {
      try DiskRowDamageTests.damaging { transaction throws(PosterError) in
        try transaction.put(.pending, PendingKey(segment: 1, offset: .max), NumberRow(4096))
      } then: { cache in
        _ = cache.store(SamplePoster.make(2))
      }
    }
  }

  @Test func `held bytes that cannot be are no trap`() async throws {
    await #expect(processExitsWith: .success) {
      try DiskRowDamageTests.damaging { transaction throws(PosterError) in
        for number in UInt32(10)..<20 {
          try transaction.put(
            .pending, PendingKey(segment: number, offset: 0), NumberRow(.max / 2))
        }
      } then: { cache in
        _ = cache.store(SamplePoster.make(2))
      }
    }
  }

  @Test func `a time that cannot be is no trap`() async throws {
    await #expect(processExitsWith: .success) {
      let key = SamplePoster.request(1).key
      try DiskRowDamageTests.damaging { transaction throws(PosterError) in
        guard var row = try transaction.entry(key) else { return }
        row.expiresAt = .max
        try transaction.put(.entries, key, row)
      } then: { cache in
        guard let poster = try cache.peek(at: SamplePoster.request(1)) else { return }
        _ = cache.store(poster)
      }
    }
  }

  @Test func `notes of absence that cannot be are no trap`() async throws {
    await #expect(processExitsWith: .success) {
      let request = SamplePoster.request(3)
      let absence = Absence(status: 404, notedAt: Date(), until: Date() + 600)
      for kind in 0..<5 {
        try DiskRowDamageTests.damaging { transaction throws(PosterError) in
          guard var row = AbsenceRow(absence, of: request.address, seed: 0) else { return }
          let last = NumberRow(kind == 3 ? .max : RecencyKey.maximumTick)
          switch kind {
          case 0: row.number = .max
          case 1: row.until = .min
          case 2: row.status = .max
          default: try transaction.put(.negativeOrder, last, request.key)
          }
          if kind < 4 { try transaction.put(.negative, request.key, row) }
        } then: { cache in
          let outcome = Result { try cache.absence(of: request) }
          if kind < 3, case .success = outcome { fatalError("kind \(kind) was believed") }
          for number in 3..<6 { cache.noteAbsence(of: SamplePoster.request(number), absence) }
          _ = cache.store(SamplePoster.make(3))
          let index = try DiskCache.verify(directory: cache.directory.path).index
          if kind < 3, index == .intact { fatalError("kind \(kind) was not noticed") }
        }
      }
    }
  }

  @Test func `a date that cannot be is no trap for a listing`() async throws {
    await #expect(processExitsWith: .success) {
      print(Date(milliseconds: .max).formatted(.iso8601))
    }
  }

  @Test func `a list of free pages that cannot be is no trap`() async throws {
    await #expect(processExitsWith: .success) { try DiskRowDamageTests.damageFreePages() }
  }

  private static func damageFreePages() throws {
    let directory = TemporaryDirectory()
    for number in 0..<3 {
      try DiskCache(directory: directory.path).insert(SamplePoster.make(number))
    }
    let index = "\(directory.path)/index/data.mdb"
    var bytes = try Data(contentsOf: URL(filePath: index))
    func number<Value: FixedWidthInteger>(_ offset: Int, _: Value.Type) -> Int {
      Int(bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Value.self) })
    }
    // The newer of the first two pages, and in it the root of the table of free pages.
    let meta = number(144, UInt64.self) > number(4096 + 144, UInt64.self) ? 0 : 4096
    let root = number(meta + 80, UInt64.self) * 4096
    let node = root + number(root + 16, UInt16.self)
    let value = node + 8 + number(node + 6, UInt16.self)
    withUnsafeBytes(of: 1 << 60) { bytes.replaceSubrange(value..<value + 8, with: $0) }
    try bytes.write(to: URL(filePath: index))
    do {
      _ = try DiskCache(directory: directory.path).statistics()
    } catch {
      print(error)
    }
  }

  /// A cache with a poster whose index is damaged by `body`, and opened again.
  static func damaging(
    _ body: (IndexTransaction) throws(PosterError) -> Void, then: (DiskCache) throws -> Void
  ) throws {
    let directory = TemporaryDirectory()
    do {
      let cache = try DiskCache(directory: directory.path)
      _ = cache.store(SamplePoster.make(1))
      cache.close()
      try cache.index.write(body)
    }
    do {
      try then(DiskCache(directory: directory.path))
    } catch let error as PosterError {
      // Saying so is right.
      print(error)
    }
  }
}
