import PosterCache

/// What is known in a cache directory about the warming of lists: who is at it, and what the last runs had.
struct WarmRecords: Sendable {
  /// The lists by the names of their records, and by what people call them.
  private let lists: [(identity: String, label: String)]

  init(_ listing: Settings.Listing) {
    lists = listing.lists.map { (listing.identity(of: $0), $0.label) }
  }

  /// Waits until nobody else warms any of the lists; whoever gets the locks is to release them.
  ///
  /// - Throws: ``PosterError/Code/cancelled`` if the task is cancelled meanwhile.
  func lock(
    _ directory: String, console: Console
  ) async throws(PosterError) -> [ListLock] {
    var locks: [ListLock] = []
    // All in the same order: two that want each other's lists would wait for ever otherwise.
    for (identity, label) in lists.sorted(by: { $0.identity < $1.identity }) {
      do throws(PosterError) {
        let lock = try ListLock(directory: directory, list: identity)
        try await lock.acquire { console.note("waiting for another warm of \(label)") }
        locks.append(lock)
      } catch {
        for lock in locks { lock.release() }
        throw error
      }
    }
    return locks
  }

  /// The posters that the last run of each list had; none where there was none.
  func warmedBefore(in disk: DiskCache?) throws(PosterError) -> [Set<CacheKey>] {
    try lists.map { list throws(PosterError) in
      try disk?.warmed(list: list.identity) ?? []
    }
  }

  /// Notes what this run has had.
  ///
  /// What it did not come to, as it was interrupted or a page failed, is as it was noted before.
  func note(_ tally: WarmTally, in disk: DiskCache, isInterrupted: Bool) throws(PosterError) {
    for (list, (identity, _)) in zip(tally.lists, lists) {
      var keys = list.keys
      if isInterrupted || list.failedPages > 0 {
        // Nothing to be added to what was noted.
        guard list.pages > 0 else { continue }
        let before = try disk.warmed(list: identity) ?? []
        let rest = before.subtracting(keys).lazy.filter { !tally.hasFailed($0) }
        keys += rest.prefix(ListTally.noteLimit - keys.count)
      }
      try disk.noteWarmed(keys, list: identity)
    }
  }
}
