/// Takes an address as people write it apart and puts it together in canonical form.
///
/// Works on bytes throughout: what reads as one character may be a slash with an accent. What may not
/// stand in an address is percent-encoded, each `%` that begins no escape included, and escapes that
/// are there already stay what they are.
struct AddressParser {
  /// Why a text is no usable address.
  struct Flaw: Error {
    let reason: String
  }

  let isSecure: Bool
  /// In lower case, IPv6 addresses in brackets, other than ASCII as IDNA writes it (`xn--…`).
  let host: String
  let port: Int
  let canonical: String

  init(_ text: String) throws(Flaw) {
    let bytes = text.utf8
    guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw Flaw(reason: "it holds a control character")
    }
    let (isSecure, rest) = try Self.scheme(of: bytes)
    guard rest.starts(with: "//".utf8) else { throw Flaw(reason: "no host") }
    let authority = rest.dropFirst(2).prefix { byte in
      byte != UInt8(ascii: "/") && byte != UInt8(ascii: "?") && byte != UInt8(ascii: "#")
    }
    guard !authority.contains(UInt8(ascii: "@")) else {
      throw Flaw(reason: "it must not hold a user name or password")
    }
    // A colon inside brackets belongs to an IPv6 address.
    let bracket = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
    let colon = authority[bracket...].lastIndex(of: UInt8(ascii: ":"))
    let host = try HostName.canonical(authority[..<(colon ?? authority.endIndex)])
    let standard = isSecure ? 443 : 80
    let port = try colon.map { colon throws(Flaw) in
      try Self.port(authority[authority.index(after: colon)...], default: standard)
    }

    let target = bytes[authority.endIndex...].prefix { $0 != UInt8(ascii: "#") }
    let path = target.prefix { $0 != UInt8(ascii: "?") }
    var canonical = (isSecure ? "https://" : "http://") + host
    if let port, port != standard { canonical += ":\(port)" }
    let normalized = PercentEncoding.normalized(path, allowing: PercentEncoding.isAllowedInPath)
    canonical +=
      path.isEmpty
      ? "/" : PosterPath.withOneSlash(PercentEncoding.removingDotSegments(normalized))
    if path.endIndex < target.endIndex {
      canonical += "?"
      canonical += PercentEncoding.normalized(
        target[target.index(after: path.endIndex)...], allowing: PercentEncoding.isAllowedInQuery)
    }
    self.isSecure = isSecure
    self.host = host
    self.port = port ?? standard
    self.canonical = canonical
  }

  /// Whether the scheme is https, and what follows its colon.
  private static func scheme(
    of bytes: String.UTF8View
  ) throws(Flaw) -> (isSecure: Bool, rest: Substring.UTF8View) {
    let name = bytes.prefix { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
        UInt8(ascii: "."):
        true
      default: false
      }
    }
    guard !name.isEmpty, name.endIndex < bytes.endIndex, bytes[name.endIndex] == UInt8(ascii: ":")
    else { throw Flaw(reason: "no http:// or https://") }
    let rest = bytes[bytes.index(after: name.endIndex)...]
    switch Substring(name).lowercased() {
    case "http": return (false, rest)
    case "https": return (true, rest)
    case let scheme: throw Flaw(reason: "scheme \(scheme) instead of http or https")
    }
  }

  private static func port(
    _ digits: Substring.UTF8View, default standard: Int
  ) throws(Flaw) -> Int {
    guard !digits.isEmpty else { return standard }
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = Int(Substring(digits)), (1...65_535).contains(port)
      // Without what it is instead, which may be a part of a password.
    else { throw Flaw(reason: "its port is none of 1 to 65535") }
    return port
  }
}
