import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// List pages, and what was warmed of lists.
@Suite(.timeLimit(.minutes(5)))
struct DiskPageTests {
  private let directory = TemporaryDirectory()

  private func page(
    _ number: Int, bytes: Int = 3000, second: Int = 0, version: Int = 0
  ) throws -> StoredPage {
    var random = SeededGenerator(seed: UInt64(number * 1000 + version))
    var metadata = PageMetadata(
      address: try PosterAddress("http://api.test/3/list?page=\(number)"),
      etag: number % 2 == 0 ? "W/\"\(version)\"" : nil,
      lastModified: number % 3 == 0 ? "Wed, 01 Jan 2025 00:00:00 GMT" : nil,
      storedAt: Date(timeIntervalSince1970: 1_800_000_000 + Double(second)),
      expiresAt: Date(timeIntervalSince1970: 1_800_000_300.125 + Double(second)),
      variant: number % 5 == 0 ? Variant(fields: "accept-encoding", hash: 7) : nil)
    metadata.staleUse.ifErrorSeconds = UInt32(number % 7)
    // Nothing that deflate could make much smaller.
    let body = (0..<bytes).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    return StoredPage(metadata: metadata, body: PosterBody(copying: body))
  }

  private func expect(
    _ page: StoredPage?, in cache: DiskCache, at number: Int,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let address = try PosterAddress("http://api.test/3/list?page=\(number)")
    let found = try cache.page(at: address)
    #expect(found?.metadata == page?.metadata, sourceLocation: location)
    #expect(found?.body == page?.body, sourceLocation: location)
  }

  @Test func `a page is readable at once, by others once it is written, and after reopening`()
    throws
  {
    do {
      let caches = try (0..<2).map { _ in try DiskCache(directory: directory.path) }
      let first = try page(30)
      // Nothing can be written meanwhile.
      try caches[0].index.holdingWriters { () throws(PosterError) in
        caches[0].notePage(first)
        #expect(try caches[0].page(at: first.metadata.address)?.body == first.body)
        #expect(try caches[1].page(at: first.metadata.address) == nil)
      }
      try caches[0].flush()
      for cache in caches { try expect(first, in: cache, at: 30) }
      let second = try page(30, bytes: 40_000, version: 1)
      caches[1].notePage(second)
      try caches[1].flush()
      for cache in caches { try expect(second, in: cache, at: 30) }
      try expect(nil, in: caches[0], at: 31)
    }
    let cache = try DiskCache(directory: directory.path)
    try expect(try page(30, bytes: 40_000, version: 1), in: cache, at: 30)
    try DiskInspection(directory.path).expectSound("with a page")
  }

  @Test func `pages are no posters, and go with everything else`() throws {
    let cache = try DiskCache(directory: directory.path)
    #expect(cache.store(SamplePoster.make(1)) == nil)
    for number in 0..<20 { cache.notePage(try page(number, bytes: number * 500)) }
    try cache.noteWarmed([SamplePoster.request(1).key], list: "a")
    let statistics = try cache.statistics()
    #expect(statistics.pages == 20)
    #expect(statistics.entries == 1)
    var entries = 0
    try cache.forEachEntry { _ in
      entries += 1
      return true
    }
    #expect(entries == 1)
    for number in 0..<20 {
      try expect(try page(number, bytes: number * 500), in: cache, at: number)
    }
    try cache.removeAll()
    #expect(try cache.statistics().pages == 0)
    #expect(try cache.warmed(list: "a") == nil)
    try expect(nil, in: cache, at: 3)
  }

