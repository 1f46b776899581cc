import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct RenditionTests {
  @Test(arguments: [
    // Full size, box, fitting, filling.
    ((3024, 4032), (280, 360), (270, 360), (280, 373)),
    ((500, 750), (154, 231), (154, 231), (154, 231)),
    ((342, 513), (154, 231), (154, 231), (154, 231)),
    ((50, 50), (984, 984), (50, 50), (50, 50)),
    ((1000, 1), (10, 10), (10, 1), (1000, 1)),
    ((1, 30_000), (1, 1), (1, 1), (1, 30_000)),
    ((3, 2), (2, 2), (2, 1), (3, 2)),
    ((100, 50), (40, 80), (40, 20), (100, 50)),
    ((100, 50), (100, 50), (100, 50), (100, 50)),
    ((1 << 30, 1 << 30), (1, 1), (1, 1), (1, 1)),
    ((1 << 30, 1), (1 << 29, 1), (1 << 29, 1), (1 << 30, 1)),
    ((1920, 1080), (1 << 30, 90), (160, 90), (1920, 1080)),
  ])
  func `sizes are the right ones`(
    _ full: (Int, Int), _ box: (Int, Int), _ fitting: (Int, Int), _ filling: (Int, Int)
  ) {
    let picture = Self.size(full)
    #expect(Rendition(.full).size(of: picture) == picture)
    #expect(Rendition(.fitting(Self.size(box))).size(of: picture) == Self.size(fitting))
    #expect(Rendition(.filling(Self.size(box))).size(of: picture) == Self.size(filling))
  }

  @Test(arguments: [
    ((50, 50), (984, 984), (984, 984), (984, 984)),
    ((50, 75), (100, 100), (67, 100), (100, 150)),
    ((1, 1), (1000, 1), (1, 1), (1000, 1000)),
    ((1, 1 << 30), (1 << 30, 1), (1, 1), (1 << 30, 1 << 30)),
    ((500, 750), (154, 231), (154, 231), (154, 231)),
  ])
  func `pictures grow where they may`(
    _ full: (Int, Int), _ box: (Int, Int), _ fitting: (Int, Int), _ filling: (Int, Int)
  ) {
    let picture = Self.size(full)
    #expect(
      Rendition(.fitting(Self.size(box)), mayEnlarge: true).size(of: picture) == Self.size(fitting))
    #expect(
      Rendition(.filling(Self.size(box)), mayEnlarge: true).size(of: picture) == Self.size(filling))
    #expect(Rendition(.full, mayEnlarge: true).size(of: picture) == picture)
  }

  @Test func `any picture keeps to any box, and its proportions within a pixel`() {
    var generator = SeededGenerator()
    for _ in 0..<20_000 {
      let full = Self.random(&generator)
      let box = Self.random(&generator)
      let mayEnlarge = Bool.random(using: &generator)
      let comment = "seed \(generator.seed): \(full) into \(box), enlarging: \(mayEnlarge)"
      let fitted = Rendition(.fitting(box), mayEnlarge: mayEnlarge).size(of: full)
      let filled = Rendition(.filling(box), mayEnlarge: mayEnlarge).size(of: full)
      #expect(fitted.width <= box.width && fitted.height <= box.height, "\(comment): \(fitted)")
      let covers = filled.width >= box.width && filled.height >= box.height
      let isCutOff = max(filled.width, filled.height) == PixelSize.maximumSide
      #expect(covers || !mayEnlarge && filled == full || isCutOff, "\(comment): \(filled)")
      if !mayEnlarge {
        #expect(fitted.width <= full.width && fitted.height <= full.height, "\(comment)")
        #expect(filled.width <= full.width && filled.height <= full.height, "\(comment)")
      }
      #expect(Self.keepsProportions(fitted, full), "\(comment): \(fitted)")
      #expect(isCutOff || Self.keepsProportions(filled, full), "\(comment): \(filled)")
    }
  }

  /// Whether one factor gives both sides within a pixel.
  private static func keepsProportions(_ size: PixelSize, _ full: PixelSize) -> Bool {
    let factors = [
      (Double(size.width), Double(full.width)), (Double(size.height), Double(full.height)),
    ]
    // A side of one pixel may have been rounded up from less.
    let least = factors.map { $0.0 == 1 ? 0 : ($0.0 - 0.5) / $0.1 }.max() ?? 0
    let most = factors.map { ($0.0 + 0.5) / $0.1 }.min() ?? 0
    return least <= most * (1 + 1e-9)
  }

  private static func random(_ generator: inout SeededGenerator) -> PixelSize {
    func side() -> Int {
      let most = [3, 100, 5000, 1 << 30].randomElement(using: &generator) ?? 1
      return .random(in: 1...most, using: &generator)
    }
    return PixelSize(width: side(), height: side())
  }

  private static func size(_ sides: (Int, Int)) -> PixelSize {
    PixelSize(width: sides.0, height: sides.1)
  }
}
