/// The memory tier: encoded posters in exact order of use, bounded by the bytes of their bodies.
///
/// What was prefetched and nobody has seen yet goes before what somebody has; among each, the least recently
/// used first. A poster larger than a tenth of the limit is not kept. Safe to use from any thread: see
/// ``SharedLRU`` for how. A look takes some tens of nanoseconds and hardly ever waits for another.
public final class MemoryCache: Sendable {
  private let posters: SharedLRU<CacheKey, StoredPoster>

  /// The largest sum of body bytes kept.
  public let limitBytes: Int

  /// - Parameter limitBytes: the largest sum of body bytes kept, at least 0. 0 keeps nothing.
  public init(limitBytes: Int) {
    self.limitBytes = limitBytes
    posters = SharedLRU(limit: limitBytes)
  }

  /// The poster for `key`, which becomes the most recently used.
  ///
  /// - Parameter isSeen: whether somebody sees it.
  public func poster(for key: CacheKey, isSeen: Bool = true) -> StoredPoster? {
    posters.value(for: key, isSeen: isSeen)
  }

  /// The poster for `key`, without counting as use.
  func peek(_ key: CacheKey) -> StoredPoster? {
    posters.peek(key)
  }

  /// Keeps `poster` as the most recently used, in the place of an earlier version, and lets go of what no
  /// longer fits.
  ///
  /// A poster larger than a tenth of the limit is not kept, and evicts nothing but an earlier version.
  ///
  /// - Parameter isSeen: whether somebody sees it. What somebody has seen remains so in a later version.
  public func insert(_ poster: StoredPoster, isSeen: Bool = true) {
    posters.insert(poster, for: poster.key, cost: poster.body.count, isSeen: isSeen)
  }

  /// Keeps `poster`, which somebody has read from disk, unless a later version is there by now.
  func restore(_ poster: StoredPoster, isSeen: Bool = true) {
    posters.insert(poster, for: poster.key, cost: poster.body.count, isSeen: isSeen) { known in
      known.map { $0.metadata.storedAt <= poster.metadata.storedAt } ?? true
    }
  }

  /// Puts `poster` in the place of an earlier version, if there is one.
  func replace(_ poster: StoredPoster) {
    posters.insert(poster, for: poster.key, cost: poster.body.count, isSeen: false) { $0 != nil }
  }

  /// Forgets the poster for `key`.
  public func remove(_ key: CacheKey) {
    posters.remove(key)
  }

  /// Forgets `poster`, unless another version has taken its place.
  func remove(_ poster: StoredPoster) {
    posters.remove(poster.key) { $0 === poster }
  }

  /// Evicts until at most `bytes` are kept.
  public func trim(toBytes bytes: Int) {
    posters.trim(to: bytes)
  }

  /// Forgets everything.
  public func removeAll() {
    posters.removeAll()
  }

  /// The bytes kept now; never more than the limit.
  public var totalBytes: Int { posters.totals.cost }

  /// The number of posters kept now.
  public var count: Int { posters.totals.count }
}
