import Testing

@testable import PosterCache

/// Pictures that would take more than is allowed.
@Suite(.timeLimit(.minutes(2)))
struct HostilePictureTests {
  /// A grey JPEG of which every block is empty: what comes before its scans.
  private func emptyJPEG(frame: UInt8, width: Int, height: Int, precision: UInt8 = 8) -> [UInt8] {
    let oneCode: [UInt8] = [1] + [UInt8](repeating: 0, count: 15) + [0]
    return [0xFF, 0xD8]
      + FilePart.jpegSegment(0xDB, [0] + [UInt8](repeating: 1, count: 64))
      + FilePart.jpegSegment(
        frame,
        [precision] + FilePart.bigEndian(height, bytes: 2) + FilePart.bigEndian(width, bytes: 2)
          + [1, 1, 0x11, 0])
      + FilePart.jpegSegment(0xC4, [0x00] + oneCode)
      + FilePart.jpegSegment(0xC4, [0x10] + oneCode)
  }

  /// A scan of coefficients of its only component.
  private func scan(_ first: UInt8, _ last: UInt8) -> [UInt8] {
    FilePart.jpegSegment(0xDA, [1, 1, 0, first, last, 0])
  }

  /// A progressive JPEG of one block with as many scans.
  private func jpeg(scans: Int) -> [UInt8] {
    // A block of zeros is one bit 0, padded with ones.
    var bytes = emptyJPEG(frame: 0xC2, width: 8, height: 8) + scan(0, 0) + [0x7F]
    for _ in 1..<scans { bytes += scan(1, 63) + [0x7F] }
    return bytes + [0xFF, 0xD9]
  }

  private func pngHeader(width: Int, height: Int) -> [UInt8] {
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
      + FilePart.pngChunk(
        "IHDR",
        FilePart.bigEndian(width, bytes: 4) + FilePart.bigEndian(height, bytes: 4) + [
          16, 6, 0, 0, 1,
        ])
      + FilePart.pngChunk("IDAT", [])
  }

  /// The header of a lossless WebP (RFC 9649, section 3.4).
  private func webpHeader(width: Int, height: Int) -> [UInt8] {
    let bits = (width - 1) | (height - 1) << 14
    return FilePart.webp([
      FilePart.webpChunk(
        "VP8L", [0x2F] + FilePart.littleEndian(bits, bytes: 4) + [UInt8](repeating: 0, count: 16))
    ])
  }

