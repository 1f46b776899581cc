extension Credential {
  /// An access token of Spotify's. Surrounding white space is dropped.
  ///
  /// - Throws: ``PosterError/Code/unauthorized`` if `text` is empty or holds anything else than visible
  ///   ASCII characters, which would end the header that it is put into; the message never holds the text.
  public init(spotify text: String) throws(PosterError) {
    let token = text.withoutSurroundingWhitespace
    guard !token.isEmpty else {
      throw PosterError(.unauthorized, "the credential is empty: \(Self.spotifyExpectation)")
    }
    guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw PosterError(
        .unauthorized, "the credential looks like no Spotify token: \(Self.spotifyExpectation)")
    }
    self = .bearerToken(String(token))
  }

  private static let spotifyExpectation =
    "expected an access token of visible ASCII characters, without the word Bearer"
}
