import FoundationEssentials

/// How long a response may be used without asking its server again (RFC 9111, as a private cache).
package struct Freshness: Sendable, Hashable {
  /// From when on it must be asked for again.
  package var expiresAt: Date
  /// Whether it may be stored at all.
  package var isStorable: Bool

  /// Lifetime of a picture whose response says nothing about it: 7 days. Posters are replaced under
  /// new names, not changed.
  package static let defaultLifetimeSeconds = 7.0 * 86_400
  /// Longest lifetime, whatever the response says: 180 days, as TMDB's terms of use demand.
  package static let longestLifetimeSeconds = 180.0 * 86_400

  /// What `headers` say about a response received at `receivedAt`.
  ///
  /// The lifetime is `max-age`, else `Expires` minus `Date` (section 4.2.1), less the age that the
  /// response already had (section 4.2.3).
  package init(_ headers: ResponseHeaders, receivedAt: Date) {
    let directives = CacheDirectives(headers.cacheControl ?? "")
    isStorable = !directives.isNoStore
    let lifetime: Double
    if directives.isNoStore || directives.isNoCache {
      lifetime = 0
    } else if let maxAge = directives.maxAgeSeconds {
      lifetime = Double(maxAge) - Self.age(headers, receivedAt: receivedAt)
    } else if let expires = headers.expires {
      lifetime =
        expires.timeIntervalSince(headers.date ?? receivedAt)
        - Self.age(headers, receivedAt: receivedAt)
    } else {
      lifetime = Self.defaultLifetimeSeconds
    }
    expiresAt = receivedAt.addingTimeInterval(
      min(max(lifetime, 0), Self.longestLifetimeSeconds))
  }

  /// The larger of what the caches on the way say and what the clocks say.
  private static func age(_ headers: ResponseHeaders, receivedAt: Date) -> Double {
    let apparent = headers.date.map { receivedAt.timeIntervalSince($0) } ?? 0
    return max(apparent, Double(headers.age ?? 0), 0)
  }
}

/// The directives of `Cache-Control` that decide about freshness (RFC 9111, section 5.2.2).
struct CacheDirectives: Hashable {
  var maxAgeSeconds: Int?
  var isNoStore = false
  var isNoCache = false

  /// Parses a header value; unknown directives are ignored. Of two `max-age` the first counts, and
  /// one that is no number means 0 (section 4.2.1).
  init(_ value: String) {
    for directive in Self.split(value) {
      let parts = directive.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      switch Self.trimmed(parts[0]).lowercased() {
      case "no-store": isNoStore = true
      // With field names only those would have to be checked again; nobody here keeps them apart.
      case "no-cache": isNoCache = true
      case "max-age" where maxAgeSeconds == nil:
        let argument = parts.count == 2 ? Self.trimmed(parts[1]) : ""
        let isQuoted = argument.count >= 2 && argument.hasPrefix("\"") && argument.hasSuffix("\"")
        maxAgeSeconds =
          ResponseHeaders.seconds(isQuoted ? argument.dropFirst().dropLast() : argument) ?? 0
      default: break
      }
    }
  }

  /// Splits at commas outside quotes.
  private static func split(_ value: String) -> [Substring] {
    var isQuoted = false
    return value.split { character in
      if character == "\"" { isQuoted.toggle() }
      return character == "," && !isQuoted
    }
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
