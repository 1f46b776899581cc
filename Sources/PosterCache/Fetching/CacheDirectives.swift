/// The directives of `Cache-Control` that decide about reuse by a private cache (RFC 9111, section
/// 5.2.2; RFC 5861; RFC 8246).
///
/// `private` and ``allowsOthers`` mean nothing for what is asked for without a credential; the numbers of
/// `s-maxage`, `proxy-revalidate`, `must-understand` and unknown directives are ignored.
struct CacheDirectives: Hashable {
  var maxAgeSeconds: Int?
  var isNoStore = false
  var isNoCache = false
  /// It must not be used once it has expired, whatever happens.
  var mustRevalidate = false
  /// It will not change while it is fresh.
  var isImmutable = false
  /// It is for whoever asked alone.
  var isPrivate = false
  /// It may be used for others, although who asked had a credential: `public`, `must-revalidate` or
  /// `s-maxage` (RFC 9111, section 3.5).
  var allowsOthers = false
  var staleWhileRevalidateSeconds: Int?
  var staleIfErrorSeconds: Int?

  /// Parses a header value. Of a directive that is there twice the first counts, and an argument that
  /// is no number means 0: of two readings the one that asks the server sooner (section 4.2.1).
  init(_ value: String) {
    for directive in Self.split(value) {
      let parts = directive.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      switch Self.trimmed(parts[0]).lowercased() {
      case "no-store": isNoStore = true
      // With field names only those would have to be checked again; nobody here keeps them apart.
      case "no-cache": isNoCache = true
      case "must-revalidate":
        mustRevalidate = true
        allowsOthers = true
      case "public", "s-maxage": allowsOthers = true
      case "immutable": isImmutable = true
      // With field names only those are; nobody here keeps them apart.
      case "private": isPrivate = true
      case "max-age" where maxAgeSeconds == nil: maxAgeSeconds = Self.seconds(parts)
      case "stale-while-revalidate" where staleWhileRevalidateSeconds == nil:
        staleWhileRevalidateSeconds = Self.seconds(parts)
      case "stale-if-error" where staleIfErrorSeconds == nil:
        staleIfErrorSeconds = Self.seconds(parts)
      default: break
      }
    }
  }

  /// The number behind the `=`, perhaps in quotes; 0 if there is none.
  private static func seconds(_ parts: [Substring]) -> Int {
    let argument = parts.count == 2 ? trimmed(parts[1]) : ""
    let isQuoted = argument.count >= 2 && argument.hasPrefix("\"") && argument.hasSuffix("\"")
    return ResponseHeaders.seconds(isQuoted ? argument.dropFirst().dropLast() : argument) ?? 0
  }

  /// Splits at commas outside quotes; at every comma if a quote does not end, so that it hides nothing.
  private static func split(_ value: String) -> [Substring] {
    var isQuoted = false
    var isEscaped = false
    let parts = value.split { character in
      if isEscaped {
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      }
      return character == "," && !isQuoted
    }
    return isQuoted ? value.split(separator: ",") : parts
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