  @Test func `sizes beyond the limit are refused by the header`() {
    let jpegs = [UInt8(0xC0), 0xC2].map {
      emptyJPEG(frame: $0, width: 65_500, height: 65_500) + scan(0, 63)
    }
    for bytes in jpegs + [
      pngHeader(width: 65_500, height: 65_500), pngHeader(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF),
      pngHeader(width: 64_000_001, height: 1), webpHeader(width: 16_383, height: 16_383),
      FilePart.webp([FilePart.webpHeader(flags: 2, width: 1 << 24, height: 255)]),
    ] {
      #expect(failure(bytes) == .imageTooLarge)
      #expect(failure(bytes, allowingIncomplete: true) == .imageTooLarge)
      let thumbnail = Rendition(.fitting(PixelSize(width: 10, height: 10)))
      #expect(failure(bytes, as: thumbnail) == .imageTooLarge)
      let error = #expect(throws: PosterError.self) {
        try ImageDecoder().header(of: PosterBody(copying: bytes))
      }
      #expect(error?.code == .imageTooLarge)
    }
  }

  @Test func `memory is limited besides pixels`() {
    var limits = DecodingLimits()
    limits.maximumPixels = .max
    let thumbnail = Rendition(.fitting(PixelSize(width: 10, height: 10)))
    // The coefficients of a progressive JPEG, an interlaced PNG and a lossless WebP are there as a whole,
    // however small the result.
    for bytes in [
      emptyJPEG(frame: 0xC2, width: 65_500, height: 65_500) + scan(0, 0),
      pngHeader(width: 65_500, height: 65_500), webpHeader(width: 16_383, height: 16_383),
    ] {
      #expect(failure(bytes, as: thumbnail, limits: limits) == .imageTooLarge)
      #expect(failure(bytes, limits: limits) == .imageTooLarge)
    }
    // A baseline JPEG is not: this one is refused for its missing pixels.
    let baseline = emptyJPEG(frame: 0xC0, width: 65_500, height: 65_500) + scan(0, 63)
    #expect(failure(baseline, as: thumbnail, limits: limits) == .damagedImage)
    #expect(failure(baseline, limits: limits) == .imageTooLarge)
  }

  @Test func `an enlargement is limited, too`() throws {
    let bytes = try SamplePicture(width: 4, height: 4).png()
    let side = PixelSize.maximumSide
    for box in [PixelSize(width: side, height: side), PixelSize(width: 10_000, height: 10_000)] {
      #expect(failure(bytes, as: Rendition(.fitting(box), mayEnlarge: true)) == .imageTooLarge)
    }
  }

  @Test func `a JPEG may have as many scans as the limit says`() throws {
    for bytes in [jpeg(scans: 500), jpeg(scans: 2)] {
      let image = try decoded(bytes)
      #expect(image.bitmap.size == PixelSize(width: 8, height: 8))
      #expect(image.bitmap.pixel(3, 3) == [128, 128, 128, 255])
    }
    #expect(failure(jpeg(scans: 501)) == .imageTooLarge)
    #expect(failure(jpeg(scans: 501), allowingIncomplete: true) == .imageTooLarge)
    var limits = DecodingLimits()
    limits.maximumJPEGScans = 10
    #expect(failure(jpeg(scans: 10), limits: limits) == nil)
    #expect(failure(jpeg(scans: 11), limits: limits) == .imageTooLarge)
  }

  @Test func `a PNG that expands a thousandfold is decoded within the limits only`() throws {
    let size = PixelSize(width: 1000, height: 1000)
    let bytes = try Bitmap(size, alpha: .straight, isOpaque: true) { _ in }.png()
    #expect(bytes.count * 300 < size.pixels * 3)
    var limits = DecodingLimits()
    #expect(failure(bytes, limits: limits) == nil)
    limits.maximumPixels = size.pixels - 1
    #expect(failure(bytes, limits: limits) == .imageTooLarge)
    limits.maximumPixels = size.pixels
    limits.maximumMemory = ByteSize(bytes: size.pixels * 4 - 1)
    #expect(failure(bytes, limits: limits) == .imageTooLarge)
    // Shrunk, its rows pass by.
    let thumbnail = Rendition(.fitting(PixelSize(width: 100, height: 100)))
    #expect(failure(bytes, as: thumbnail, limits: limits) == nil)
    limits.maximumMemory = ByteSize(bytes: 50_000)
    #expect(failure(bytes, as: thumbnail, limits: limits) == .imageTooLarge)
  }

  @Test func `a PNG's texts and profiles are not unpacked without limit`() throws {
    let bytes = try SamplePicture(width: 4, height: 4).png()
    let texts = (0..<2000).flatMap { _ in
      FilePart.pngChunk("tEXt", Array("Comment\0".utf8) + [UInt8](repeating: 65, count: 1000))
    }
    var limits = DecodingLimits()
    limits.maximumMemory = ByteSize(bytes: 1 << 20)
    let image = try decoded(Array(bytes[..<33]) + texts + bytes[33...], limits: limits)
    #expect(image.bitmap.size == PixelSize(width: 4, height: 4))
  }

  @Test func `codings that nobody sends are named as such`() {
    let twelveBits = emptyJPEG(frame: 0xC1, width: 8, height: 8, precision: 12) + scan(0, 63)
    #expect(failure(twelveBits) == .unsupportedImage)
    #expect(failure(emptyJPEG(frame: 0xC3, width: 8, height: 8) + scan(0, 63)) == .unsupportedImage)
  }

  @Test func `a size of nothing is damage`() {
    #expect(failure(emptyJPEG(frame: 0xC0, width: 0, height: 8) + scan(0, 63)) == .damagedImage)
    #expect(failure(emptyJPEG(frame: 0xC0, width: 8, height: 0) + scan(0, 63)) == .damagedImage)
    #expect(failure(pngHeader(width: 0, height: 1)) == .damagedImage)
  }

  @Test func `limits that make no sense are an error`() throws {
    let bytes = try SamplePicture(width: 4, height: 4).png()
    for change: (inout DecodingLimits) -> Void in [
      { $0.maximumPixels = 0 }, { $0.maximumJPEGScans = -1 },
      { $0.maximumMemory = ByteSize(bytes: 0) },
    ] {
      var limits = DecodingLimits()
      change(&limits)
      #expect(failure(bytes, limits: limits) == .invalidConfiguration)
    }
    var limits = DecodingLimits()
    limits.maximumJPEGScans = .max
    limits.maximumPixels = .max
    limits.maximumMemory = ByteSize(bytes: .max)
    for bytes in [bytes, jpeg(scans: 3), try SamplePicture(width: 4, height: 4).webp()] {
      #expect(failure(bytes, limits: limits) == nil)
    }
    let side = PixelSize.maximumSide
    let endless = Rendition(.filling(PixelSize(width: side, height: side)), mayEnlarge: true)
    #expect(failure(bytes, as: endless, limits: limits) == .imageTooLarge)
  }
}
