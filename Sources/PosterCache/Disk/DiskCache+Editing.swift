/// Changes to what is stored. All of them wait for the disk until they are committed, are safe while
/// other threads and processes use the directory, and throw ``PosterError/Code/notStored`` or
/// ``PosterError/Code/damagedIndex``.
extension DiskCache {
  /// Removes the posters for `requests`, pinned or not.
  @discardableResult
  public func evict(_ requests: [PosterRequest]) throws(PosterError) -> DiskChange {
    try change(requests) { .remove($0) }
  }

  /// Keeps the posters for `requests` from ever being evicted, until they are unpinned or removed by
  /// name. Pinned posters count against the limit; if only pinned ones are left, inserts are refused.
  @discardableResult
  public func pin(_ requests: [PosterRequest]) throws(PosterError) -> DiskChange {
    try change(requests) { .setPinned($0, true) }
  }

  /// Lets the posters for `requests` be evicted again, in the order of their last use.
  @discardableResult
  public func unpin(_ requests: [PosterRequest]) throws(PosterError) -> DiskChange {
    try change(requests) { .setPinned($0, false) }
  }

  /// Evicts, in the usual order, until the cache's total (``DiskStatistics/bytes``) is at most `size`
  /// or only pinned posters are left. The limit stays as it is.
  @discardableResult
  public func trim(to size: ByteSize) throws(PosterError) -> DiskChange {
    DiskChange(try edit(.trim(toBytes: size.bytes)))
  }

  /// Sets the directory's limit, which holds when this returns, and says what that evicted.
  @discardableResult
  public func setLimit(_ limit: ByteSize) throws(PosterError) -> DiskChange {
    DiskChange(try edit(.setLimit(limit.bytes)))
  }

  /// Removes everything, pinned posters included. What other processes are about to store is stored
  /// afterwards.
  @discardableResult
  public func removeAll() throws(PosterError) -> DiskChange {
    DiskChange(try edit(.removeAll))
  }

  private func change(
    _ requests: [PosterRequest], _ edit: ([CacheKey]) -> DiskEdit
  ) throws(PosterError) -> DiskChange {
    // A poster that is named twice is changed once.
    var seen: Set<CacheKey> = []
    let keys = requests.map(\.key).filter { seen.insert($0).inserted }
    let outcome = try self.edit(edit(keys))
    let missing = Set(outcome.missing)
    var change = DiskChange(outcome)
    change.missing = requests.filter { missing.contains($0.key) }
    return change
  }
}

extension DiskChange {
  fileprivate init(_ outcome: DiskEdit.Outcome) {
    self.init(posters: outcome.posters, bytes: outcome.bytes)
  }
}
