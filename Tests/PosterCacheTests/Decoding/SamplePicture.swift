import CTurboJPEG
import CWebP

@testable import PosterCache

/// A picture of our own, to be coded and decoded again: smooth, with another colour in each corner, so
/// that turning and mirroring show.
struct SamplePicture {
  let width, height: Int
  /// RGBA8, straight.
  var pixels: [UInt8]

  /// - Parameter hasAlpha: fades from left to right.
  init(width: Int, height: Int, hasAlpha: Bool = false) {
    self.width = width
    self.height = height
    pixels = []
    pixels.reserveCapacity(width * height * 4)
    for y in 0..<height {
      for x in 0..<width {
        pixels.append(UInt8(x * 255 / max(width - 1, 1)))
        pixels.append(UInt8(y * 255 / max(height - 1, 1)))
        pixels.append(UInt8((x + y) * 8 & 255) / 4 + 96)
        pixels.append(hasAlpha ? UInt8(255 - x * 255 / max(width - 1, 1)) : 255)
      }
    }
  }

  /// The same, with noise that no coding can foretell: as many bytes for each row.
  var noisy: SamplePicture {
    var random = SplitMix64(seed: 1)
    var noisy = self
    for offset in pixels.indices where offset % 4 != 3 {
      noisy.pixels[offset] ^= UInt8.random(in: 0..<32, using: &random)
    }
    return noisy
  }

  /// The pixels as a bitmap.
  var bitmap: Bitmap {
    let isOpaque = stride(from: 3, to: pixels.count, by: 4).allSatisfy { pixels[$0] == 255 }
    return Bitmap(
      PixelSize(width: width, height: height), alpha: .straight, isOpaque: isOpaque
    ) { $0.copyBytes(from: pixels) }
  }

  /// As a PNG.
  func png() throws -> [UInt8] { try bitmap.png() }

  /// As a JPEG with all chroma.
  func jpeg(quality: Int = 95, isProgressive: Bool = false, isGrey: Bool = false) throws -> [UInt8]
  {
    guard let coder = tjInitCompress() else { throw CodingFailed() }
    defer { tjDestroy(coder) }
    var bytes: UnsafeMutablePointer<UInt8>?
    var count: UInt = 0
    defer { tjFree(bytes) }
    let result = tjCompress2(
      coder, pixels, CInt(width), 0, CInt(height), CInt(TJPF_RGBA.rawValue), &bytes, &count,
      CInt((isGrey ? TJSAMP_GRAY : TJSAMP_444).rawValue), CInt(quality),
      TJFLAG_ACCURATEDCT | (isProgressive ? TJFLAG_PROGRESSIVE : 0))
    guard result == 0 else { throw CodingFailed() }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
  }

  /// As a JPEG of four inks with Adobe's marker: 255 is none of an ink.
  static func inkJPEG(_ inks: [UInt8], width: Int, height: Int) throws -> [UInt8] {
    guard let coder = tjInitCompress() else { throw CodingFailed() }
    defer { tjDestroy(coder) }
    let pixels = Array(repeatElement(inks, count: width * height).joined())
    var bytes: UnsafeMutablePointer<UInt8>?
    var count: UInt = 0
    defer { tjFree(bytes) }
    let result = tjCompress2(
      coder, pixels, CInt(width), 0, CInt(height), CInt(TJPF_CMYK.rawValue), &bytes, &count,
      CInt(TJSAMP_444.rawValue), 100, TJFLAG_ACCURATEDCT)
    guard result == 0 else { throw CodingFailed() }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
  }

  /// As a WebP: lossless unless `quality` is given.
  func webp(quality: Float? = nil) throws -> [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    defer { WebPFree(bytes) }
    let count =
      if let quality {
        WebPEncodeRGBA(pixels, CInt(width), CInt(height), CInt(width * 4), quality, &bytes)
      } else {
        WebPEncodeLosslessRGBA(pixels, CInt(width), CInt(height), CInt(width * 4), &bytes)
      }
    guard count > 0 else { throw CodingFailed() }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }

  struct CodingFailed: Error {}
}

/// Parts of files, to put together by hand.
enum FilePart {
  /// A JPEG's segment: marker, length, content.
  static func jpegSegment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    [0xFF, marker] + bigEndian(content.count + 2, bytes: 2) + content
  }

  /// A PNG's chunk, with its checksum (PNG, annex D).
  static func pngChunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let named = Array(name.utf8) + content
    var sum: UInt32 = .max
    for byte in named {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? 0xEDB8_8320 ^ (sum >> 1) : sum >> 1 }
    }
    return bigEndian(content.count, bytes: 4) + named + bigEndian(Int(~sum), bytes: 4)
  }

  /// A WebP's chunk, padded.
  static func webpChunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    Array(name.utf8) + littleEndian(content.count, bytes: 4) + content
      + (content.count % 2 == 1 ? [0] : [])
  }

  /// A WebP of chunks.
  static func webp(_ chunks: [[UInt8]]) -> [UInt8] {
    webpChunk("RIFF", Array("WEBP".utf8) + chunks.flatMap(\.self))
  }

  /// A lossless WebP of one colour that says it has no alpha: its codes have one symbol each, so that
  /// pixels take no bits at all (RFC 9649, section 3).
  static func plainWebP(width: Int, height: Int, _ color: [UInt8]) -> [UInt8] {
    var bits: [UInt8] = []
    func append(_ value: Int, bits count: Int) {
      for bit in 0..<count { bits.append(UInt8(value >> bit & 1)) }
    }
    append(0x2F, bits: 8)
    append(width - 1, bits: 14)
    append(height - 1, bits: 14)
    // Neither alpha, nor a version, transforms, a colour cache or groups of codes.
    append(0, bits: 1 + 3 + 1 + 1 + 1)
    // Green, red, blue, alpha: a simple code with one symbol of 8 bits. Distances: one of 1 bit.
    for channel in [1, 0, 2, 3] {
      append(0b101, bits: 3)
      append(Int(color[channel]), bits: 8)
    }
    append(0b0001, bits: 4)
    let content = stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<min(start + 8, bits.count)].reversed().reduce(0) { $0 << 1 | $1 }
    }
    return webp([webpChunk("VP8L", content)])
  }

  /// The header of an extended WebP.
  static func webpHeader(flags: UInt8, width: Int, height: Int) -> [UInt8] {
    webpChunk(
      "VP8X",
      [flags, 0, 0, 0] + littleEndian(width - 1, bytes: 3) + littleEndian(height - 1, bytes: 3))
  }

  /// Exif data with one entry, an orientation.
  static func exif(orientation: Int, isBigEndian: Bool) -> [UInt8] {
    let number = isBigEndian ? bigEndian : littleEndian
    return Array((isBigEndian ? "MM" : "II").utf8) + number(42, 2) + number(8, 4) + number(1, 2)
      + number(0x112, 2) + number(3, 2) + number(1, 4) + number(orientation, 2) + number(0, 2)
      + number(0, 4)
  }

  static func bigEndian(_ number: Int, bytes count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  static func littleEndian(_ number: Int, bytes count: Int) -> [UInt8] {
    bigEndian(number, bytes: count).reversed()
  }
}
