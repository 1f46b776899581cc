import FoundationEssentials

/// List pages, and what was warmed of lists: kept in the index, absent from every count and listing of
/// posters.
///
/// All together take up a 64th of the directory's limit at most, and 16 MiB; pages go before what was
/// warmed, and the oldest first. They do not survive a rebuild of the index.
extension DiskCache {
  /// The list page that is kept for `address`; `nil` if there is none. Whether it may be used at this time
  /// is for the caller to say.
  ///
  /// - Throws: ``PosterError/Code/damagedIndex`` or ``PosterError/Code/notStored``.
  func page(at address: PosterAddress) throws(PosterError) -> StoredPage? {
    try ForkGuard.check()
    let key = CacheKey(address)
    let page: StoredPage?
    if let unwritten = writer.unwrittenPage(key) {
      page = unwritten.row.withUnsafeBytes { PageRow(bytes: $0, seed: directory.seed)?.page }
    } else {
      page = try row(key) { $0.page }
    }
    // Two addresses may share a key by accident.
    return page?.metadata.address == address ? page : nil
  }

  /// Keeps `page`, in place of an earlier one for its address: readable at once, and on disk 2 ms later.
  /// It is dropped, and the earlier one as well, where its body is longer than 1 MiB, its row takes up a
  /// quarter of what all may, or pinned posters leave no room for it; and it alone where too much waits to be
  /// written, or the cache is closed.
  func notePage(_ page: StoredPage) {
    guard !ForkGuard.isInChild else { return }
    let row = PageRow.bytes(of: page, seed: directory.seed)
    writer.notePage(NotedPage(CacheKey(page.metadata.address), row ?? []))
  }

  /// Forgets the list page that is kept for `address`, as what its server sends in its place cannot be kept.
  func dropPage(at address: PosterAddress) {
    guard !ForkGuard.isInChild else { return }
    writer.notePage(NotedPage(CacheKey(address), []))
  }

  /// The posters that the last finished run of the list called `name` had; `nil` if there was none, or
  /// nobody knows any more.
  package func warmed(list name: String) throws(PosterError) -> Set<CacheKey>? {
    try ForkGuard.check()
    var keys: Set<CacheKey> = []
    var (part, count) = (0, 1)
    while part < count {
      let found = try row(WarmedList.key(of: name, part: part)) { $0.warmed }
      // A part that has gone leaves nothing to rely on.
      guard let row = found, row.part == part else { return nil }
      count = row.count
      keys.formUnion(row.keys)
      part += 1
    }
    return keys
  }

  /// Notes the posters that a finished run of the list called `name` had, in place of those of the run
  /// before: the first that fit into a 128th of the directory's limit, at 16 bytes each. Waits for the disk.
  package func noteWarmed(
    _ keys: some Collection<CacheKey>, list name: String
  ) throws(PosterError) {
    let list = WarmedList(name: name, keys: Array(keys), notedAt: Date().milliseconds)
    _ = try edit(.noteWarmed(list))
  }

  /// What `read` makes of a row; `nil` if there is none, or a damaged one.
  private func row<Value>(
    _ key: CacheKey, _ read: (PageRow) -> Value?
  ) throws(PosterError) -> Value? {
    let found = try index.read { rows throws(PosterError) in
      try key.withBytes { key throws(PosterError) in
        try rows.get(.pages, key) { PageRow(bytes: $0, seed: directory.seed).flatMap(read) }
      }
    }
    return found ?? nil
  }
}
