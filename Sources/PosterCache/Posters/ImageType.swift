/// A kind of picture that is cached, told by its first bytes and never by its name or header.
public enum ImageType: String, Sendable, Hashable, CaseIterable {
  case jpeg, png, webp

  /// The media type: `image/jpeg`, `image/png`, `image/webp`.
  public var contentType: String { "image/\(rawValue)" }

  /// The kind of the picture that begins with `bytes`, or `nil` if it is none of ours. Twelve bytes
  /// are enough.
  ///
  /// Sources: ITU T.81 B.1.1.3 (SOI, followed by a marker), PNG section 5.2, RFC 9649 section 2.4.
  public init?(firstBytes bytes: UnsafeRawBufferPointer) {
    func starts(with pattern: [UInt8], at offset: Int = 0) -> Bool {
      bytes.count >= offset + pattern.count
        && bytes[offset..<offset + pattern.count].elementsEqual(pattern)
    }
    if starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if starts(with: Array("RIFF".utf8)), starts(with: Array("WEBP".utf8), at: 8) {
      self = .webp
    } else {
      return nil
    }
  }
}
