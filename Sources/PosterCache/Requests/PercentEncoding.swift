/// The syntax-based normalisation of RFC 3986, section 6.2.2, over parts of an address.
enum PercentEncoding {
  /// `text` with escapes in upper case, and those of unreserved characters undone.
  static func normalized(_ text: String) -> String {
    var input = text
    return input.withUTF8 { bytes in
      guard bytes.contains(UInt8(ascii: "%")) else {
        return String(decoding: bytes, as: UTF8.self)
      }
      var output: [UInt8] = []
      output.reserveCapacity(bytes.count)
      var index = 0
      while index < bytes.count {
        if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
          let high = hexadecimalValue(bytes[index + 1]),
          let low = hexadecimalValue(bytes[index + 2])
        {
          let value = high << 4 | low
          if isUnreserved(value) {
            output.append(value)
          } else {
            output += [UInt8(ascii: "%"), hexadecimalDigit(high), hexadecimalDigit(low)]
          }
          index += 3
        } else {
          output.append(bytes[index])
          index += 1
        }
      }
      return String(decoding: output, as: UTF8.self)
    }
  }

  /// An absolute path without `.` and `..` segments (RFC 3986, section 5.2.4).
  static func removingDotSegments(_ path: String) -> String {
    guard path.utf8.contains(UInt8(ascii: ".")) else { return path }
    var output: [Substring] = []
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      switch segment {
      case ".":
        if isLast { output.append("") }
      case "..":
        if !output.isEmpty { output.removeLast() }
        if isLast { output.append("") }
      default:
        output.append(segment)
      }
    }
    return "/" + output.joined(separator: "/")
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  private static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}

extension PercentEncoding {
  /// `text` with everything escaped that is not unreserved: safe as the value of a parameter.
  static func escapingAll(_ text: String) -> String {
    var output: [UInt8] = []
    for byte in text.utf8 {
      if isUnreserved(byte) {
        output.append(byte)
      } else {
        output += [
          UInt8(ascii: "%"), hexadecimalDigit(byte >> 4), hexadecimalDigit(byte & 0xF),
        ]
      }
    }
    return String(decoding: output, as: UTF8.self)
  }
}
