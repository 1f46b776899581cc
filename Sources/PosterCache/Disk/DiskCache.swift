import FoundationEssentials

/// The disk tier.
public final class DiskCache: Sendable {
  /// Opens the cache in `directory`, creating it if missing.
  ///
  /// - Parameter limit: a new limit for the directory; `nil` keeps its own (1 GiB if new).
  public init(directory: String, limit: ByteSize? = nil) throws(PosterError) {
    fatalError("stub")
  }

  /// Calls `body` with every entry, most recently used first, until it returns `false`.
  public func forEachEntry(_ body: (DiskEntry) -> Bool) throws(PosterError) {
    fatalError("stub")
  }

  /// Exact totals and counters.
  public func statistics() throws(PosterError) -> DiskStatistics {
    fatalError("stub")
  }

  /// Removes every entry that is not pinned; returns how many entries and body bytes went.
  public func removeAll() throws(PosterError) -> (entries: Int, bytes: Int) {
    fatalError("stub")
  }

  /// Writes what is waiting and closes the directory.
  public func close() {
    fatalError("stub")
  }
}

/// One stored poster as ``DiskCache/forEachEntry(_:)`` reports it.
public struct DiskEntry: Sendable, Hashable {
  /// The name under which it is cached.
  public var key: CacheKey
  /// Address, kind, validators and freshness.
  public var metadata: PosterMetadata
  /// Bytes of the picture.
  public var bytes: Int
  /// Whether it is never evicted.
  public var isPinned: Bool
}

/// Totals and counters of a cache directory, over all processes that ever used it.
public struct DiskStatistics: Sendable, Hashable {
  /// Posters stored.
  public var entries: Int
  /// Bytes that count against the limit: the blocks of segments and index.
  public var bytes: Int
  /// The directory's limit in bytes.
  public var limit: Int
  /// Segment files.
  public var segments: Int
  /// Reads that found their poster.
  public var hits: Int
  /// Reads that did not.
  public var misses: Int
  /// Posters evicted to make room.
  public var evictions: Int
  /// Records found damaged, and dropped.
  public var corrupt: Int
}
