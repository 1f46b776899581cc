import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(2)))
struct OrientationTests {
  /// Where the pixel of the upright picture comes from, by the words of TIFF 6.0: in which corner the
  /// stored first row and first column are.
  private func source(
    _ x: Int, _ y: Int, stored: PixelSize, orientation: Int
  ) -> (x: Int, y: Int) {
    let (lastX, lastY) = (stored.width - 1, stored.height - 1)
    return switch orientation {
    case 2: (lastX - x, y)
    case 3: (lastX - x, lastY - y)
    case 4: (x, lastY - y)
    case 5: (y, x)
    case 6: (y, lastY - x)
    case 7: (lastX - y, lastY - x)
    case 8: (lastX - y, x)
    default: (x, y)
    }
  }

  @Test(arguments: 1...8)
  func `each pixel goes where it belongs`(orientation: Int) {
    for (width, height) in [(1, 1), (1, 9), (9, 1), (17, 33), (40, 16)] {
      let bitmap = SamplePicture(width: width, height: height, hasAlpha: true).bitmap
      let upright = bitmap.upright(from: orientation)
      #expect(upright.size == (orientation >= 5 ? bitmap.size.transposed : bitmap.size))
      #expect(upright.isOpaque == bitmap.isOpaque)
      for y in 0..<upright.size.height {
        for x in 0..<upright.size.width {
          let from = source(x, y, stored: bitmap.size, orientation: orientation)
          if upright.pixel(x, y) != bitmap.pixel(from.x, from.y) {
            Issue.record("\(width)x\(height), orientation \(orientation): \(x), \(y)")
          }
        }
      }
    }
  }

  @Test(arguments: 0...9, [false, true])
  func `every kind of file may say how it lies`(orientation: Int, isBigEndian: Bool) throws {
    let picture = SamplePicture(width: 12, height: 6)
    let exif = FilePart.exif(orientation: orientation, isBigEndian: isBigEndian)
    let isTurned = (5...8).contains(orientation)
    let expected = picture.bitmap.upright(from: (1...8).contains(orientation) ? orientation : 1)
    for bytes in [
      try jpeg(picture, exif), try png(picture, exif, beforePixels: true),
      try png(picture, exif, beforePixels: false), try webp(picture, exif),
    ] {
      let header = try ImageDecoder().header(of: PosterBody(copying: bytes))
      #expect(header.orientation == ((1...8).contains(orientation) ? orientation : 1))
      #expect(header.storedSize == PixelSize(width: 12, height: 6))
      #expect(header.size == PixelSize(width: isTurned ? 6 : 12, height: isTurned ? 12 : 6))
      let image = try decoded(bytes)
      #expect(image.fullSize == header.size)
      #expect(image.bitmap.difference(to: expected) < 2)
    }
  }

  @Test func `a target is a size as displayed`() throws {
    let picture = SamplePicture(width: 403, height: 302)
    let bytes = try jpeg(picture, FilePart.exif(orientation: 6, isBigEndian: true))
    let image = try decoded(
      bytes, as: Rendition(.fitting(PixelSize(width: 28, height: 36)), alpha: .straight))
    #expect(image.bitmap.size == PixelSize(width: 27, height: 36))
    #expect(image.fullSize == PixelSize(width: 302, height: 403))
    // Turned clockwise: what was on the left is on top.
    #expect(image.bitmap.pixel(13, 0)[0] < 20)
    #expect(image.bitmap.pixel(13, 35)[0] > 235)
    #expect(image.bitmap.pixel(0, 18)[1] > 235)
  }

  @Test func `Exif data that lead nowhere say nothing`() {
    func orientation(_ bytes: [UInt8]) -> Int { bytes.withUnsafeBytes(Exif.orientation) }
    let right = FilePart.exif(orientation: 6, isBigEndian: false)
    #expect(orientation(right) == 6)
    #expect(orientation(Exif.prefix + right) == 6)
    // Cut off anywhere: the last four bytes say where the next directory is.
    for count in 0..<right.count {
      #expect(orientation(Array(right.prefix(count))) == (count >= 20 ? 6 : 1), "\(count)")
    }
    func changed(_ offset: Int, _ values: UInt8...) -> Int {
      var bytes = right
      bytes.replaceSubrange(offset..<offset + values.count, with: values)
      return orientation(bytes)
    }
    #expect(changed(0, 0x4D) == 1)
    #expect(changed(4, 0xFF, 0xFF, 0xFF, 0xFF) == 1)
    #expect(changed(4, 0xFE, 0xFF, 0xFF, 0x7F) == 1)
    #expect(changed(8, 0xFF, 0xFF) == 6)
    #expect(changed(8, 0, 0) == 1)
    #expect(changed(10, 0) == 1)
    #expect(changed(12, 2) == 1)
    #expect(changed(12, 4) == 6)
    #expect(changed(18, 9) == 1)
    #expect(changed(19, 1) == 1)
  }

  private func jpeg(_ picture: SamplePicture, _ exif: [UInt8]) throws -> [UInt8] {
    let bytes = try picture.jpeg(quality: 100)
    return Array(bytes[..<2]) + FilePart.jpegSegment(0xE1, Exif.prefix + exif) + bytes[2...]
  }

  private func png(
    _ picture: SamplePicture, _ exif: [UInt8], beforePixels: Bool
  ) throws -> [UInt8] {
    let bytes = try picture.png()
    // Behind the header, or before the end.
    let place = beforePixels ? 33 : bytes.count - 12
    return Array(bytes[..<place]) + FilePart.pngChunk("eXIf", exif) + bytes[place...]
  }

  private func webp(_ picture: SamplePicture, _ exif: [UInt8]) throws -> [UInt8] {
    let bytes = try picture.webp()
    return FilePart.webp([
      FilePart.webpHeader(flags: 8, width: picture.width, height: picture.height),
      Array(bytes[12...]), FilePart.webpChunk("EXIF", exif),
    ])
  }
}
