import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(2)))
struct ImageDecoderTests {
  @Test(arguments: [(1, 1), (7, 5), (64, 33), (200, 300)], [false, true])
  func `lossless codings give the same pixels back`(size: (Int, Int), hasAlpha: Bool) throws {
    let picture = SamplePicture(width: size.0, height: size.1, hasAlpha: hasAlpha)
    for (bytes, type) in [(try picture.png(), ImageType.png), (try picture.webp(), .webp)] {
      let image = try decoded(bytes)
      #expect(image.type == type)
      #expect(image.bitmap.size == PixelSize(width: size.0, height: size.1))
      #expect(image.fullSize == image.bitmap.size)
      #expect(image.bitmap.isOpaque == !hasAlpha || size.0 == 1)
      #expect(image.bitmap.alpha == .straight)
      #expect(image.isComplete)
      #expect(image.colorProfile == nil)
      // Invisible pixels have no colour to keep.
      let isSame = visible(image.bitmap.bytes) == visible(picture.pixels)
      #expect(isSame, "\(type)")
    }
  }

  @Test(arguments: [false, true])
  func `lossy codings come close`(isProgressive: Bool) throws {
    let picture = SamplePicture(width: 201, height: 99)
    let jpeg = try decoded(picture.jpeg(isProgressive: isProgressive))
    #expect(jpeg.bitmap.isOpaque)
    #expect(jpeg.bitmap.difference(to: picture.bitmap) < 2)
    #expect(try decoded(picture.webp(quality: 95)).bitmap.difference(to: picture.bitmap) < 4)
    let grey = try decoded(picture.jpeg(isGrey: true)).bitmap
    #expect(grey.pixel(100, 50)[0] == grey.pixel(100, 50)[1])
    #expect(grey.pixel(100, 50)[0] == grey.pixel(100, 50)[2])
  }

  @Test(
    arguments: [
      ([255, 255, 255, 255], [255, 255, 255]), ([0, 255, 255, 255], [0, 255, 255]),
      ([255, 0, 255, 128], [128, 0, 128]), ([200, 100, 50, 0], [0, 0, 0]),
    ] as [([UInt8], [UInt8])])
  func `inks become colours`(inks: [UInt8], color: [UInt8]) throws {
    let bitmap = try decoded(SamplePicture.inkJPEG(inks, width: 9, height: 9)).bitmap
    for channel in 0..<3 {
      #expect(abs(Int(bitmap.pixel(4, 4)[channel]) - Int(color[channel])) <= 2)
    }
    #expect(bitmap.pixel(4, 4)[3] == 255)
  }

  @Test func `colours are multiplied by alpha where that is asked for`() throws {
    let picture = SamplePicture(width: 256, height: 3, hasAlpha: true)
    for bytes in [try picture.png(), try picture.webp()] {
      let straight = try decoded(bytes).bitmap
      let multiplied = try decoded(bytes, as: Rendition(.full)).bitmap
      #expect(multiplied.alpha == .premultiplied)
      for x in 0..<256 {
        let (pixel, expected) = (multiplied.pixel(x, 1), straight.pixel(x, 1))
        for channel in 0..<3 {
          let product = (Double(expected[channel]) * Double(expected[3]) / 255).rounded()
          #expect(Double(pixel[channel]) == product)
        }
        #expect(pixel[3] == expected[3])
      }
    }
  }

  @Test func `a picture whose alpha says nothing is opaque`() throws {
    let picture = SamplePicture(width: 8, height: 8)
    let bitmap = Bitmap(
      PixelSize(width: 8, height: 8), alpha: .straight, isOpaque: false
    ) { $0.copyBytes(from: picture.pixels) }
    let bytes = try bitmap.png()
    #expect(try ImageDecoder().header(of: PosterBody(copying: bytes)).hasAlpha)
    #expect(try decoded(bytes).bitmap.isOpaque)
  }

  @Test func `shrinking and enlarging keep proportions`() throws {
    let picture = SamplePicture(width: 400, height: 300, hasAlpha: false)
    let box = PixelSize(width: 100, height: 100)
    for bytes in [try picture.png(), try picture.jpeg(), try picture.webp()] {
      let fitting = try decoded(bytes, as: Rendition(.fitting(box)))
      #expect(fitting.bitmap.size == PixelSize(width: 100, height: 75))
      #expect(fitting.fullSize == PixelSize(width: 400, height: 300))
      #expect(fitting.bitmap.isOpaque)
      let filling = try decoded(bytes, as: Rendition(.filling(box)))
      #expect(filling.bitmap.size == PixelSize(width: 133, height: 100))
      let large = PixelSize(width: 600, height: 600)
      #expect(try decoded(bytes, as: Rendition(.fitting(large))).bitmap.size.width == 400)
      let enlarged = try decoded(bytes, as: Rendition(.fitting(large), mayEnlarge: true))
      #expect(enlarged.bitmap.size == PixelSize(width: 600, height: 450))
      // Corners of the picture, whichever way it was shrunk.
      for image in [fitting, filling, enlarged] {
        let (width, height) = (image.bitmap.size.width, image.bitmap.size.height)
        #expect(image.bitmap.pixel(0, 0)[0] < 12 && image.bitmap.pixel(0, 0)[1] < 12)
        #expect(image.bitmap.pixel(width - 1, 0)[0] > 243)
        #expect(image.bitmap.pixel(0, height - 1)[1] > 243)
      }
    }
  }

