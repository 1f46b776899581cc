extension PosterAddress {
  /// The address as messages name it: `…` stands for what may be secret.
  ///
  /// That is the value of every query parameter but `page` and `language`, which the lists' own
  /// requests carry, and a parameter without a name. Which of the others are signatures, tokens or
  /// keys cannot be told from their names. Everything before the query stays.
  public var redacted: String { Self.redacted(canonical) }

  /// `text`, whatever it is, without what would be secret if it were an address: see ``redacted``. A
  /// user name and password before the host are left out, too.
  package static func redacted(_ text: String) -> String {
    let text = withoutUser(text)
    guard let mark = text.firstIndex(of: "?") else { return text }
    let parameters = text[text.index(after: mark)...]
      .split(separator: "&", omittingEmptySubsequences: false)
      .map { parameter -> Substring in
        guard let equals = parameter.firstIndex(of: "=") else {
          return parameter.isEmpty ? parameter : "…"
        }
        let isHarmless = ["page", "language"].contains(parameter[..<equals])
        return isHarmless ? parameter : parameter[...equals] + "…"
      }
    return text[...mark] + parameters.joined(separator: "&")
  }

  /// `text` without what stands between `//`, or its beginning, and the last `@` before the path.
  private static func withoutUser(_ text: String) -> String {
    let start = text.firstRange(of: "//")?.upperBound ?? text.startIndex
    let authority = text[start...].prefix { $0 != "/" }
    guard let at = authority.lastIndex(of: "@") else { return text }
    return text[..<start] + "…" + text[at...]
  }
}

extension PosterAddress: CustomStringConvertible {
  /// The ``redacted`` form, so that no message can tell more than it; what a program needs is
  /// ``canonical``.
  public var description: String { redacted }
}
