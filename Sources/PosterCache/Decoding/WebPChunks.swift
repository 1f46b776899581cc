/// Where in a WebP its parts are (RFC 9649, section 2).
struct WebPChunks: Sendable {
  /// What an animation's first frame is.
  struct Frame: Sendable, Equatable {
    /// Where its image data are: an optional `ALPH` chunk and a `VP8 ` or `VP8L` chunk.
    let data: Range<Int>
    /// Where on the canvas its upper left corner goes.
    let x, y: Int
  }

  /// The first frame, if it is an animation.
  let firstFrame: Frame?
  /// Where the ICC profile is.
  let colorProfile: Range<Int>?
  /// How to turn the picture upright; 1 if nothing says so.
  let orientation: Int

  /// Walks the chunks of a WebP; never beyond its bytes. Of what is cut off, the part that is there
  /// counts.
  init(_ bytes: UnsafeRawBufferPointer) {
    var frame: Frame?
    var profile: Range<Int>?
    var orientation: Int?
    Self.walk(bytes, 12..<bytes.count) { name, content, isWhole in
      switch name {
      case "ANMF":
        guard frame == nil, content.count >= 16 else { return }
        let start = content.lowerBound
        frame = Frame(
          data: Self.imageData(in: bytes, content.dropFirst(16)),
          // In units of two pixels.
          x: 2 * Self.number(in: bytes, at: start, bytes: 3),
          y: 2 * Self.number(in: bytes, at: start + 3, bytes: 3))
      case "ICCP":
        if profile == nil, isWhole, content.count <= JPEGSegments.longestProfile {
          profile = content
        }
      case "EXIF":
        if orientation == nil {
          orientation = Exif.orientation(in: UnsafeRawBufferPointer(rebasing: bytes[content]))
        }
      default: break
      }
    }
    firstFrame = frame
    colorProfile = profile
    self.orientation = orientation ?? 1
  }

  /// From the first chunk of a frame that libwebp knows on.
  private static func imageData(
    in bytes: UnsafeRawBufferPointer, _ content: Range<Int>
  ) -> Range<Int> {
    var first: Int?
    walk(bytes, content) { name, chunk, _ in
      if first == nil, ["ALPH", "VP8 ", "VP8L"].contains(name) { first = chunk.lowerBound - 8 }
    }
    return (first ?? content.upperBound)..<content.upperBound
  }

  /// Calls `visit` for each chunk in a part of `bytes` with its name, where its content is, as far as it
  /// is there, and whether all of it is.
  private static func walk(
    _ bytes: UnsafeRawBufferPointer, _ part: Range<Int>,
    visit: (_ name: String, _ content: Range<Int>, _ isWhole: Bool) -> Void
  ) {
    var offset = part.lowerBound
    while offset + 8 <= part.upperBound {
      let length = number(in: bytes, at: offset + 4, bytes: 4)
      let end = min(offset + 8 + length, part.upperBound)
      visit(
        String(decoding: bytes[offset..<offset + 4], as: UTF8.self), offset + 8..<end,
        end == offset + 8 + length)
      // Content of an odd length is followed by a byte that does not count.
      offset += 8 + length + length % 2
    }
  }

  /// The little-endian number of `count` bytes at `offset`.
  private static func number(
    in bytes: UnsafeRawBufferPointer, at offset: Int, bytes count: Int
  ) -> Int {
    bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}
