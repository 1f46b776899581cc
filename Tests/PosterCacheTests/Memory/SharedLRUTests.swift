import TestSupport
import Testing

@testable import PosterCache

/// A value that knows what it was inserted under.
private final class Labelled: Sendable {
  let key: ImageKey
  let number: Int
  let cost: Int

  init(_ key: ImageKey, _ number: Int, cost: Int) {
    self.key = key
    self.number = number
    self.cost = cost
  }
}

@Suite(.timeLimit(.minutes(2)))
struct SharedLRUTests {
  private typealias Cache = SharedLRU<ImageKey, Labelled>

  /// Rendition `rendition` of poster `poster`; few places in the table, so that keys collide.
  private static func key(_ poster: Int, _ rendition: Int) -> ImageKey {
    let size = PixelSize(width: 100 + rendition, height: 150)
    return ImageKey(
      poster: CacheKey(high: UInt64(poster), low: UInt64(poster % 7) &* 0xFFFF_FFFF_FFFF_FFF1),
      rendition: rendition == 0 ? Rendition(.full) : Rendition(.fitting(size)))
  }

  @Test(arguments: [UInt64.random(in: 0...UInt64.max), 1, 2, 3])
  func `one thread's random operations match a naive model`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let limit = 400
    let cache = Cache(limit: limit)
    var model = NaiveCache<ImageKey, Int>(limit: limit)
    for step in 0..<30_000 {
      let (poster, rendition) = (
        Int.random(in: 0..<30, using: &generator), Int.random(in: 0..<4, using: &generator)
      )
      let key = Self.key(poster, rendition)
      let isSeen = Bool.random(using: &generator)
      switch Int.random(in: 0..<1000, using: &generator) {
      case 0..<350:
        let cost = Int.random(in: 0...44, using: &generator)
        let value = Labelled(key, step, cost: cost)
        let isKept = cache.insert(value, for: key, cost: cost, isSeen: isSeen)
        let expected = model.insert(step, for: key, cost: cost, isSeen: isSeen)
        try #require(isKept == expected, "seed \(seed), step \(step)")
      case 350..<800:
        let found = cache.value(for: key, isSeen: isSeen)
        let expected = model.value(for: key, isSeen: isSeen)
        try #require(found?.number == expected, "seed \(seed), step \(step)")
      case 800..<850:
        cache.remove(key)
        model.remove { $0 == key }
      case 850..<870:
        cache.remove(family: key.poster)
        model.remove { $0.poster == key.poster }
      case 870..<890:
        cache.renew(family: key.poster) { Labelled($0.key, -$0.number, cost: $0.cost) }
        model.renew(where: { $0.poster == key.poster }, { -$0 })
      case 890..<930:
        cache.pin(key)
        model.pin(key)
      case 930..<980:
        if model.unpin(key) { cache.unpin(key) }
      case 980..<995:
        let cost = Int.random(in: 0...limit, using: &generator)
        cache.trim(to: cost)
        model.trim(to: cost)
      case 995..<998:
        let found = cache.peek(key)
        let expected = model.items.first { $0.key == key }?.value
        try #require(found?.number == expected, "seed \(seed), step \(step)")
      case 998:
        cache.removeAll()
        model.remove { _ in true }
      default:
        let order = cache.keysByEviction
        try #require(order == model.keysByEviction, "seed \(seed), step \(step)")
      }
      let totals = cache.totals
      try #require(totals.count == model.items.count, "seed \(seed), step \(step)")
      try #require(totals.cost == model.totalCost, "seed \(seed), step \(step)")
      try #require(totals.pinnedCost == model.pinnedCost, "seed \(seed), step \(step)")
    }
    #expect(cache.keysByEviction == model.keysByEviction, "seed \(seed)")
  }

  @Test func `more than one epoch's hits keep their order`() {
    let cache = SharedLRU<CacheKey, StoredPoster>(limit: 1 << 20)
    let posters = (0..<50).map { SamplePoster.make($0, bytes: 100) }
    for poster in posters { cache.insert(poster, for: poster.key, cost: 100, isSeen: true) }
    var generator = SeededGenerator(seed: 5)
    var order = posters.map(\.key)
    for _ in 0..<20_000 {
      let key = posters[Int.random(in: 0..<50, using: &generator)].key
      _ = cache.value(for: key, isSeen: true)
      order.removeAll { $0 == key }
      order.append(key)
    }
    #expect(cache.keysByEviction == order)
  }

  @Test func `uses of one thread follow those of another that has ended`() async {
    let cache = SharedLRU<CacheKey, StoredPoster>(limit: 1 << 20)
    let posters = (0..<40).map { SamplePoster.make($0, bytes: 100) }
    for poster in posters { cache.insert(poster, for: poster.key, cost: 100, isSeen: false) }
    // An insert between them begins an epoch.
    for thread in 0..<3 {
      let worker = WorkerThread(name: "look") {
        for poster in posters[(thread * 10)..<(thread * 10 + 10)].reversed() {
          _ = cache.value(for: poster.key, isSeen: thread == 0)
        }
      }
      worker.join()
      let last = posters[39 - thread]
      cache.insert(last, for: last.key, cost: 100, isSeen: false)
    }
    var order = Array(30..<37) + [39]
    order += (10..<20).reversed() + [38]
    order += (20..<30).reversed() + [37]
    // Seen by the first thread.
    order += (0..<10).reversed()
    #expect(cache.keysByEviction == order.map { posters[$0].key })
  }

  @Test func `what is evicted, replaced or left at the end is let go of`() {
    weak var evicted: StoredPoster?
    weak var replaced: StoredPoster?
    weak var left: StoredPoster?
    do {
      let cache = SharedLRU<CacheKey, StoredPoster>(limit: 2000)
      for number in 0..<12 {
        let poster = SamplePoster.make(number, bytes: 200)
        switch number {
        case 1: evicted = poster
        case 5: replaced = poster
        case 7: left = poster
        default: break
        }
        cache.insert(poster, for: poster.key, cost: 200, isSeen: true)
      }
      #expect(evicted == nil)
      #expect(replaced != nil)
      let later = SamplePoster.make(5, bytes: 150, version: 1)
      cache.insert(later, for: later.key, cost: 150, isSeen: true)
      #expect(replaced == nil)
      #expect(left != nil)
    }
    #expect(left == nil)
  }

  /// Threads that do everything at once, where readers see what is being changed.
  @Test func `threads never see a value under another key, and totals come out exact`() async {
    let limit = 4000
    let cache = Cache(limit: limit)
    let seed = UInt64.random(in: 0...UInt64.max)
    let workers = (0..<8).map { number in
      WorkerThread(name: "torture-\(number)") {
        var generator = SeededGenerator(seed: seed &+ UInt64(number))
        var pinned: [ImageKey] = []
        for step in 0..<20_000 {
          let key = Self.key(
            Int.random(in: 0..<60, using: &generator), Int.random(in: 0..<3, using: &generator))
          switch Int.random(in: 0..<100, using: &generator) {
          case 0..<20:
            let cost = Int.random(in: 0...80, using: &generator)
            let value = Labelled(key, step, cost: cost)
            cache.insert(value, for: key, cost: cost, isSeen: step % 2 == 0)
          case 20..<90:
            if let found = cache.value(for: key, isSeen: step % 3 == 0), found.key != key {
              Issue.record("seed \(seed): \(found.key) under \(key)")
            }
          case 90..<92: cache.remove(key)
          case 92: cache.remove(family: key.poster)
          case 93:
            cache.renew(family: key.poster) { Labelled($0.key, $0.number + 1, cost: $0.cost) }
          case 94: cache.trim(to: limit / 2)
          case 95..<97:
            cache.pin(key)
            pinned.append(key)
          case 97..<99: if let key = pinned.popLast() { cache.unpin(key) }
          default:
            let totals = cache.totals
            if totals.cost > limit || totals.pinnedCost > totals.cost {
              Issue.record("seed \(seed): \(totals)")
            }
          }
        }
        for key in pinned { cache.unpin(key) }
      }
    }
    for worker in workers { worker.join() }
    let kept = cache.keysByEviction
    let costs = kept.compactMap { cache.peek($0)?.cost }
    let totals = cache.totals
    #expect(totals.count == kept.count && costs.count == kept.count, "seed \(seed)")
    #expect(totals.cost == costs.reduce(0, +) && totals.pinnedCost == 0, "seed \(seed)")
    cache.trim(to: 0)
    #expect(cache.totals.cost == 0 && kept.allSatisfy { cache.peek($0)?.cost ?? 0 == 0 })
  }

  /// Readers of more threads than there are stripes, and values that are let go of as they are found.
  @Test func `values that are replaced while many threads look remain whole`() async {
    let cache = SharedLRU<CacheKey, StoredPoster>(limit: 1 << 20)
    let versions = (0..<20).map { number in
      (0..<5).map { SamplePoster.make(number, bytes: 64, version: $0) }
    }
    for poster in versions { cache.insert(poster[0], for: poster[0].key, cost: 64, isSeen: true) }
    let workers = (0..<20).map { thread in
      WorkerThread(name: "look-\(thread)") {
        var generator = SeededGenerator(seed: UInt64(thread))
        for _ in 0..<5000 {
          let number = Int.random(in: 0..<20, using: &generator)
          let version = Int.random(in: 0..<5, using: &generator)
          let known = versions[number][version]
          if thread % 10 == 0 {
            let copy = StoredPoster(key: known.key, metadata: known.metadata, body: known.body)
            cache.insert(copy, for: copy.key, cost: 64, isSeen: true)
          } else if let found = cache.value(for: known.key, isSeen: true) {
            if found.key != known.key || found.body.count != 64 {
              Issue.record("\(found.key) under \(known.key)")
            }
          } else {
            Issue.record("\(known.key) is missing")
          }
        }
      }
    }
    for worker in workers { worker.join() }
    #expect(cache.totals.cost == 20 * 64)
  }
}
