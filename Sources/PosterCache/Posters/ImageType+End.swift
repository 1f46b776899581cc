extension ImageType {
  /// Whether `bytes`, a picture of this kind, holds the picture's end.
  ///
  /// The only proof of completeness for a body whose length nobody announced. The structure is
  /// walked, not searched: a JPEG's embedded thumbnail has an end marker of its own. Bytes after
  /// the end are allowed.
  package func isComplete(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .jpeg: Self.holdsEndOfJPEG(bytes)
    case .png: Self.holdsEndOfPNG(bytes)
    case .webp: Self.holdsEndOfWebP(bytes)
    }
  }

  /// Walks the marker segments (ITU T.81, annex B) and the entropy-coded data between them up to
  /// the end-of-image marker.
  private static func holdsEndOfJPEG(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var offset = 2
    var holdsScan = false
    while true {
      // Between segments any number of fill bytes may stand before a marker; after a scan, its
      // entropy-coded data does, in which 0xFF is followed by zero or a restart marker.
      while offset + 1 < bytes.count {
        if bytes[offset] == 0xFF {
          let next = bytes[offset + 1]
          if next != 0x00, next != 0xFF, !(0xD0...0xD7).contains(next) { break }
        }
        offset += 1
      }
      guard offset + 1 < bytes.count else { return false }
      let marker = bytes[offset + 1]
      offset += 2
      switch marker {
      case 0xD9: return holdsScan
      case 0x01, 0xD8: continue
      default:
        guard offset + 1 < bytes.count else { return false }
        let length = Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
        // The length counts its own two bytes.
        guard length >= 2 else { return false }
        offset += length
        holdsScan = holdsScan || marker == 0xDA
      }
    }
  }

  /// Walks the chunks (PNG, section 5.3) up to the end of IEND.
  private static func holdsEndOfPNG(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var offset = 8
    while offset + 12 <= bytes.count {
      let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
      let isEnd = bytes[offset + 4..<offset + 8].elementsEqual("IEND".utf8)
      offset += 12 + length
      if isEnd { return offset <= bytes.count }
    }
    return false
  }

  /// The RIFF header says how many bytes follow it (RFC 9649, section 2.4).
  private static func holdsEndOfWebP(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= 12 else { return false }
    let size = bytes[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) }
    // Form type and the header of one chunk at least.
    return size >= 12 && bytes.count >= size + 8
  }
}
