import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct ColorProfileTests {
  private let picture = SamplePicture(width: 9, height: 9)
  private let profile = (0..<500).map { UInt8(truncatingIfNeeded: $0 * 7) }

  @Test func `a JPEG's profile comes in parts`() throws {
    let bytes = try jpeg([
      (1, 3, profile[..<200]), (2, 3, profile[200..<499]), (3, 3, profile[499...]),
    ])
    #expect(try decoded(bytes).colorProfile == profile)
    let shuffled = try jpeg([(2, 2, profile[100...]), (1, 2, profile[..<100])])
    #expect(try decoded(shuffled).colorProfile == profile)
  }

  @Test func `a JPEG's profile with parts that do not fit together is none`() throws {
    let half = profile[..<250]
    for parts in [
      [(1, 2, half)], [(1, 2, half), (1, 2, half)], [(1, 2, half), (2, 3, half)],
      [(0, 2, half), (1, 2, half)], [(1, 0, half)], [(1, 1, half[..<0])], [(2, 1, half)],
    ] {
      #expect(try decoded(jpeg(parts)).colorProfile == nil)
    }
  }

  @Test func `a WebP's profile is a chunk`() throws {
    let bytes = FilePart.webp([
      FilePart.webpHeader(flags: 0x20, width: 9, height: 9), FilePart.webpChunk("ICCP", profile),
      Array(try picture.webp()[12...]),
    ])
    #expect(try decoded(bytes).colorProfile == profile)
  }

  @Test func `a profile that is too long is not kept`() throws {
    let long = [UInt8](repeating: 1, count: JPEGSegments.longestProfile + 1)
    let bytes = FilePart.webp([
      FilePart.webpHeader(flags: 0x20, width: 9, height: 9), FilePart.webpChunk("ICCP", long),
      Array(try picture.webp()[12...]),
    ])
    #expect(try decoded(bytes).colorProfile == nil)
    let parts = stride(from: 0, to: long.count, by: 65_000).enumerated().map { index, start in
      (index + 1, (long.count + 64_999) / 65_000, long[start..<min(start + 65_000, long.count)])
    }
    #expect(try decoded(jpeg(parts)).colorProfile == nil)
  }

  @Test func `a PNG's profile is unpacked`() throws {
    // The least that libpng takes for one: a header of 128 bytes that says what it is, and no tags.
    var content = [UInt8](repeating: 0, count: 132)
    content.replaceSubrange(0..<4, with: FilePart.bigEndian(132, bytes: 4))
    content.replaceSubrange(8..<12, with: [4, 0x20, 0, 0])
    content.replaceSubrange(12..<24, with: Array("mntrRGB XYZ ".utf8))
    content.replaceSubrange(36..<40, with: Array("acsp".utf8))
    content.replaceSubrange(
      68..<80, with: [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D])
    // Stored blocks need no compressor (RFC 1950, RFC 1951).
    let stored =
      [0x78, 0x01, 0x01] + FilePart.littleEndian(132, bytes: 2)
      + FilePart.littleEndian(0xFFFF ^ 132, bytes: 2) + content
      + FilePart.bigEndian(adler(content), bytes: 4)
    let bytes = try picture.png()
    let chunk = FilePart.pngChunk("iCCP", Array("x\0\0".utf8) + stored)
    let image = try decoded(Array(bytes[..<33]) + chunk + bytes[33...])
    #expect(image.colorProfile == content)
  }

  private func jpeg(_ parts: [(number: Int, count: Int, content: ArraySlice<UInt8>)]) throws
    -> [UInt8]
  {
    let bytes = try picture.jpeg()
    let segments = parts.flatMap { part in
      FilePart.jpegSegment(
        0xE2, Array("ICC_PROFILE\0".utf8) + [UInt8(part.number), UInt8(part.count)] + part.content)
    }
    return Array(bytes[..<2]) + segments + bytes[2...]
  }

  private func adler(_ bytes: [UInt8]) -> Int {
    var (low, high) = (1, 0)
    for byte in bytes {
      low = (low + Int(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return high << 16 | low
  }
}
