/// The one thing that matters here in Exif data, which are a TIFF file: how to turn the picture upright.
enum Exif {
  /// What precedes the data in a JPEG, and by mistake in some other files.
  static let prefix = Array("Exif\0\0".utf8)

  /// The orientation, 1 to 8 (TIFF 6.0, tag 274): 1 if there is none, or none that makes sense. Never
  /// reads beyond `bytes`, whatever the offsets in them say.
  static func orientation(in bytes: UnsafeRawBufferPointer) -> Int {
    let start = bytes.starts(with: prefix) ? prefix.count : 0
    let data = UnsafeRawBufferPointer(rebasing: bytes[start...])
    let isBigEndian: Bool
    if data.starts(with: [0x49, 0x49, 0x2A, 0x00]) {
      isBigEndian = false
    } else if data.starts(with: [0x4D, 0x4D, 0x00, 0x2A]) {
      isBigEndian = true
    } else {
      return 1
    }
    /// The number of `count` bytes at `offset`, or `nil` if it lies outside.
    func number(at offset: Int, bytes count: Int) -> Int? {
      guard offset >= 0, offset <= data.count - count else { return nil }
      let digits = data[offset..<offset + count]
      return isBigEndian
        ? digits.reduce(0) { $0 << 8 | Int($1) } : digits.reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    guard let directory = number(at: 4, bytes: 4), let count = number(at: directory, bytes: 2)
    else { return 1 }
    for entry in 0..<count {
      let offset = directory + 2 + entry * 12
      guard let tag = number(at: offset, bytes: 2), let type = number(at: offset + 2, bytes: 2)
      else { return 1 }
      guard tag == 274 else { continue }
      // A SHORT by the standard; some programs write a LONG.
      let value = number(at: offset + 8, bytes: type == 4 ? 4 : 2)
      guard type == 3 || type == 4, let value, (1...8).contains(value) else { return 1 }
      return value
    }
    return 1
  }
}
