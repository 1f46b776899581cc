import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct MemoryCacheTests {
  private static func key(_ number: Int) -> CacheKey { SamplePoster.request(number).key }

  /// Which of `numbers` are there, without counting as use.
  private static func kept(_ cache: MemoryCache, _ numbers: Range<Int>) -> [Int] {
    numbers.filter { cache.peek(key($0)) != nil }
  }

  @Test func `reading counts as use, and the least recently used goes first`() {
    let cache = MemoryCache(limitBytes: 10_000)
    for number in 1...10 { cache.insert(SamplePoster.make(number, bytes: 1000)) }
    #expect(cache.poster(for: Self.key(1))?.body == SamplePoster.make(1, bytes: 1000).body)
    cache.insert(SamplePoster.make(11, bytes: 1000))
    #expect(Self.kept(cache, 1..<12) == [1] + Array(3...11))
    cache.insert(SamplePoster.make(12, bytes: 1000))
    #expect(Self.kept(cache, 1..<13) == [1] + Array(4...12))
    cache.trim(toBytes: 2500)
    #expect(Self.kept(cache, 1..<13) == [11, 12])
  }

  @Test func `the limit counts the bytes of bodies`() {
    let cache = MemoryCache(limitBytes: 20_000)
    for number in 1...11 { cache.insert(SamplePoster.make(number, bytes: 2000)) }
    #expect(cache.count == 10)
    #expect(cache.totalBytes == 20_000)
    #expect(cache.poster(for: Self.key(1)) == nil)
    cache.insert(SamplePoster.make(12, bytes: 1))
    #expect(cache.count == 10)
    #expect(cache.totalBytes == 18_001)
    cache.remove(Self.key(3))
    #expect(cache.totalBytes == 16_001)
    cache.removeAll()
    #expect(cache.count == 0)
    #expect(cache.totalBytes == 0)
  }

  @Test func `a poster over a tenth of the limit evicts only its earlier version`() {
    let cache = MemoryCache(limitBytes: 10_000)
    for number in 1...10 { cache.insert(SamplePoster.make(number, bytes: 1000)) }
    cache.insert(SamplePoster.make(11, bytes: 1001))
    #expect(Self.kept(cache, 1..<12) == Array(1...10))
    cache.insert(SamplePoster.make(1, bytes: 1001, version: 1))
    #expect(Self.kept(cache, 1..<12) == Array(2...10))
    #expect(cache.totalBytes == 9000)
  }

  @Test func `a limit of 0 keeps nothing`() {
    let cache = MemoryCache(limitBytes: 0)
    cache.insert(SamplePoster.make(1))
    #expect(cache.count == 0 && cache.poster(for: Self.key(1)) == nil)
  }

  @Test func `prefetched posters that nobody has seen go first, and a look promotes`() {
    let cache = MemoryCache(limitBytes: 10_000)
    for number in 1...5 { cache.insert(SamplePoster.make(number, bytes: 1000)) }
    for number in 6...10 { cache.insert(SamplePoster.make(number, bytes: 1000), isSeen: false) }
    _ = cache.poster(for: Self.key(6))
    _ = cache.poster(for: Self.key(7), isSeen: false)
    for number in 11...13 { cache.insert(SamplePoster.make(number, bytes: 1000)) }
    // 8, 9 and 10 were the least recently used of the unseen; 7 was used, but is unseen yet.
    #expect(Self.kept(cache, 1..<14) == [1, 2, 3, 4, 5, 6, 7, 11, 12, 13])
    cache.insert(SamplePoster.make(14, bytes: 1000))
    #expect(Self.kept(cache, 1..<15) == [1, 2, 3, 4, 5, 6, 11, 12, 13, 14])
    cache.insert(SamplePoster.make(15, bytes: 1000))
    #expect(Self.kept(cache, 1..<16) == [2, 3, 4, 5, 6, 11, 12, 13, 14, 15])
  }

  @Test func `prefetching takes no more from what was seen than room for one`() {
    let cache = MemoryCache(limitBytes: 10_000)
    for number in 1...10 { cache.insert(SamplePoster.make(number, bytes: 1000)) }
    for number in 100..<1100 {
      cache.insert(SamplePoster.make(number, bytes: 1000), isSeen: false)
    }
    #expect(Self.kept(cache, 1..<11) == Array(2...10))
    #expect(cache.count == 10)
  }

  @Test func `what was seen remains so in a later version`() {
    let cache = MemoryCache(limitBytes: 10_000)
    for number in 1...10 {
      cache.insert(SamplePoster.make(number, bytes: 1000), isSeen: number == 1)
    }
    cache.replace(SamplePoster.make(1, bytes: 1000, version: 1))
    cache.insert(SamplePoster.make(2, bytes: 1000, version: 1), isSeen: false)
    cache.trim(toBytes: 1000)
    #expect(Self.kept(cache, 1..<11) == [1])
    #expect(
      cache.poster(for: Self.key(1))?.body == SamplePoster.make(1, bytes: 1000, version: 1).body)
  }

  @Test func `only an earlier version is replaced`() {
    let cache = MemoryCache(limitBytes: 100_000)
    cache.replace(SamplePoster.make(1))
    #expect(cache.count == 0)
    cache.insert(SamplePoster.make(1))
    let later = SamplePoster.make(1, version: 1)
    cache.replace(later)
    #expect(cache.poster(for: later.key) === later)
  }

  @Test func `what was read from disk does not take the place of a later version`() throws {
    let cache = MemoryCache(limitBytes: 100_000)
    let later = SamplePoster.make(1, bytes: 2000)
    var metadata = later.metadata
    metadata.storedAt -= 1
    let earlier = StoredPoster(key: later.key, metadata: metadata, body: later.body)
    cache.restore(earlier)
    #expect(cache.poster(for: later.key) === earlier)
    cache.restore(later)
    #expect(cache.poster(for: later.key) === later)
    cache.restore(earlier)
    #expect(cache.poster(for: later.key) === later)
  }

  @Test func `threads that read, insert and remove at once keep the limit`() async {
    let cache = MemoryCache(limitBytes: 20_000)
    let posters = (0..<40).map { SamplePoster.make($0, bytes: 1000) }
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          var generator = SeededGenerator(seed: UInt64(worker))
          for _ in 0..<2000 {
            let poster = posters[Int.random(in: 0..<40, using: &generator)]
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: cache.insert(poster)
            case 1: cache.remove(poster.key)
            default:
              if let found = cache.poster(for: poster.key) { #expect(found === poster) }
            }
            #expect(cache.totalBytes <= 20_000)
          }
        }
      }
    }
    #expect(cache.totalBytes == cache.count * 1000)
  }
}
