import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct LanczosReferenceTests {
  @Test func `the reference gives what Pillow gives`() {
    let size = PixelSize(width: 9, height: 7)
    let pixels = (0..<63).flatMap { place -> [UInt8] in
      let (y, x) = place.quotientAndRemainder(dividingBy: 9)
      return [
        UInt8((x * 31 + y * 7) % 256), UInt8(x * y * 5 % 256), UInt8(255 - x * 20),
        y < 4 ? 255 : UInt8((x * 28 + y * 3) % 256),
      ]
    }
    // Pillow 13.0.0: Image.new("RGBA", …).convert("RGBa").resize(size, Image.LANCZOS).tobytes().
    let smaller: [UInt8] = [
      27, 3, 255, 255, 96, 11, 208, 255, 173, 19, 155, 255, 216, 25, 109, 255, 29, 6, 179, 189, 83,
      32, 162, 207, 176, 67, 134, 226, 142, 105, 103, 244, 6, 2, 17, 18, 39, 26, 66, 83, 128, 86,
      91,
      154, 94, 171, 92, 219,
    ]
    let wider: [UInt8] = [
      4, 0, 255, 255, 23, 2, 253, 255, 53, 6, 242, 255, 74, 8, 223, 255, 100, 12, 205, 255, 123, 15,
      189, 255, 145, 17, 173, 255, 168, 19, 157, 255, 191, 22, 140, 255, 216, 23, 126, 255, 219, 25,
      106, 255, 209, 27, 94, 255, 12, 0, 184, 184, 26, 5, 180, 188, 49, 15, 174, 196, 67, 23, 168,
      201, 89, 34, 160, 207, 111, 44, 153, 214, 133, 54, 145, 220, 157, 66, 136, 226, 179, 78, 125,
      232, 255, 90, 115, 238, 151, 107, 101, 245, 0, 117, 92, 249, 1, 0, 0, 0, 5, 2, 14, 15, 14, 7,
      37, 42, 26, 15, 51, 62, 44, 28, 66, 86, 65, 43, 77, 108, 87, 61, 85, 130, 120, 84, 91, 152,
      154,
      111, 94, 176, 154, 136, 95, 195, 80, 177, 92, 222, 21, 203, 89, 239,
    ]
    #expect(
      LanczosReference(pixels, size, to: PixelSize(width: 4, height: 3)).pixels == smaller)
    #expect(
      LanczosReference(pixels, size, to: PixelSize(width: 12, height: 3)).pixels == wider)
  }
}
