/// What a PNG's chunks say before libpng reads it: the size, and how to turn the picture upright
/// (PNG, third edition, sections 5.3, 11.2.1 and 11.3.4.5).
struct PNGChunks: Sendable {
  /// The width in pixels, `nil` if the file does not begin with a header.
  let width: Int?
  /// The height in pixels, `nil` if the file does not begin with a header.
  let height: Int?
  /// How to turn the picture upright; 1 if nothing says so.
  let orientation: Int

  /// Walks the chunks of a PNG; never beyond its bytes.
  init(_ bytes: UnsafeRawBufferPointer) {
    func number(at offset: Int) -> Int {
      bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    func name(at offset: Int, is name: StaticString) -> Bool {
      bytes[offset..<offset + 4].elementsEqual(
        UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    }
    guard bytes.count >= 33, name(at: 12, is: "IHDR") else {
      (width, height, orientation) = (nil, nil, 1)
      return
    }
    width = number(at: 16)
    height = number(at: 20)
    var offset = 8
    while offset + 12 <= bytes.count {
      let length = number(at: offset)
      guard offset + 12 + length <= bytes.count, !name(at: offset + 4, is: "IEND") else { break }
      if name(at: offset + 4, is: "eXIf") {
        let content = bytes[offset + 8..<offset + 8 + length]
        orientation = Exif.orientation(in: UnsafeRawBufferPointer(rebasing: content))
        return
      }
      offset += 12 + length
    }
    orientation = 1
  }
}
