/// Recognises text that is a canonical address as it stands.
///
/// Cautious: what it does not recognise may still be one, and takes the long way through
/// the parser. What it recognises, the long way would leave as it is.
struct CanonicalForm {
  let isSecure: Bool
  /// The host; letters, digits, dots and hyphens only.
  let host: String
  /// The port, if it is named.
  let port: Int?

  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    let start: Int
    if bytes.starts(with: "https://".utf8) {
      (isSecure, start) = (true, 8)
    } else if bytes.starts(with: "http://".utf8) {
      (isSecure, start) = (false, 7)
    } else {
      return nil
    }
    var index = start
    while index < bytes.count, Self.isHostByte(bytes[index]) { index += 1 }
    guard index > start else { return nil }
    host = String(decoding: bytes[start..<index], as: UTF8.self)

    if index < bytes.count, bytes[index] == UInt8(ascii: ":") {
      let digits = bytes[(index + 1)...].prefix { (0x30...0x39).contains($0) }
      // A port that is the default's, empty, out of range or begins with 0 is written otherwise.
      guard digits.count <= 5, digits.first != UInt8(ascii: "0"),
        let number = Int(String(decoding: digits, as: UTF8.self)),
        number <= 65_535, number != (isSecure ? 443 : 80)
      else { return nil }
      port = number
      index = digits.endIndex
    } else {
      port = nil
    }

    guard index < bytes.count, bytes[index] == UInt8(ascii: "/"),
      Self.isPath(UnsafeBufferPointer(rebasing: bytes[(index + 1)...]))
    else { return nil }
  }

  /// Whether `text` can be put behind a slash and stays a canonical path.
  static func isPath(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { !$0.isEmpty && isPath($0) }
  }

  /// Unreserved characters and slashes, no empty segment, and none that begins with a dot.
  private static func isPath(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var previous = UInt8(ascii: "/")
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        break
      case UInt8(ascii: "."), UInt8(ascii: "/"):
        if previous == UInt8(ascii: "/") { return false }
      default:
        return false
      }
      previous = byte
    }
    return true
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}
