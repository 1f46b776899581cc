import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct PNGWritingTests {
  @Test(arguments: [false, true])
  func `what is written is read again`(hasAlpha: Bool) throws {
    for (width, height) in [(1, 1), (3, 200), (255, 2)] {
      let bitmap = SamplePicture(width: width, height: height, hasAlpha: hasAlpha).bitmap
      let bytes = try bitmap.png()
      let isSame = try decoded(bytes).bitmap.bytes == bitmap.bytes
      #expect(isSame)
      #expect(try bitmap.png() == bytes)
      // RGB or RGBA.
      #expect(bytes[25] == (bitmap.isOpaque ? 2 : 6))
    }
  }

  @Test func `premultiplied pixels give themselves when they are multiplied again`() throws {
    var pixels: [UInt8] = []
    for alpha in UInt8.min ... .max {
      for value in 0...alpha { pixels += [value, 0, alpha, alpha] }
    }
    let size = PixelSize(width: pixels.count / 4, height: 1)
    let bitmap = Bitmap(size, alpha: .premultiplied, isOpaque: false) {
      $0.copyBytes(from: pixels)
    }
    let again = try decoded(bitmap.png(), as: Rendition(.full)).bitmap
    let isSame = again.bytes == pixels
    #expect(isSame)
  }
}
