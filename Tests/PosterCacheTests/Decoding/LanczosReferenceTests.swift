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
    // Pillow begins with the rows unless that is much more work. Pillow 13.0.0: Image.new("RGBA", …).convert("RGBa").resize(size, Image.LANCZOS).tobytes().
    let smaller: [UInt8] = [
      27, 3, 255, 255, 96, 11, 208, 255, 173, 19, 155, 255, 216, 25, 109, 255, 29, 6, 179, 189, 83,
      32, 162, 207, 176, 67, 134, 226, 142, 105, 103, 244, 6, 2, 17, 18, 39, 26, 66, 83, 128, 86,
      91,
      154, 94, 171, 92, 219,
    ]
    let less: [UInt8] = [
      3, 0, 254, 255, 38, 1, 231, 255, 73, 1, 209, 255, 108, 1, 186, 255, 142, 2, 164, 255, 177,
      2, 141, 255, 211, 3, 119, 255, 255, 3, 96, 255, 10, 0, 248, 249, 44, 7, 226, 250, 79, 14,
      205, 250, 114, 20, 183, 251, 148, 28, 162, 252, 182, 34, 140, 253, 221, 42, 118, 254, 194,
      49, 96, 254, 22, 1, 255, 255, 59, 16, 250, 255, 96, 31, 224, 255, 132, 45, 197, 255, 166,
      59, 172, 255, 198, 72, 146, 255, 244, 85, 122, 255, 11, 97, 97, 255, 11, 0, 115, 115, 31,
      10, 121, 133, 57, 23, 124, 152, 88, 40, 124, 170, 122, 58, 120, 188, 160, 81, 113, 206,
      215, 106, 104, 225, 43, 135, 91, 243, 0, 0, 0, 0, 8, 3, 26, 28, 27, 15, 52, 63, 54, 33,
      71, 97, 90, 58, 84, 132, 133, 89, 92, 166, 211, 128, 93, 200, 45, 174, 88, 234, 3, 0, 25,
      25, 17, 7, 50, 55, 38, 22, 71, 87, 68, 46, 85, 117, 102, 77, 94, 148, 167, 117, 99, 179,
      60, 165, 98, 210, 24, 222, 91, 240,
    ]
    #expect(
      LanczosReference(pixels, size, to: PixelSize(width: 4, height: 3)).pixels == smaller)
    #expect(
      LanczosReference(pixels, size, to: PixelSize(width: 8, height: 6)).pixels == less)
  }
}
