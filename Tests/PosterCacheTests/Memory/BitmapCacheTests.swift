import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct BitmapCacheTests {
  private static func key(_ poster: Int, width: Int = 10) -> ImageKey {
    ImageKey(
      poster: SamplePoster.request(poster).key,
      rendition: Rendition(.fitting(PixelSize(width: width, height: 25))))
  }

  /// A bitmap of `width` x 25 pixels: 100 bytes for each pixel of its width.
  private static func entry(_ poster: Int, width: Int = 10, version: Int = 0) -> BitmapEntry {
    let size = PixelSize(width: width, height: 25)
    let bitmap = Bitmap(size, alpha: .premultiplied, isOpaque: true) { bytes in
      bytes.initializeMemory(as: UInt8.self, repeating: UInt8(poster))
    }
    return BitmapEntry(
      image: PosterImage(
        bitmap: bitmap, fullSize: size, type: .jpeg, colorProfile: nil, isComplete: true,
        averageColor: PosterColor(red: 1, green: 2, blue: 3)),
      metadata: SamplePoster.make(poster, bytes: 4, version: version).metadata,
      bodyHash: UInt64(version))
  }

  private static func kept(_ cache: BitmapCache, _ posters: ClosedRange<Int>) -> [Int] {
    posters.filter { cache.peek(key($0)) != nil }
  }

  @Test func `the limit counts bytes of pixels`() {
    let cache = BitmapCache(limitBytes: 10_000)
    for number in 1...11 { cache.insert(Self.entry(number), for: Self.key(number), isSeen: true) }
    #expect(cache.totalBytes == 10_000 && cache.count == 10)
    #expect(Self.kept(cache, 1...11) == Array(2...11))
    let found = cache.entry(for: Self.key(2), isSeen: true)
    #expect(found?.image.bitmap.byteCount == 1000)
    #expect(found?.image.bitmap.withUnsafeBytes { $0.allSatisfy { $0 == 2 } } == true)
    cache.trim(toBytes: 1999)
    #expect(Self.kept(cache, 1...11) == [2])
    cache.removeAll()
    #expect(cache.count == 0 && cache.totalBytes == 0)
  }

  @Test func `what is pinned is not evicted by the limit, by a trim or by inserts`() {
    let cache = BitmapCache(limitBytes: 10_000)
    for number in 1...10 { cache.insert(Self.entry(number), for: Self.key(number), isSeen: false) }
    cache.pin(Self.key(1))
    cache.pin(Self.key(1))
    cache.pin(Self.key(2))
    #expect(cache.pinnedBytes == 2000)
    for number in 11...40 { cache.insert(Self.entry(number), for: Self.key(number), isSeen: true) }
    #expect(Self.kept(cache, 1...10) == [1, 2])
    cache.trim(toBytes: 0)
    #expect(cache.count == 2 && cache.totalBytes == 2000)
    cache.unpin(Self.key(1))
    cache.trim(toBytes: 0)
    #expect(Self.kept(cache, 1...2) == [1, 2])
    cache.unpin(Self.key(1))
    cache.trim(toBytes: 0)
    #expect(Self.kept(cache, 1...2) == [2])
    #expect(cache.pinnedBytes == 1000)
  }

  @Test func `a new one that pinned ones leave no room for is not kept, and evicts nothing`() {
    let cache = BitmapCache(limitBytes: 10_000)
    for number in 1...10 {
      cache.insert(Self.entry(number), for: Self.key(number), isSeen: true)
      if number > 1 { cache.pin(Self.key(number)) }
    }
    let isSmallKept = cache.insert(Self.entry(11), for: Self.key(11), isSeen: true)
    #expect(isSmallKept)
    #expect(Self.kept(cache, 1...11) == Array(2...11))
    cache.pin(Self.key(11))
    let isKept = cache.insert(Self.entry(12, width: 1), for: Self.key(12), isSeen: true)
    #expect(!isKept)
    #expect(Self.kept(cache, 1...12) == Array(2...11))
    // Not even if it is pinned itself.
    cache.pin(Self.key(13))
    let isPinnedKept = cache.insert(Self.entry(13, width: 1), for: Self.key(13), isSeen: true)
    #expect(!isPinnedKept)
  }

  @Test func `a pin holds for what is inserted later, and in a later version`() {
    let cache = BitmapCache(limitBytes: 10_000)
    cache.pin(Self.key(1))
    #expect(cache.pinnedBytes == 0)
    cache.insert(Self.entry(1), for: Self.key(1), isSeen: false)
    cache.trim(toBytes: 0)
    #expect(cache.pinnedBytes == 1000)
    cache.remove(Self.key(1).poster)
    #expect(cache.count == 0 && cache.pinnedBytes == 0)
    cache.insert(Self.entry(1, version: 1), for: Self.key(1), isSeen: false)
    cache.trim(toBytes: 0)
    #expect(cache.peek(Self.key(1))?.bodyHash == 1)
    cache.removeAll()
    #expect(cache.count == 0)
    cache.insert(Self.entry(1, version: 2), for: Self.key(1), isSeen: false)
    cache.unpin(Self.key(1))
    // Pinned things have been seen: an unseen one goes first.
    cache.insert(Self.entry(2), for: Self.key(2), isSeen: false)
    cache.trim(toBytes: 1000)
    #expect(Self.kept(cache, 1...2) == [1])
  }

  @Test func `one over a tenth of the limit is not kept, pinned or not`() {
    let cache = BitmapCache(limitBytes: 10_000)
    for number in 1...10 { cache.insert(Self.entry(number), for: Self.key(number), isSeen: true) }
    cache.pin(Self.key(11, width: 11))
    let isKept = cache.insert(
      Self.entry(11, width: 11), for: Self.key(11, width: 11), isSeen: true)
    #expect(!isKept)
    #expect(cache.count == 10)
    let isLargerKept = cache.insert(Self.entry(1, width: 11), for: Self.key(1), isSeen: true)
    #expect(!isLargerKept)
    #expect(Self.kept(cache, 1...10) == Array(2...10))
  }

  @Test func `all renditions of a poster are renewed and removed together`() {
    let cache = BitmapCache(limitBytes: 10_000_000)
    for width in 1...200 {
      cache.insert(Self.entry(1, width: width), for: Self.key(1, width: width), isSeen: true)
    }
    for number in 2...50 { cache.insert(Self.entry(number), for: Self.key(number), isSeen: true) }
    var confirmed = SamplePoster.make(1).metadata
    confirmed.expiresAt += 1000
    cache.renew(Self.key(1).poster, confirmed, bodyHash: 0)
    #expect((1...200).allSatisfy { cache.peek(Self.key(1, width: $0))?.metadata == confirmed })
    #expect(cache.peek(Self.key(1, width: 7))?.image.bitmap.byteCount == 700)
    #expect(cache.peek(Self.key(2))?.metadata == SamplePoster.make(2).metadata)
    #expect(cache.holds(Self.key(1).poster))
    cache.remove(Self.key(1).poster)
    #expect(!cache.holds(Self.key(1).poster))
    #expect((1...200).allSatisfy { cache.peek(Self.key(1, width: $0)) == nil })
    #expect(cache.count == 49 && cache.totalBytes == 49_000)
    // Nothing of it is left behind.
    cache.remove(Self.key(1).poster)
    cache.renew(Self.key(1).poster, confirmed, bodyHash: 0)
    #expect(cache.count == 49)
  }

  @Test func `what was made of another version goes, unless it came later`() {
    let cache = BitmapCache(limitBytes: 100_000)
    func metadata(_ version: Int) -> PosterMetadata {
      var metadata = Self.entry(1, version: version).metadata
      metadata.storedAt += Double(version)
      return metadata
    }
    for version in 0...2 {
      let width = 10 + version
      let image = Self.entry(1, width: width).image
      cache.insert(
        BitmapEntry(image: image, metadata: metadata(version), bodyHash: UInt64(version)),
        for: Self.key(1, width: width), isSeen: true)
    }
    let later = metadata(2)
    var now = metadata(1)
    now.expiresAt += 1000
    cache.renew(Self.key(1).poster, now, bodyHash: 1)
    #expect(cache.peek(Self.key(1, width: 10)) == nil)
    #expect(cache.peek(Self.key(1, width: 11))?.metadata == now)
    #expect(cache.peek(Self.key(1, width: 12))?.metadata == later)
    #expect(cache.count == 2 && cache.totalBytes == 2300)
  }

  @Test func `being renewed is no use`() {
    let cache = BitmapCache(limitBytes: 10_000)
    for number in 1...10 { cache.insert(Self.entry(number), for: Self.key(number), isSeen: true) }
    cache.renew(Self.key(1).poster, SamplePoster.make(1).metadata, bodyHash: 0)
    cache.insert(Self.entry(11), for: Self.key(11), isSeen: true)
    #expect(Self.kept(cache, 1...11) == Array(2...11))
  }

  @Test func `renditions are different pictures`() {
    let cache = BitmapCache(limitBytes: 100_000)
    let size = PixelSize(width: 10, height: 25)
    let renditions = [
      Rendition(.full), Rendition(.fitting(size)), Rendition(.filling(size)),
      Rendition(.fitting(size), alpha: .straight), Rendition(.fitting(size), mayEnlarge: true),
      Rendition(.fitting(size.transposed)),
    ]
    let poster = SamplePoster.request(1).key
    for (index, rendition) in renditions.enumerated() {
      cache.insert(
        Self.entry(1, version: index), for: ImageKey(poster: poster, rendition: rendition),
        isSeen: true)
    }
    for (index, rendition) in renditions.enumerated() {
      let found = cache.entry(for: ImageKey(poster: poster, rendition: rendition), isSeen: true)
      #expect(found?.bodyHash == UInt64(index))
    }
  }
}
