/// The syntax-based normalisation of RFC 3986, section 6.2.2, over parts of an address.
enum PercentEncoding {
  /// `bytes` with escapes in upper case and those of unreserved characters undone, and everything
  /// else escaped that is neither unreserved nor `isAllowed`.
  ///
  /// A `%` that begins no escape stands for itself and becomes `%25`.
  static func normalized(
    _ bytes: Substring.UTF8View, allowing isAllowed: (UInt8) -> Bool
  ) -> String {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    forEachByte(bytes) { byte, isEscaped in
      if isUnreserved(byte) || (!isEscaped && isAllowed(byte)) {
        output.append(byte)
      } else {
        output.append(escaping: byte)
      }
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// `bytes` with all escapes undone; `nil` if there is a `%` that begins none.
  static func decoded(_ bytes: Substring.UTF8View) -> [UInt8]? {
    var output: [UInt8] = []
    var isWellFormed = true
    forEachByte(bytes) { byte, isEscaped in
      if byte == UInt8(ascii: "%"), !isEscaped { isWellFormed = false }
      output.append(byte)
    }
    return isWellFormed ? output : nil
  }

  /// `text` with everything escaped that is not unreserved: safe as the value of a parameter.
  static func escapingAll(_ text: String) -> String {
    var output: [UInt8] = []
    for byte in text.utf8 {
      if isUnreserved(byte) { output.append(byte) } else { output.append(escaping: byte) }
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// An absolute path of ASCII without `.` and `..` segments (RFC 3986, section 5.2.4).
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

  // MARK: - Characters

  /// Letters, digits, `-`, `.`, `_` and `~` (RFC 3986, section 2.3).
  static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// What may stand in a path unescaped besides the unreserved (section 3.3).
  static func isAllowedInPath(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"),
      UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"),
      UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ":"),
      UInt8(ascii: "@"), UInt8(ascii: "/"):
      true
    default: false
    }
  }

  /// What may stand in a query unescaped besides the unreserved (section 3.4).
  static func isAllowedInQuery(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "?") || isAllowedInPath(byte)
  }

  // MARK: - Private

  /// Calls `body` with every byte that `bytes` stand for, and whether it was escaped.
  private static func forEachByte(
    _ bytes: Substring.UTF8View, _ body: (_ byte: UInt8, _ isEscaped: Bool) -> Void
  ) {
    var rest = bytes
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%"), let high = rest.first.flatMap(hexadecimalValue),
        let low = rest.dropFirst().first.flatMap(hexadecimalValue)
      else {
        body(byte, false)
        continue
      }
      rest = rest.dropFirst(2)
      body(high << 4 | low, true)
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
}

extension [UInt8] {
  /// Appends `byte` as `%` and two digits in upper case.
  fileprivate mutating func append(escaping byte: UInt8) {
    func digit(_ value: UInt8) -> UInt8 {
      value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
    self += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 0xF)]
  }
}
