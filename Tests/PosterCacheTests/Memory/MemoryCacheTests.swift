import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct MemoryCacheTests {
  @Test func `the limit counts the bytes of bodies`() {
    let cache = MemoryCache(limitBytes: 5000)
    for number in 1...3 { cache.insert(SamplePoster.make(number, bytes: 2000)) }
    #expect(cache.count == 2)
    #expect(cache.totalBytes == 4000)
    #expect(cache.poster(for: SamplePoster.request(1).key) == nil)
    #expect(cache.poster(for: SamplePoster.request(2).key)?.body == SamplePoster.make(2).body)
    cache.insert(SamplePoster.make(4, bytes: 2000))
    #expect(cache.poster(for: SamplePoster.request(3).key) == nil)
    cache.remove(SamplePoster.request(2).key)
    #expect(cache.totalBytes == 2000)
    cache.removeAll()
    #expect(cache.count == 0)
    #expect(cache.totalBytes == 0)
  }

  @Test func `what was read from disk does not take the place of a later version`() throws {
    let cache = MemoryCache(limitBytes: 10_000)
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
