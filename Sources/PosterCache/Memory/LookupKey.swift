/// A key that finds its place in a table without being hashed.
protocol LookupKey: Sendable, Hashable {
  /// Uniformly distributed over at least the lower 32 bits.
  var place: UInt64 { get }
  /// What this is one of several of, which can be removed and renewed together; `nil` for what stands alone.
  var family: CacheKey? { get }
  /// Any key: what vacant places hold.
  static var filler: Self { get }
}

extension CacheKey: LookupKey {
  /// The key is a uniform hash already.
  var place: UInt64 { low }
  var family: CacheKey? { nil }
  static var filler: CacheKey { CacheKey(high: 0, low: 0) }
}
