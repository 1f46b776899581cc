import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(10)))
struct DiskFormatTests {
  /// `docs/disk-format.md` shows this record; what stands there must be what is written.
  @Test func `the documented sample is what the first insert writes`() throws {
    let directory = TemporaryDirectory()
    let poster = StoredPoster(
      metadata: PosterMetadata(
        address: try PosterAddress("http://demo.test/t/p/w92/a.jpg"), type: .jpeg, etag: "\"1\"",
        storedAt: Date(timeIntervalSince1970: 1_800_000_000),
        expiresAt: Date(timeIntervalSince1970: 1_800_604_800)),
      body: PosterBody(copying: [0xFF, 0xD8, 0xFF, 0xD9]))
    let cache = try DiskCache(
      in: CacheDirectory(
        directory.path, creating: true, newSeed: 0x0123_4567_89AB_CDEF,
        prepare: IndexRecovery.prepare))
    cache.insert(poster)
    try cache.flush()
    let segment = try Data(
      contentsOf: URL(filePath: "\(directory.path)/segments/00000001.seg"))
    #expect(segment.count == SegmentFormat.blockSize)
    let documented = try documentedBytes()
    let written = Array(segment.prefix(max(documented.count, RecordHeader.size)))
    #expect(written == documented, "\(hexadecimal(segment))")
    #expect(segment.dropFirst(documented.count).allSatisfy { $0 == 0 })
  }

  @Test func `rows of the index are as long as documented`() {
    #expect(CacheKey.size == 16)
    #expect(EntryRow.size == 64)
    #expect(AbsenceRow.size == 36)
    #expect(RecencyKey.size == 8)
    #expect(SegmentKey.size == 4)
    #expect(SegmentRow.size == 24)
    #expect(PendingKey.size == 12)
    #expect(TotalsRow.size == 112)
  }

  @Test func `rows come back as they were written`() {
    var entry = EntryRow(
      segment: 7, offset: 1 << 20, isPinned: true, isUnseen: false, metadataLength: 200,
      bodyLength: 40_000, sequence: 99, tick: 12, storedAt: -5, expiresAt: 1 << 50)
    entry.staleUse.isForbidden = true
    entry.staleUse.whileRevalidatingSeconds = 86_400
    entry.staleUse.ifErrorSeconds = .max
    #expect(entry.withBytes { EntryRow(bytes: $0) } == entry)
    let segment = SegmentRow(committedEnd: 8192, liveBytes: 4096, liveCount: 1, isOpen: false)
    #expect(segment.withBytes { SegmentRow(bytes: $0) } == segment)
    var totals = TotalsRow()
    totals.entries = 3
    totals.corrupt = 1 << 40
    totals.boot = Boot(high: .max, low: 7)
    #expect(totals.withBytes { TotalsRow(bytes: $0) } == totals)
    let address = SamplePoster.request(1).address
    let absence = Absence(
      status: 410, notedAt: Date(timeIntervalSince1970: 1_800_000_000),
      until: Date(timeIntervalSince1970: 1_800_000_600))
    let row = AbsenceRow(absence, of: address, seed: 7)
    #expect(row?.withBytes { AbsenceRow(bytes: $0) } == row)
    #expect(row?.absence(of: address, seed: 7) == absence)
    #expect(row?.absence(of: SamplePoster.request(2).address, seed: 7) == nil)
    let pending = PendingKey(segment: 0x0102_0304, offset: 5)
    #expect(pending.withBytes { Array($0) } == [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 5])
    #expect(pending.withBytes { PendingKey(bytes: $0) } == pending)
  }

  private func documentedBytes() throws -> [UInt8] {
    let document = try Checkout.text("docs/disk-format.md")
    var bytes: [UInt8] = []
    for line in document.split(separator: "\n") where line.hasPrefix("0000") {
      let columns = line.dropFirst(10).prefix(47).split(separator: " ")
      bytes += columns.compactMap { UInt8($0, radix: 16) }
    }
    return bytes
  }

  private func hexadecimal(_ bytes: Data) -> String {
    var text = ""
    for (offset, byte) in bytes.prefix(176).enumerated() {
      if offset % 16 == 0 { text += "\n" + padded(offset, 8) + "  " }
      text += padded(Int(byte), 2) + " "
    }
    return text
  }

  private func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: width - digits.count) + digits
  }
}
