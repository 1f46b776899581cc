import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct AnimatedWebPTests {
  private let picture = SamplePicture(width: 10, height: 6)

  /// A frame of the picture, as a chunk.
  private func frame(x: Int, y: Int, quality: Float? = nil, first: [UInt8] = []) throws -> [UInt8] {
    try FilePart.webpChunk(
      "ANMF",
      FilePart.littleEndian(x / 2, bytes: 3) + FilePart.littleEndian(y / 2, bytes: 3)
        + FilePart.littleEndian(picture.width - 1, bytes: 3)
        + FilePart.littleEndian(picture.height - 1, bytes: 3)
        + FilePart.littleEndian(100, bytes: 3) + [0] + first
        + Array(picture.webp(quality: quality)[12...]))
  }

  private func animation(width: Int, height: Int, _ frames: [UInt8]...) -> [UInt8] {
    FilePart.webp(
      [
        FilePart.webpHeader(flags: 0x12, width: width, height: height),
        FilePart.webpChunk("ANIM", [0, 0, 0, 0, 0, 0]),
      ] + frames)
  }

  @Test func `the first frame stands on a transparent canvas`() throws {
    let bytes = animation(
      width: 20, height: 15, try frame(x: 4, y: 6), try frame(x: 0, y: 0))
    let header = try ImageDecoder().header(of: PosterBody(copying: bytes))
    #expect(header.size == PixelSize(width: 20, height: 15))
    #expect(header.hasAlpha)
    let image = try decoded(bytes)
    #expect(image.bitmap.size == PixelSize(width: 20, height: 15))
    #expect(!image.bitmap.isOpaque)
    for y in 0..<15 {
      for x in 0..<20 {
        let isInside = (4..<14).contains(x) && (6..<12).contains(y)
        let expected = isInside ? picture.bitmap.pixel(x - 4, y - 6) : [0, 0, 0, 0]
        #expect(image.bitmap.pixel(x, y) == expected, "\(x), \(y)")
      }
    }
  }

  @Test func `a frame as large as the canvas is the whole picture`() throws {
    let unknown = FilePart.webpChunk("ABCD", [1, 2, 3])
    for frame in [try frame(x: 0, y: 0), try frame(x: 0, y: 0, first: unknown)] {
      let image = try decoded(animation(width: 10, height: 6, frame))
      #expect(image.bitmap.isOpaque)
      #expect(image.bitmap.difference(to: picture.bitmap) == 0)
    }
    let lossy = try decoded(animation(width: 10, height: 6, try frame(x: 0, y: 0, quality: 95)))
    #expect(lossy.bitmap.difference(to: picture.bitmap) < 12)
    let small = try decoded(
      animation(width: 10, height: 6, try frame(x: 0, y: 0)),
      as: Rendition(.fitting(PixelSize(width: 5, height: 3))))
    #expect(small.bitmap.size == PixelSize(width: 5, height: 3))
  }

  @Test func `a frame that is not on the canvas is damage`() throws {
    for bytes in [
      animation(width: 20, height: 15, try frame(x: 12, y: 0)),
      animation(width: 20, height: 15, try frame(x: 0, y: 10)),
      animation(width: 20, height: 15), animation(width: 9, height: 6, try frame(x: 0, y: 0)),
      animation(width: 20, height: 15, FilePart.webpChunk("ANMF", [0, 0, 0])),
      animation(width: 20, height: 15, Array(try frame(x: 0, y: 0).prefix(24))),
      // An animation as a frame.
      animation(
        width: 20, height: 15,
        FilePart.webpChunk(
          "ANMF",
          [UInt8](repeating: 0, count: 16)
            + animation(width: 10, height: 6, try frame(x: 0, y: 0)))),
    ] {
      #expect(failure(bytes) == .damagedImage)
      #expect(failure(bytes, allowingIncomplete: true) == .damagedImage)
    }
  }
}
