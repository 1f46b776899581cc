import Glibc

/// An http or https address in canonical form: two addresses that mean the same picture are equal,
/// two that may differ are not.
///
/// Canonical form (RFC 3986, section 6.2.2 and 6.2.3): scheme and host in lower case, default port
/// and fragment dropped, an empty path becomes `/`, dot segments removed, percent-encoding in upper
/// case and undone for unreserved characters, characters that may not stand in an address
/// percent-encoded as UTF-8, names of hosts in other scripts as IDNA writes them, IPv6 addresses
/// shortened. Path and query keep their case, the query its order. Of several slashes between size
/// and file of a poster path (`/t/p/{size}/{file}`) one is left, and everywhere else all.
public struct PosterAddress: Sendable, Hashable {
  /// The whole canonical address, ASCII only, at most ``maximumLength`` bytes. Data, not words: it
  /// may hold a signature or a token, which ``redacted`` leaves out.
  public let canonical: String
  /// The host in lower case, IPv6 addresses in brackets.
  public let host: String
  /// The port, 80 or 443 where the address names none.
  public let port: Int
  /// Whether the scheme is https.
  public let isSecure: Bool

  /// The image host of TMDB: `https://image.tmdb.org/t/p/`.
  // A constant that PosterAddressTests parses; it cannot fail.
  public static let tmdbImages = try! PosterAddress("https://image.tmdb.org/t/p/")

  /// Longest address accepted, in bytes, as written and in canonical form.
  public static let maximumLength = 16_384

  /// Parses an address as people write it.
  ///
  /// - Throws: ``PosterError/Code/invalidAddress`` if it is not http or https, has no host, holds
  ///   a user or password, is longer than ``maximumLength``, or cannot be parsed.
  public init(_ text: String) throws(PosterError) {
    // Nearly every address a program meets is canonical already, and seeing that is ten times
    // cheaper than taking it apart and putting it together.
    if let address = Self(alreadyCanonical: text) {
      self = address
      return
    }
    try Self.checkLength(text)
    let parser: AddressParser
    do throws(AddressParser.Flaw) {
      parser = try AddressParser(text)
    } catch {
      throw PosterError(
        .invalidAddress, "not a usable address, \(error.reason): \(Self.abbreviated(text))")
    }
    // Percent-encoding makes three bytes of one.
    try Self.checkLength(parser.canonical)
    canonical = parser.canonical
    host = parser.host
    port = parser.port
    isSecure = parser.isSecure
  }

  /// An address of the same host as `other`, of which `canonical` is a part.
  init(canonical: String, like other: PosterAddress) {
    self.canonical = canonical
    host = other.host
    port = other.port
    isSecure = other.isSecure
  }

  private init(
    canonical: String, host: String, port: Int, isSecure: Bool
  ) throws(PosterError) {
    try Self.checkLength(canonical)
    self.canonical = canonical
    self.host = host
    self.port = port
    self.isSecure = isSecure
  }

  /// The address `text` if it is in canonical form as it stands, and plainly so.
  private init?(alreadyCanonical text: String) {
    var text = text
    guard text.utf8.count <= Self.maximumLength,
      let form = text.withUTF8({ CanonicalForm($0) })
    else { return nil }
    canonical = text
    host = form.host
    port = form.port ?? (form.isSecure ? 443 : 80)
    isSecure = form.isSecure
  }

  /// An address from bytes that were written as one's ``canonical``; `nil` if they cannot be that.
  init?(canonicalBytes bytes: UnsafeRawBufferPointer) {
    guard bytes.count <= Self.maximumLength else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    let rest: Substring
    if text.hasPrefix("https://") {
      (isSecure, rest) = (true, text.dropFirst(8))
    } else if text.hasPrefix("http://") {
      (isSecure, rest) = (false, text.dropFirst(7))
    } else {
      return nil
    }
    let authority = rest.prefix { $0 != "/" }
    guard !authority.isEmpty, authority.endIndex < rest.endIndex else { return nil }
    // A colon inside brackets belongs to an IPv6 address.
    if let colon = authority.lastIndex(of: ":"), authority.last != "]" {
      guard let port = Int(authority[authority.index(after: colon)...]) else { return nil }
      (host, self.port) = (String(authority[..<colon]), port)
    } else {
      (host, port) = (String(authority), isSecure ? 443 : 80)
    }
    canonical = text
  }

  /// Whether `bytes` are this address' ``canonical``.
  func hasCanonicalBytes(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var canonical = canonical
    return canonical.withUTF8 { own in
      guard own.count == bytes.count, let first = own.baseAddress, let second = bytes.baseAddress
      else { return false }
      return memcmp(first, second, own.count) == 0
    }
  }

  /// This address with `relative` appended to its path, and no query.
  ///
  /// - Throws: ``PosterError/Code/invalidAddress`` if the result would lie outside this address,
  ///   as `../` or an encoded one would, or be longer than ``maximumLength``.
  public func appending(_ relative: String) throws(PosterError) -> PosterAddress {
    try Self.checkLength(relative)
    let path = canonical.utf8.prefix { $0 != UInt8(ascii: "?") }
    var base = Substring(path)
    while base.utf8.last == UInt8(ascii: "/") { base = base.dropLast() }
    if CanonicalForm.isPath(relative) {
      return try PosterAddress(
        canonical: "\(base)/\(relative)", host: host, port: port, isSecure: isSecure)
    }
    // A list's path is data: whatever it holds must stay a path below the base.
    // Scalars, because a question mark with an accent is no question mark among characters.
    let escaped = relative.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "?": result += "%3F"
      case "#": result += "%23"
      case "\\": result += "%5C"
      default: result.unicodeScalars.append(scalar)
      }
    }
    let address = try PosterAddress("\(base)/\(escaped)")
    guard address.canonical.hasPrefix("\(base)/"), address.canonical.count > base.count + 1 else {
      throw PosterError(
        .invalidAddress, "a path that leaves \(base)/: \(Self.abbreviated(relative))")
    }
    return address
  }

  private static func checkLength(_ text: String) throws(PosterError) {
    guard text.utf8.count > maximumLength else { return }
    throw PosterError(
      .invalidAddress,
      "not a usable address, longer than \(maximumLength) bytes: \(abbreviated(text))")
  }

  /// `text` on one line, shortened and without secrets, for a message.
  private static func abbreviated(_ text: String) -> String {
    let text = redacted(text).unicodeScalars
    let printable = text.prefix(120).map { scalar in
      scalar.value < 0x20 || scalar.value == 0x7F ? "?" : Character(scalar)
    }
    return String(printable) + (text.count > 120 ? "…" : "")
  }
}
