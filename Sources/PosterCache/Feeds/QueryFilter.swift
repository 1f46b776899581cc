/// One condition of a list, as its source's documentation names it: `with_genres=18`.
///
/// Name and value are words, not parts of an address: whoever makes the address escapes them.
public struct QueryFilter: Sendable, Hashable {
  /// Letters, digits, `_` and `.`.
  public let name: String
  /// What the condition asks for, as people write it; not empty.
  public let value: String

  /// Parses `name=value`; the value is everything behind the first `=`, and percent signs in it stand for
  /// themselves.
  ///
  /// - Throws: ``PosterError/Code/invalidConfiguration`` if `text` is no such pair, or names what is no
  ///   condition: the page and the language, which have their own settings, and credentials, which belong
  ///   in a ``Credential``.
  public init(_ text: String) throws(PosterError) {
    // Bytes, because an equals sign with an accent is no equals sign among characters.
    guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
      throw PosterError(
        .invalidConfiguration, "a filter without = and a value; write one such as with_genres=18")
    }
    let name = text.utf8[..<equals]
    let value = text.utf8[text.utf8.index(after: equals)...]
    guard (1...Self.longestName).contains(name.count), name.allSatisfy(Self.isAllowedInName) else {
      throw PosterError(
        .invalidConfiguration,
        "a filter's name is 1 to \(Self.longestName) letters, digits, _ and .; "
          + "write a filter such as with_genres=18")
    }
    self.name = String(Substring(name))
    self.value = String(Substring(value))
    guard !value.isEmpty else {
      throw PosterError(.invalidConfiguration, "the filter \(self.name) has no value")
    }
    let word = self.name.lowercased()
    // Not even a part of the value may get into the message.
    guard !Self.secrets.contains(word) else {
      throw PosterError(.invalidConfiguration, "\(self.name) is a credential and no filter")
    }
    guard word != "page", word != "language" else {
      throw PosterError(.invalidConfiguration, "\(self.name) is no filter; it has its own setting")
    }
  }

  /// `name=value` with everything escaped that could end the value or begin another parameter.
  var parameter: String { "\(name)=\(PercentEncoding.escapingAll(value))" }

  private static let longestName = 64

  /// What TMDB and Spotify take a caller's rights from.
  private static let secrets: Set<String> = [
    "api_key", "access_token", "request_token", "session_id", "guest_session_id",
  ]

  private static func isAllowedInName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}

extension QueryFilter: CustomStringConvertible {
  /// `name=value`, as people write it.
  public var description: String { "\(name)=\(value)" }
}
