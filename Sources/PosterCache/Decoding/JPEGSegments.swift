/// What the segments before a JPEG's first scan say besides what the decoder looks at: the orientation
/// (Exif 2.32, section 4.5.4) and the colour profile (ICC.1:2010, annex B.4).
struct JPEGSegments: Sendable {
  /// How to turn the picture upright; 1 if nothing says so.
  let orientation: Int
  /// The ICC profile, if all of its parts are there.
  let colorProfile: [UInt8]?

  /// Bytes of the longest profile that is kept.
  static let longestProfile = 4 << 20

  /// Walks the segments of a JPEG; never beyond its bytes.
  init(_ bytes: UnsafeRawBufferPointer) {
    var orientation: Int?
    var parts: [Int: Range<Int>] = [:]
    var partCount: Int?
    var isConsistent = true
    Self.walk(bytes) { marker, payload in
      let content = UnsafeRawBufferPointer(rebasing: bytes[payload])
      if marker == 0xE1, orientation == nil, content.starts(with: Self.exifName) {
        orientation = Exif.orientation(in: content)
      } else if marker == 0xE2, content.count >= 14, content.starts(with: Self.profileName) {
        // The part's number, from 1 on, and how many there are.
        let number = Int(content[12])
        let count = Int(content[13])
        isConsistent =
          isConsistent && (1...max(count, 1)).contains(number) && parts[number] == nil
          && (partCount ?? count) == count
        partCount = count
        parts[number] = payload.dropFirst(14)
      }
    }
    self.orientation = orientation ?? 1
    let total = parts.values.reduce(0) { $0 + $1.count }
    if isConsistent, let partCount, parts.count == partCount, total > 0,
      total <= Self.longestProfile
    {
      var profile: [UInt8] = []
      profile.reserveCapacity(total)
      for number in 1...partCount {
        if let part = parts[number] { profile.append(contentsOf: bytes[part]) }
      }
      colorProfile = profile
    } else {
      colorProfile = nil
    }
  }

  private static let exifName = Exif.prefix
  private static let profileName = Array("ICC_PROFILE\0".utf8)

  /// Calls `visit` with the marker and the content of each segment up to the first scan.
  private static func walk(
    _ bytes: UnsafeRawBufferPointer, visit: (_ marker: UInt8, _ payload: Range<Int>) -> Void
  ) {
    var offset = 2
    while true {
      // As libjpeg: what is no marker is skipped, and so are fill bytes.
      while offset < bytes.count, bytes[offset] != 0xFF { offset += 1 }
      while offset < bytes.count, bytes[offset] == 0xFF { offset += 1 }
      guard offset + 2 < bytes.count else { return }
      let marker = bytes[offset]
      offset += 1
      switch marker {
      case 0x00, 0x01, 0xD0...0xD8: continue
      case 0xD9, 0xDA: return
      default:
        let length = Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
        guard length >= 2, offset + length <= bytes.count else { return }
        visit(marker, offset + 2..<offset + length)
        offset += length
      }
    }
  }
}
