/// The rules for addresses once more, step by step over lists of characters, with no regard to speed
/// and nothing shared with the library: for ASCII, without user names and IPv6.
enum NaiveAddress {
  /// The canonical form of `text`, or `nil` if it is no usable address.
  static func canonical(_ text: String) -> String? {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let scheme = text[..<colon].lowercased()
    guard scheme == "http" || scheme == "https" else { return nil }
    var rest = String(text[text.index(after: colon)...])
    guard rest.hasPrefix("//") else { return nil }
    rest.removeFirst(2)
    if let fragment = rest.firstIndex(of: "#") { rest = String(rest[..<fragment]) }
    var query: String?
    if let mark = rest.firstIndex(of: "?") {
      query = String(rest[rest.index(after: mark)...])
      rest = String(rest[..<mark])
    }
    var path = "/"
    if let slash = rest.firstIndex(of: "/") {
      path = String(rest[slash...])
      rest = String(rest[..<slash])
    }
    guard let authority = authority(rest, scheme: scheme) else { return nil }
    var canonical = "\(scheme)://\(authority)"
    canonical += withoutDots(escaped(path, besides: "/:@"))
    let parts = canonical.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    // scheme, nothing, authority, t, p, size, file
    if parts.count > 6, parts[3...4] == ["t", "p"], isSize(parts[5]) {
      let start = parts[..<6].joined(separator: "/") + "/"
      while canonical.hasPrefix(start + "/") {
        canonical = start + canonical.dropFirst(start.count + 1)
      }
    }
    if let query { canonical += "?" + escaped(query, besides: "/:@?") }
    return canonical
  }

  /// `original`, or a width or height, whatever small letters follow.
  private static func isSize(_ text: String) -> Bool {
    let letters = Array(text)
    let rest = Set(text).subtracting("abcdefghijklmnopqrstuvwxyz0123456789_")
    return text == "original"
      || letters.count > 1 && "wh".contains(letters[0]) && "0123456789".contains(letters[1])
        && rest.isEmpty
  }

  private static func authority(_ text: String, scheme: String) -> String? {
    guard !text.contains("@") else { return nil }
    var host = text
    var port = ""
    if let colon = text.lastIndex(of: ":") {
      host = String(text[..<colon])
      port = String(text[text.index(after: colon)...])
    }
    let decoded = Array(escaped(host, besides: "").lowercased())
    guard !decoded.isEmpty,
      decoded.allSatisfy({ $0.isLetter || $0.isNumber || "-._~".contains($0) })
    else { return nil }
    while port.hasPrefix("0"), port.count > 1 { port.removeFirst() }
    guard port.allSatisfy({ "0123456789".contains($0) }) else { return nil }
    if port.isEmpty || port == (scheme == "http" ? "80" : "443") { return String(decoded) }
    guard let number = Int(port), number >= 1, number <= 65_535 else { return nil }
    return "\(String(decoded)):\(number)"
  }

  private static let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

  private static func escaped(_ text: String, besides more: String) -> String {
    let unreserved = letters + "-._~"
    let allowed = more.isEmpty ? unreserved : unreserved + "!$&'()*+,;=" + more
    let characters = Array(text)
    var result = ""
    var index = 0
    while index < characters.count {
      let pair = characters[(index + 1)...].prefix(2)
      if characters[index] == "%", pair.count == 2, pair.allSatisfy(\.isHexDigit),
        let value = UInt32(String(pair), radix: 16), let scalar = Unicode.Scalar(value)
      {
        let meant = Character(scalar)
        result += unreserved.contains(meant) ? String(meant) : "%" + String(pair).uppercased()
        index += 3
      } else if allowed.contains(characters[index]) {
        result.append(characters[index])
        index += 1
      } else {
        let value = characters[index].unicodeScalars.first?.value ?? 0
        let digits = String(value, radix: 16).uppercased()
        result += "%" + (digits.count == 1 ? "0" : "") + digits
        index += 1
      }
    }
    return result
  }

  /// Again and again, until there is nothing left to resolve.
  private static func withoutDots(_ path: String) -> String {
    var parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
      .map(String.init)
    while let dots = parts.firstIndex(where: { $0 == "." || $0 == ".." }) {
      let isLast = dots == parts.count - 1
      let isUp = parts[dots] == ".."
      if isLast { parts[dots] = "" } else { parts.remove(at: dots) }
      if isUp, dots > 0 { parts.remove(at: dots - 1) }
    }
    return "/" + parts.joined(separator: "/")
  }
}
