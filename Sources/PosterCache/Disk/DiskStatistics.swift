/// Totals and counters of a cache directory, over all processes that ever used it.
public struct DiskStatistics: Sendable, Hashable {
  /// Posters stored.
  public var entries: Int
  /// Bytes that count against the limit: the blocks of the records, and the index beyond its first
  /// MiB.
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
  /// Bytes in blocks of the pinned posters among ``bytes``.
  public var pinnedBytes: Int
  /// Pictures of which is remembered that their server did not have them.
  public var absences: Int
  /// List pages kept.
  public var pages: Int
  /// Bytes that the segments and the index' files really occupy on the disk.
  public var occupiedBytes: Int
}
