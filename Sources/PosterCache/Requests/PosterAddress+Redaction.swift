extension PosterAddress {
  /// The address as messages name it: `…` stands for what may be secret.
  ///
  /// That is the value of every query parameter but `page`, `limit`, `offset`, `language` and `region`,
  /// which the lists' own requests carry, and a parameter without a name. Which of the others are
  /// signatures, tokens or keys cannot be told from their names, and what people search for is their own
  /// business. Everything before the query stays.
  public var redacted: String { Self.redacted(canonical) }

  /// `text`, whatever it is, without what would be secret if it were an address: see ``redacted``. A
  /// user name and password before the host are left out, too.
  package static func redacted(_ text: String) -> String {
    // Bytes, because a question mark with an accent is no question mark among characters.
    let text = withoutUser(text)
    guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return text }
    let start = text.utf8.index(after: mark)
    let parameters = text.utf8[start...]
      .split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
      .map { parameter -> Substring in
        guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")) else {
          return parameter.isEmpty ? "" : "…"
        }
        let isHarmless = harmless.contains(Substring(parameter[..<equals]))
        return Substring(isHarmless ? parameter : parameter[...equals]) + (isHarmless ? "" : "…")
      }
    return text[..<start] + parameters.joined(separator: "&")
  }

  private static let harmless: Set<Substring> = ["page", "limit", "offset", "language", "region"]

  /// `text` without what stands between `//`, or its beginning, and the last `@` before the path.
  private static func withoutUser(_ text: String) -> String {
    let bytes = text.utf8
    let start = bytes.firstRange(of: "//".utf8)?.upperBound ?? bytes.startIndex
    let authority = bytes[start...].prefix { $0 != UInt8(ascii: "/") }
    guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { return text }
    return text[..<start] + "…" + text[at...]
  }
}

extension PosterAddress: CustomStringConvertible {
  /// The ``redacted`` form, so that no message can tell more than it; what a program needs is
  /// ``canonical``.
  public var description: String { redacted }
}
