extension Credential {
  /// Tells a TMDB credential's kind by its shape: a token begins with `eyJ` (it is a JSON Web
  /// Token), an API key is 32 hexadecimal digits. Surrounding white space is dropped.
  ///
  /// - Throws: ``PosterError/Code/unauthorized`` for anything else; the message says what is
  ///   expected and never holds the text.
  public init(tmdb text: String) throws(PosterError) {
    var text = Substring(text)
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    guard !text.isEmpty else {
      throw PosterError(.unauthorized, "the credential is empty: \(Self.expectation)")
    }
    // Anything else would end the header or the query that it is put into.
    let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    if text.hasPrefix("eyJ"), isPlain {
      self = .bearerToken(String(text))
    } else if text.utf8.count == 32, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
      self = .apiKey(String(text))
    } else {
      throw PosterError(
        .unauthorized, "the credential looks like no TMDB credential: \(Self.expectation)")
    }
  }

  private static let expectation =
    "expected a read access token (begins with eyJ) or an API key (32 hexadecimal digits)"
}
