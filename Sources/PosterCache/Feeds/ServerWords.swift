/// What comes from a server, made fit for a message.
enum ServerWords {
  /// Characters that are shown at most unless the caller says otherwise.
  static let longest = 120

  /// `text` on one line, shortened, without what would steer a terminal and without the credential.
  ///
  /// Control and format characters (which turn the direction of writing, or are not to be seen) and line
  /// breaks of all kinds become spaces.
  ///
  /// - Parameters:
  ///   - text: the words, of any length.
  ///   - credential: what must not be shown, should the server repeat it.
  ///   - longest: how many characters to show at most.
  static func oneLine(
    _ text: String, hiding credential: Credential? = nil, longest: Int = longest
  ) -> String {
    var words = ""
    var count = 0
    for scalar in hiding(credential, in: text).unicodeScalars {
      guard count < longest else {
        words += "…"
        break
      }
      count += 1
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
        words += " "
      default: words.unicodeScalars.append(scalar)
      }
    }
    while let last = words.last, last == " " || last == "." { words.removeLast() }
    return words
  }

  /// The beginning of `text` with `…` in place of the credential's value.
  ///
  /// Bytes, because the last letter of a secret is another character with an accent upon it.
  private static func hiding(_ credential: Credential?, in text: String) -> String {
    // More than anybody shows, and little to search.
    let beginning = text.utf8.prefix(4096)
    guard let secret = credential?.value.utf8, !secret.isEmpty else {
      return String(decoding: beginning, as: UTF8.self)
    }
    var bytes = Array(beginning).replacing(Array(secret), with: Array("…".utf8))
    // The cut may have left a part of the secret at the end.
    if beginning.endIndex < text.utf8.endIndex { bytes.removeLast(min(bytes.count, secret.count)) }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Credential {
  /// The secret itself.
  fileprivate var value: String {
    switch self {
    case .bearerToken(let value), .apiKey(let value): value
    }
  }
}
