import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct ImageTypeTests {
  /// A JPEG with an embedded thumbnail in APP1, a restart marker and a stuffed byte in its scan.
  private let jpeg: [UInt8] =
    [0xFF, 0xD8] + [0xFF, 0xE1, 0x00, 0x08, 0xFF, 0xD8, 0xFF, 0xD9, 0x00, 0x00]
    + [0xFF, 0xDA, 0x00, 0x02] + [0x12, 0xFF, 0x00, 0x34, 0xFF, 0xD0, 0x56] + [0xFF, 0xD9]
  private let png: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    + [0, 0, 0, 2] + Array("IHDR".utf8) + [1, 2] + [9, 9, 9, 9]
    + [0, 0, 0, 0] + Array("IEND".utf8) + [0xAE, 0x42, 0x60, 0x82]
  private let webp: [UInt8] =
    Array("RIFF".utf8) + [12, 0, 0, 0] + Array("WEBP".utf8) + Array("VP8 ".utf8) + [0, 0, 0, 0]

  @Test func `the first bytes tell the kind`() {
    #expect(type(of: jpeg) == .jpeg)
    #expect(type(of: png) == .png)
    #expect(type(of: webp) == .webp)
    #expect(type(of: Array("<!DOCTYPE html>".utf8)) == nil)
    #expect(type(of: Array("RIFF....WAVE".utf8)) == nil)
    #expect(type(of: Array("GIF89a".utf8)) == nil)
    #expect(type(of: []) == nil)
    #expect(type(of: [0xFF, 0xD8]) == nil)
  }

  @Test func `a picture is complete only with its own end`() {
    for (type, bytes) in [(ImageType.jpeg, jpeg), (.png, png), (.webp, webp)] {
      #expect(isComplete(type, bytes))
      #expect(isComplete(type, bytes + [0, 0]), "bytes after the end are allowed")
      for count in 0..<bytes.count {
        #expect(!isComplete(type, Array(bytes[..<count])), "\(type) cut to \(count) bytes")
      }
    }
  }

  @Test func `a beginning that claims to be the whole is none`() {
    #expect(!isComplete(.jpeg, [0xFF, 0xD8, 0xFF, 0xD9]))
    #expect(!isComplete(.jpeg, [0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0xFF, 0xD9]))
    #expect(!isComplete(.webp, Array("RIFF".utf8) + [0, 0, 0, 0] + Array("WEBP".utf8)))
  }

  @Test func `no bytes make the walk run out of bounds`() {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<2000 {
      var bytes = [jpeg, png, webp].randomElement(using: &generator) ?? jpeg
      for _ in 0..<3 {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        bytes[index] = UInt8.random(in: 0...255, using: &generator)
      }
      for type in ImageType.allCases { _ = isComplete(type, bytes) }
    }
  }

  private func type(of bytes: [UInt8]) -> ImageType? {
    bytes.withUnsafeBytes { ImageType(firstBytes: $0) }
  }

  private func isComplete(_ type: ImageType, _ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { type.isComplete($0) }
  }
}
