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