  @Test func `a picture much too large comes out the same whatever its kind`() throws {
    let picture = SamplePicture(width: 512, height: 384)
    let rendition = Rendition(.fitting(PixelSize(width: 20, height: 20)))
    let png = try decoded(picture.png(), as: rendition).bitmap
    #expect(png.size == PixelSize(width: 20, height: 15))
    #expect(try decoded(picture.webp(), as: rendition).bitmap.difference(to: png) < 2)
    #expect(try decoded(picture.webp(quality: 95), as: rendition).bitmap.difference(to: png) < 4)
    #expect(try decoded(picture.jpeg(), as: rendition).bitmap.difference(to: png) < 2)
  }

  @Test func `a JPEG is decoded at a fraction that leaves the filter something to do`() {
    func scale(_ stored: (Int, Int), _ target: (Int, Int)) -> Int {
      JPEGReader.scale(
        for: PixelSize(width: target.0, height: target.1),
        stored: PixelSize(width: stored.0, height: stored.1))
    }
    #expect(scale((4032, 3024), (4032, 3024)) == 8)
    #expect(scale((4032, 3024), (2016, 1512)) == 8)
    #expect(scale((4032, 3024), (1008, 756)) == 4)
    #expect(scale((4032, 3024), (1260, 945)) == 4)
    #expect(scale((4032, 3024), (1261, 946)) == 8)
    #expect(scale((4032, 3024), (504, 378)) == 2)
    #expect(scale((4032, 3024), (252, 189)) == 2)
    #expect(scale((4032, 3024), (201, 151)) == 1)
    #expect(scale((4032, 3024), (10, 8)) == 1)
    #expect(scale((500, 750), (154, 231)) == 4)
    #expect(scale((500, 750), (157, 235)) == 8)
    // Both ways.
    #expect(scale((800, 100), (100, 100)) == 8)
    #expect(scale((1, 1), (1, 1)) == 8)
    #expect(scale((1, 1), (900, 900)) == 8)
  }

  @Test(arguments: [(1, 1), (1, 2), (2, 1), (8, 1), (9, 17)])
  func `the smallest JPEGs are decoded in full`(width: Int, height: Int) throws {
    let picture = SamplePicture(width: width, height: height)
    let bitmap = try decoded(picture.jpeg(quality: 100)).bitmap
    #expect(bitmap.size == PixelSize(width: width, height: height))
    #expect(bitmap.difference(to: picture.bitmap) < 2)
  }

  @Test func `what is no picture is told apart from a damaged one`() throws {
    #expect(failure([]) == .notAnImage)
    #expect(failure(Array("<html></html>".utf8)) == .notAnImage)
    #expect(failure([0xFF, 0xD8]) == .notAnImage)
    #expect(failure([0xFF, 0xD8, 0xFF]) == .damagedImage)
    #expect(failure([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) == .damagedImage)
    #expect(failure(Array("RIFF....WEBP".utf8)) == .damagedImage)
  }

  @Test func `the header says what decoding gives`() throws {
    let picture = SamplePicture(width: 40, height: 30, hasAlpha: true)
    for bytes in [try picture.png(), try picture.jpeg(), try picture.webp()] {
      let header = try ImageDecoder().header(of: PosterBody(copying: bytes))
      #expect(header.storedSize == PixelSize(width: 40, height: 30))
      #expect(header.orientation == 1)
      #expect(header.hasAlpha == (header.type != .jpeg))
    }
  }

  @Test func `bytes behind the end do not matter`() throws {
    let picture = SamplePicture(width: 40, height: 30)
    for bytes in [try picture.png(), try picture.jpeg(), try picture.webp()] {
      let isSame =
        try decoded(bytes + [0, 1, 2, 0xFF, 0xD8]).bitmap.bytes == decoded(bytes).bitmap.bytes
      #expect(isSame)
    }
  }

  /// The pixels with those that are wholly transparent as 0.
  private func visible(_ pixels: [UInt8]) -> [UInt8] {
    var pixels = pixels
    for offset in stride(from: 0, to: pixels.count, by: 4) where pixels[offset + 3] == 0 {
      for channel in 0..<3 { pixels[offset + channel] = 0 }
    }
    return pixels
  }

  @Test func `a lossless WebP's word that it has no alpha is a hint only`() throws {
    let file = FilePart.plainWebP(width: 16, height: 12, [200, 100, 50, 51])
    let premultiplied = try decoded(file, as: Rendition(.full)).bitmap
    #expect(!premultiplied.isOpaque)
    #expect(Array(premultiplied.bytes.prefix(4)) == [40, 20, 10, 51])
    let straight = try decoded(file).bitmap
    #expect(Array(straight.bytes.prefix(4)) == [200, 100, 50, 51])
    #expect(try decoded(FilePart.plainWebP(width: 16, height: 12, [9, 8, 7, 255])).bitmap.isOpaque)
  }
}
