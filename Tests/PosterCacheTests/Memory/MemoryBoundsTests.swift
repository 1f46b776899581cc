import CTestSupport
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import PosterCache

/// What the caches take beyond the bytes that their limits count. AddressSanitizer keeps what has been freed,
/// hundreds of MiB of it: nothing can be measured then.
@Suite(.timeLimit(.minutes(1)), .enabled(if: postercache_allocated_bytes() > 0))
struct MemoryBoundsTests {
  private static let slack = 64 << 20

  /// Resident bytes of this process.
  private static func residentBytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    let fields = text.split(separator: " ")
    return try #require(Int(fields[1])) * sysconf(Int32(_SC_PAGESIZE))
  }

  @Test func `10,000 prefetched posters take no more memory than the limit and 64 MiB`() throws {
    let limit = 32 << 20
    let cache = MemoryCache(limitBytes: limit)
    let before = try Self.residentBytes()
    let metadata = SamplePoster.make(0, bytes: 4).metadata
    var generator = SeededGenerator(seed: 1)
    var most = 0
    for number in 0..<10_000 {
      let bytes = Int.random(in: 20_000..<100_000, using: &generator)
      let body = PosterBody(capacity: bytes) { buffer in
        buffer.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: number))
        return bytes
      }
      let key = SamplePoster.request(number).key
      cache.insert(StoredPoster(key: key, metadata: metadata, body: body), isSeen: false)
      if number % 100 == 0 { most = max(most, try Self.residentBytes() - before) }
    }
    #expect(most < limit + Self.slack)
    #expect(cache.totalBytes <= limit && cache.totalBytes > limit - 100_000)
  }

  @Test func `bitmaps take no more memory than the limit and 64 MiB`() throws {
    let limit = 64 << 20
    let cache = BitmapCache(limitBytes: limit)
    let before = try Self.residentBytes()
    let metadata = SamplePoster.make(0, bytes: 4).metadata
    var most = 0
    for number in 0..<400 {
      let size = PixelSize(width: 1000, height: 1500)
      // Pages that nobody writes to are not resident.
      let bitmap = Bitmap(size, alpha: .premultiplied, isOpaque: true) { pixels in
        pixels.initializeMemory(as: UInt8.self, repeating: 200)
      }
      let image = PosterImage(
        bitmap: bitmap, fullSize: size, type: .jpeg, colorProfile: nil, isComplete: true,
        averageColor: PosterColor(red: 0, green: 0, blue: 0))
      cache.insert(
        BitmapEntry(image: image, metadata: metadata, bodyHash: 0),
        for: ImageKey(poster: SamplePoster.request(number).key, rendition: Rendition(.full)),
        isSeen: number % 2 == 0)
      most = max(most, try Self.residentBytes() - before)
    }
    #expect(most < limit + Self.slack)
    #expect(cache.count == limit / (1000 * 1500 * 4))
  }

  @Test func `a poster takes at most 320 bytes of tables, and a bitmap 1,024`() {
    let count = 20_000
    let poster = SamplePoster.make(0, bytes: 4)
    let keys = (0..<count).map { SamplePoster.request($0).key }
    let posters = keys.map { StoredPoster(key: $0, metadata: poster.metadata, body: poster.body) }
    let cache = MemoryCache(limitBytes: 1 << 20)
    var before = postercache_allocated_bytes()
    for poster in posters {
      cache.insert(poster)
      _ = cache.poster(for: poster.key)
    }
    #expect(cache.count == count)
    #expect((postercache_allocated_bytes() - before) / count < 320)

    let pixel = Bitmap(
      PixelSize(width: 1, height: 1), alpha: .premultiplied, isOpaque: true, fill: { _ in })
    let entry = BitmapEntry(
      image: PosterImage(
        bitmap: pixel, fullSize: pixel.size, type: .jpeg, colorProfile: nil, isComplete: true,
        averageColor: PosterColor(red: 0, green: 0, blue: 0)), metadata: poster.metadata,
      bodyHash: 0)
    let bitmaps = BitmapCache(limitBytes: 1 << 20)
    before = postercache_allocated_bytes()
    for key in keys {
      let key = ImageKey(poster: key, rendition: Rendition(.full))
      bitmaps.insert(entry, for: key, isSeen: true)
      _ = bitmaps.entry(for: key, isSeen: true)
    }
    #expect(bitmaps.count == count)
    #expect((postercache_allocated_bytes() - before) / count < 1024)
  }
}
