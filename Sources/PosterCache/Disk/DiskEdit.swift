/// A change to what a cache directory holds that somebody asked for and waits for.
enum DiskEdit {
  /// Set the directory's limit and evict what it demands.
  case setLimit(Int)
  /// Evict until the total is at most so many bytes; the limit stays.
  case trim(toBytes: Int)
  /// Drop these posters, pinned or not.
  case remove([CacheKey])
  /// Drop everything, pinned posters included.
  case removeAll
  /// Replace what was warmed of a list.
  case noteWarmed(WarmedList)
  /// Never evict these posters, or treat them like others again.
  case setPinned([CacheKey], Bool)

  /// What came of it.
  struct Outcome: Sendable {
    /// Posters that were dropped or whose pin was set, and the bytes of their pictures.
    var posters = 0
    var bytes = 0
    /// Those of the keys that were named and are not stored.
    var missing: [CacheKey] = []
  }
}
