import PosterCache
import Testing

@testable import postercache_bench

/// Posters as heavy as real ones.
@Suite(.timeLimit(.minutes(1)))
struct WeightedPosterTests {
  @Test(
    arguments: [
      (21_000, 20_000), (30_000, 30_000), (39_000, 40_000), (60_000, 75_000), (81_000, 110_000),
    ])
  func `the heavier one is drawn, the more is added`(drawn: Int, wanted: Int) {
    #expect(WeightedPoster.wantedBytes(drawn) == wanted)
  }

  @Test func `a poster is the same each time and decodes`() throws {
    let bytes = WeightedPoster.encode(name: "8uO0gUM8aNqYLs1OsTBQiXu0fEv.jpg")
    #expect(bytes == WeightedPoster.encode(name: "8uO0gUM8aNqYLs1OsTBQiXu0fEv.jpg"))
    let bitmap = try ImageDecoder().decode(PosterBody(copying: bytes)).bitmap
    #expect(bitmap.size.width == 342)
  }

  /// A JFIF header of four bytes (its length's two, and two more) and the end of the picture.
  @Test func `comments go behind the header and have the wanted length`() {
    let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xD9]
    var generator = SplitMix64(seed: 1)
    #expect(WeightedPoster.padded(jpeg, to: 14, &generator) == jpeg)
    let short = WeightedPoster.padded(jpeg, to: 20, &generator)
    #expect(short.count == 20)
    #expect(short[..<12] == [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xFE, 0, 8])
    #expect(short.suffix(2) == [0xFF, 0xD9])
    let long = WeightedPoster.padded(jpeg, to: 100_000, &generator)
    #expect(long.count == 100_000)
    #expect(long[8..<12] == [0xFF, 0xFE, 0xFF, 0xFF])
    #expect(long[8 + 65_537..<8 + 65_539] == [0xFF, 0xFE])
  }

  @Test func `a curve is read between its settings`() {
    let curve = WaitCurve(points: [
      .init(use: 0.5, alone: 100, burst: 200), .init(use: 1, alone: 200, burst: 600),
    ])
    #expect(curve.wait(at: 0.75, \.alone) == 150)
    #expect(curve.wait(at: 0.75, \.burst) == 400)
    #expect(curve.wait(at: 0.1, \.alone) == 100)
    #expect(curve.wait(at: 1.2, \.alone) == 200)
    #expect(WaitCurve(points: []).wait(at: 1, \.alone) == nil)
  }
}
