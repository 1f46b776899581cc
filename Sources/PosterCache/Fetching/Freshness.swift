import FoundationEssentials

/// How long a response may be used without asking its server again, and how it may be used after that
/// (RFC 9111, as a private cache; RFC 5861).
///
/// The lifetime is `max-age`, else `Expires` minus `Date` (section 4.2.1). Where neither is there, it
/// is a tenth of what has passed since `Last-Modified` (section 4.2.2), at most
/// ``CachingRules/defaultLifetimeSeconds``, and those where there is no such date either, or where the
/// picture is `immutable`. The age that the response already had is taken off (section 4.2.3).
package struct Freshness: Sendable, Hashable {
  /// From when on it must be asked for again; never before it was received.
  package var expiresAt: Date
  /// Whether it may be stored at all.
  package var isStorable: Bool
  /// How it may be used after ``expiresAt``.
  package var staleUse = StaleUse()
  /// Whether the response says anything about it; ``expiresAt`` is a guess if it does not.
  package var isStated: Bool

  /// Longest lifetime, whatever the response says: 180 days, as TMDB's terms of use demand.
  package static let longestLifetimeSeconds = 180.0 * 86_400

  /// What `headers` say about a response received at `receivedAt`.
  ///
  /// - Parameter delaySeconds: how long it had been under way: from the request to its arrival.
  package init(
    _ headers: ResponseHeaders, receivedAt: Date, delaySeconds: Double = 0,
    rules: CachingRules = CachingRules()
  ) {
    let directives = Self.directives(headers)
    let stated = Self.statedLifetime(headers, directives, receivedAt: receivedAt)
    let age = Self.age(headers, receivedAt: receivedAt, delaySeconds: delaySeconds)
    isStorable = !directives.isNoStore
    isStated = stated != nil
    let whole =
      stated ?? Self.guessedLifetime(headers, directives, receivedAt: receivedAt, rules)
    let lifetime = whole - age
    expiresAt = receivedAt.addingTimeInterval(min(max(lifetime, 0), Self.longestLifetimeSeconds))
    staleUse.isForbidden =
      directives.mustRevalidate || directives.isNoCache || directives.isNoStore
    // Counted from when it expired, which may have been on its way here.
    let expiredSeconds = max(age - max(whole, 0), 0)
    staleUse.whileRevalidatingSeconds = Self.clamped(
      Double(directives.staleWhileRevalidateSeconds ?? 0) - expiredSeconds)
    staleUse.ifErrorSeconds = Self.clamped(
      (directives.staleIfErrorSeconds.map { Double($0) } ?? rules.errorGraceSeconds)
        - expiredSeconds)
  }

  /// For how many seconds an answer that is no picture holds by its own account, on its arrival: 0 if it
  /// must not be kept, `nil` if it does not say. Goes by the server's clock alone.
  static func statedLifetime(of headers: ResponseHeaders) -> Double? {
    let directives = directives(headers)
    if directives.maxAgeSeconds == nil, !directives.isNoStore, !directives.isNoCache {
      // Without a date beside it nobody can say how far away the other one is.
      guard headers.expires == nil || headers.date != nil else { return nil }
    }
    let origin = headers.date ?? Date(timeIntervalSince1970: 0)
    return statedLifetime(headers, directives, receivedAt: origin).map {
      max($0 - Double(headers.age ?? 0), 0)
    }
  }

  // MARK: - Private

  private static func directives(_ headers: ResponseHeaders) -> CacheDirectives {
    if let value = headers.cacheControl { return CacheDirectives(value) }
    // What servers of the time before Cache-Control mean by it (section 5.4).
    var directives = CacheDirectives("")
    directives.isNoCache = headers.pragma.map { CacheDirectives($0).isNoCache } ?? false
    return directives
  }

  private static func statedLifetime(
    _ headers: ResponseHeaders, _ directives: CacheDirectives, receivedAt: Date
  ) -> Double? {
    if directives.isNoStore || directives.isNoCache { return 0 }
    if let maxAge = directives.maxAgeSeconds { return Double(maxAge) }
    return headers.expires.map { $0.timeIntervalSince(headers.date ?? receivedAt) }
  }

  private static func guessedLifetime(
    _ headers: ResponseHeaders, _ directives: CacheDirectives, receivedAt: Date,
    _ rules: CachingRules
  ) -> Double {
    guard !directives.isImmutable, let modified = headers.lastModified.flatMap({ Date(http: $0) })
    else { return rules.defaultLifetimeSeconds }
    let unchanged = (headers.date ?? receivedAt).timeIntervalSince(modified)
    return min(unchanged / 10, rules.defaultLifetimeSeconds)
  }

  /// The larger of what the caches on the way say and what the clocks say.
  private static func age(
    _ headers: ResponseHeaders, receivedAt: Date, delaySeconds: Double
  ) -> Double {
    let apparent = headers.date.map { receivedAt.timeIntervalSince($0) } ?? 0
    return max(apparent, Double(headers.age ?? 0) + max(delaySeconds, 0), 0)
  }

  private static func clamped(_ seconds: Double) -> UInt32 {
    UInt32(min(max(seconds, 0), Self.longestLifetimeSeconds))
  }
}