  @Test func `pages keep to their share of the limit, the oldest go first, and the limit holds`()
    throws
  {
    let limit = 32 << 20
    let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: limit))
    for number in 0..<900 { #expect(cache.store(SamplePoster.make(number, bytes: 40_000)) == nil) }
    let before = try cache.statistics()
    for number in 0..<200 { cache.notePage(try page(number, bytes: 20_000, second: number)) }
    try cache.flush()
    let statistics = try cache.statistics()
    #expect(statistics.bytes <= limit)
    // A 64th of the limit; a page takes five of the index' pages, and a little.
    let most = limit / 64 / (5 * 4096)
    #expect((most / 2...most).contains(statistics.pages), "\(statistics.pages)")
    #expect(statistics.entries > before.entries - 40)
    let kept = try (0..<200).filter { number in
      try cache.page(at: page(number, bytes: 0).metadata.address) != nil
    }
    #expect(kept == Array(200 - statistics.pages..<200))
    try cache.trim(to: ByteSize(bytes: 4 << 20))
    #expect(try cache.statistics().pages <= 3)
    try DiskInspection(directory.path).expectSound("with pages")
  }

  @Test func `what is too long for its share is not kept, and replaces what was there`() throws {
    let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: 8 << 20))
    cache.notePage(try page(1, bytes: 10_000))
    cache.notePage(try page(2, bytes: 10_000))
    cache.notePage(try page(1, bytes: 40_000, version: 1))
    try cache.flush()
    try expect(nil, in: cache, at: 1)
    try expect(try page(2, bytes: 10_000), in: cache, at: 2)
    cache.notePage(try page(2, bytes: PageRow.maximumBodyBytes + 1))
    try expect(nil, in: cache, at: 2)
    try cache.flush()
    try expect(nil, in: cache, at: 2)
  }

  @Test func `pages make room for each other, and not in place of what was warmed`() throws {
    let cache = try DiskCache(directory: directory.path, limit: ByteSize(bytes: 8 << 20))
    let keys = (0..<1000).map { SamplePoster.request($0).key }
    try cache.noteWarmed(keys, list: "trending")
    // Noted later than all of them.
    for number in 0..<60 { cache.notePage(try page(number, second: 100_000_000 + number)) }
    try cache.flush()
    #expect(try cache.warmed(list: "trending") == Set(keys))
    #expect((5..<40).contains(try cache.statistics().pages))
    // Of many lists, those that were warmed last.
    for number in 0..<40 { try cache.noteWarmed(keys, list: "list \(number)") }
    #expect(try cache.statistics().pages == 0)
    #expect(try cache.warmed(list: "list 39") == Set(keys))
  }

  @Test func `every damaged byte of a row makes it a miss`() throws {
    let row = try #require(PageRow.bytes(of: page(30, bytes: 200), seed: 9))
    let whole = row.withUnsafeBytes { PageRow(bytes: $0, seed: 9)?.page }
    #expect(whole?.metadata == (try page(30, bytes: 200).metadata))
    for index in row.indices {
      var damaged = row
      damaged[index] ^= 0x10
      #expect(damaged.withUnsafeBytes { PageRow(bytes: $0, seed: 9) == nil }, "byte \(index)")
    }
    for length in 0..<row.count {
      #expect(row[..<length].withUnsafeBytes { PageRow(bytes: $0, seed: 9) == nil }, "\(length)")
    }
    #expect(row.withUnsafeBytes { PageRow(bytes: $0, seed: 8) == nil })
  }

  @Test func `a row whose lengths contradict each other is a miss, never a trap`() throws {
    let cache = try DiskCache(directory: directory.path)
    let address = try page(30).metadata.address
    var random = SeededGenerator(seed: 5)
    for _ in 0..<300 {
      // The checksum is right, the rest nonsense.
      let payload = (0..<Int.random(in: 8...60, using: &random)).map { _ in
        UInt8.random(in: 0...(.random(using: &random) ? 3 : 255), using: &random)
      }
      let body =
        [UInt8.random(in: 0...3, using: &random)] + [UInt8](repeating: 0, count: 8) + payload
      let check = body.withUnsafeBytes { xxh3($0, seed: cache.directory.seed) }
      let row = withUnsafeBytes(of: check.littleEndian) { Array($0) } + body
      try cache.index.edit { editor throws(PosterError) in
        try editor.notePage(CacheKey(address), row)
        try editor.notePage(WarmedList.key(of: "a", part: 0), row)
      }
      _ = try cache.page(at: address)
      _ = try cache.warmed(list: "a")
    }
  }

  @Test func `what was warmed of a list comes back whole or not at all`() throws {
    let cache = try DiskCache(directory: directory.path)
    #expect(try cache.warmed(list: "trending") == nil)
    for count in [0, 1, PageRow.keysPerRow, 3 * PageRow.keysPerRow + 1, 2] {
      let keys = (0..<count).map { SamplePoster.request($0).key }
      try cache.noteWarmed(keys, list: "trending")
      try cache.noteWarmed(keys.prefix(1), list: "popular")
      #expect(try cache.warmed(list: "trending") == Set(keys), "\(count)")
      #expect(try cache.warmed(list: "popular") == Set(keys.prefix(1)))
    }
    let many = (0..<2 * PageRow.keysPerRow).map { SamplePoster.request($0).key }
    try cache.noteWarmed(many, list: "trending")
    try cache.index.edit { editor throws(PosterError) in
      _ = try editor.transaction.delete(.pages, WarmedList.key(of: "trending", part: 1))
    }
    #expect(try cache.warmed(list: "trending") == nil)
    // As many as fit into a 128th of the limit.
    try cache.setLimit(ByteSize(bytes: 2 << 20))
    try cache.noteWarmed(many, list: "trending")
    #expect(try cache.warmed(list: "trending") == Set(many.prefix((2 << 20) / 128 / 16)))
    try cache.setLimit(ByteSize(bytes: 64 << 10))
    try cache.noteWarmed(many, list: "trending")
    #expect(try cache.warmed(list: "trending") == Set(many.prefix(32)))
  }
}
