import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct LookupTableTests {
  private final class Number: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
  }

  /// Keys that collide: only five different places.
  @Test(arguments: [UInt64.random(in: 0...UInt64.max), 1, 2, 3])
  func `random operations match a dictionary`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let table = LookupTable<CacheKey, Number>(places: 128)
    defer { table.deallocate() }
    var model: [CacheKey: Number] = [:]
    for step in 0..<20_000 {
      let high = UInt64.random(in: 0..<60, using: &generator)
      let key = CacheKey(high: high, low: high % 5 &* 0xFFFF_FFFF_FFFF_FFF1)
      let found = table.find(key)
      let known = model[key]
      try #require(found?.slot == known.map { Int32($0.number) }, "seed \(seed), step \(step)")
      let number = Number(step)
      switch (Int.random(in: 0..<3, using: &generator), known) {
      case (0, nil):
        table.insert(key, .passUnretained(number), slot: Int32(step))
        model[key] = number
      case (1, let known?):
        let removed = table.remove(key).takeUnretainedValue()
        try #require(removed === known, "seed \(seed), step \(step)")
        model[key] = nil
      case (2, let known?):
        let same = Number(known.number)
        let replaced = table.replace(key, by: .passUnretained(same)).takeUnretainedValue()
        try #require(replaced === known, "seed \(seed), step \(step)")
        model[key] = same
      default: break
      }
    }
    var count = 0
    table.visit { entry in
      count += model[entry.key] === entry.value?.takeUnretainedValue() ? 1 : 0
    }
    #expect(count == model.count, "seed \(seed)")
  }

  @Test func `the renditions of a poster are spread over the table`() {
    let poster = CacheKey(high: 1, low: 0x1234_5678_9ABC_DEF0)
    var places: Set<UInt64> = []
    var count = 0
    for width in 1...64 {
      for height in [1, 100, 231, 1 << 30] {
        let size = PixelSize(width: width, height: height)
        for rendition in [Rendition(.fitting(size)), Rendition(.filling(size), alpha: .straight)] {
          places.insert(ImageKey(poster: poster, rendition: rendition).place & 0xFFFF)
          count += 1
        }
      }
    }
    // As many as would be different if places were drawn at random: all but two or so.
    #expect(places.count > count - 10, "\(places.count) of \(count)")
  }

  @Test func `slots leave a heap in the order of their use`() {
    var generator = SeededGenerator()
    var heap = SlotHeap()
    var model: [Int32: UInt64] = [:]
    for time in 1...20_000 as ClosedRange<UInt64> {
      let slot = Int32.random(in: 0..<200, using: &generator)
      if model[slot] == nil {
        let use = time + UInt64.random(in: 0..<300, using: &generator) * 100_000
        heap.insert(slot, use: use)
        model[slot] = use
      } else if Bool.random(using: &generator) {
        let use = heap.remove(slot)
        #expect(use == model[slot], "seed \(generator.seed), time \(time)")
        model[slot] = nil
      } else if let first = heap.first {
        let least = model.min { $0.value < $1.value }
        #expect(first.use == least?.value, "seed \(generator.seed), time \(time)")
        heap.renewFirst(use: first.use + 10_000_000 + time)
        model[first.slot] = first.use + 10_000_000 + time
      }
      #expect(heap.count == model.count)
    }
  }
}
