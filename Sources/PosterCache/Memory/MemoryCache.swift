/// The memory tier: encoded posters in exact LRU order, bounded by the bytes of their bodies.
///
/// Safe to use from any thread; every call takes well under a microsecond and never waits for
/// anything but another call. Decides with ``LRUTable``, under one lock.
public final class MemoryCache: Sendable {
  private let table: Lock<LRUTable<StoredPoster>>

  /// - Parameter limitBytes: the largest sum of body bytes kept. 0 keeps nothing.
  public init(limitBytes: Int) {
    table = Lock(LRUTable(limit: limitBytes))
  }

  /// The poster for `key`, which becomes the most recently used.
  public func poster(for key: CacheKey, isSeen: Bool = true) -> StoredPoster? {
    table.withLock { $0.value(for: key) }
  }

  /// Keeps `poster` as the most recently used, and lets go of the least recently used ones that no
  /// longer fit. A poster larger than the limit is not kept.
  public func insert(_ poster: StoredPoster, isSeen: Bool = true) {
    table.withLock { _ = $0.insert(poster, for: poster.key, cost: poster.body.count) }
  }

  /// Keeps `poster`, which somebody has read from disk, unless a later version is there by now.
  func restore(_ poster: StoredPoster, isSeen: Bool = true) {
    table.withLock { table in
      if let known = table.peek(poster.key), known.metadata.storedAt > poster.metadata.storedAt {
        return
      }
      _ = table.insert(poster, for: poster.key, cost: poster.body.count)
    }
  }

  /// Puts `poster` in the place of an earlier version, if there is one.
  func replace(_ poster: StoredPoster) {
    table.withLock { table in
      guard table.peek(poster.key) != nil else { return }
      _ = table.insert(poster, for: poster.key, cost: poster.body.count)
    }
  }

  /// Forgets the poster for `key`.
  public func remove(_ key: CacheKey) {
    table.withLock { _ = $0.remove(key) }
  }

  /// Forgets everything.
  public func removeAll() {
    table.withLock { $0.trim(to: -1) }
  }

  /// The bytes kept now; never more than the limit.
  public var totalBytes: Int { table.withLock { $0.totalCost } }

  /// The number of posters kept now.
  public var count: Int { table.withLock { $0.count } }
}
