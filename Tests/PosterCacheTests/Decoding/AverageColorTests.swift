import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct AverageColorTests {
  @Test func `the average counts each pixel as much as it is opaque`() {
    #expect(Self.average([[255, 0, 0, 255], [0, 0, 255, 255]]) == Self.color(128, 0, 128))
    #expect(Self.average([[255, 0, 0, 255], [0, 255, 0, 0]]) == Self.color(255, 0, 0))
    #expect(Self.average([[200, 100, 0, 51], [0, 100, 200, 204]]) == Self.color(40, 100, 160))
    #expect(Self.average([[10, 20, 30, 1]]) == Self.color(10, 20, 30))
  }

  @Test func `colours multiplied by alpha have the same average`() {
    #expect(
      Self.average([[200, 0, 0, 200], [0, 0, 100, 100]], alpha: .premultiplied)
        == Self.color(170, 0, 85))
    #expect(Self.average([[255, 0, 0, 200], [0, 0, 255, 100]]) == Self.color(170, 0, 85))
  }

  @Test func `a picture that cannot be seen is black`() {
    #expect(Self.average([[0, 0, 0, 0]], alpha: .premultiplied) == Self.color(0, 0, 0))
    #expect(Self.average([[9, 9, 9, 0], [8, 7, 6, 0]]) == Self.color(0, 0, 0))
  }

  @Test func `every pixel of a large white picture counts`() {
    let pixels = [[UInt8]](repeating: [255, 255, 255, 255], count: 70_000)
    #expect(Self.average(pixels) == Self.color(255, 255, 255))
    #expect(Self.average(pixels, isOpaque: true) == Self.color(255, 255, 255))
    #expect(Self.average(pixels, alpha: .premultiplied) == Self.color(255, 255, 255))
  }

  @Test func `random pictures have the average of a plain sum`() {
    var generator = SeededGenerator()
    for _ in 0..<40 {
      let isOpaque = Bool.random(using: &generator)
      let pixels = (0..<Int.random(in: 1...1500, using: &generator)).map { _ in
        (0..<3).map { _ in UInt8.random(in: 0...255, using: &generator) }
          + [isOpaque ? 255 : .random(in: 0...255, using: &generator)]
      }
      let weight = pixels.reduce(0) { $0 + Int($1[3]) }
      func plain(_ channel: Int) -> UInt8 {
        let sum = pixels.reduce(0) { $0 + Int($1[channel]) * Int($1[3]) }
        return weight == 0 ? 0 : UInt8((Double(sum) / Double(weight)).rounded())
      }
      #expect(
        Self.average(pixels, isOpaque: isOpaque)
          == PosterColor(red: plain(0), green: plain(1), blue: plain(2)),
        "seed \(generator.seed)")
    }
  }

  private static func average(
    _ pixels: [[UInt8]], alpha: Rendition.Alpha = .straight, isOpaque: Bool = false
  ) -> PosterColor {
    let size = PixelSize(width: pixels.count, height: 1)
    return Bitmap(size, alpha: alpha, isOpaque: isOpaque) { $0.copyBytes(from: pixels.joined()) }
      .averageColor
  }

  private static func color(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> PosterColor {
    PosterColor(red: red, green: green, blue: blue)
  }
}
