/// What is to be done when the directory is opened, now and then, and at the end.
extension DirectoryEditor {
  /// An index that changed is synced, and what could not be given back is tried again, this often.
  static let careNanoseconds: UInt64 = 1_000_000_000

  /// Takes away and gives back what processes that died have left.
  func begin() {
    // An index that cannot be read will tell those who ask it something; this is nobody's request.
    try? Leftovers(index: index, directory: directory).reclaim()
    retryPending { _ in true }
    // As above.
    let totals = try? index.read { rows throws(PosterError) in try rows.totals() }
    if let totals { trimIndex(limit: totals.limit) }
  }

  /// When ``takeCare()`` has something to do; `nil` if it has nothing.
  var nextCare: UInt64? {
    isUnsynced || hasHeldExtents ? lastCareAt + Self.careNanoseconds : nil
  }

  /// Does once a second what is to be done now and then.
  func takeCare() {
    let now = monotonicNanoseconds()
    guard lastCareAt + Self.careNanoseconds <= now else { return }
    sync()
    index.reclaimReaders()
    // Without holes, what could not be given back waits for its segment.
    if files.canPunch { retryPending { $0.heldBytes > 0 } }
    noteRelease()
    compact()
    lastCareAt = now
  }

  /// Syncs, and lets go of the segment: the next one to open the directory can continue it.
  func end() {
    noteRelease()
    appender.abandon()
    sync()
    directory.ceaseWriting { () throws(PosterError) in try index.sync() }
  }

  /// Gives back extents that are still pending: a process that died did not get to it, or somebody,
  /// in whatever process, held a lease on them.
  private func retryPending(_ isWanted: (PendingExtent) -> Bool) {
    // As when the directory is opened.
    let pending = try? index.read { rows throws(PosterError) in try rows.pendingExtents() }
    let extents = (pending ?? []).filter(isWanted)
    hasHeldExtents = false
    giveBack(extents, isRepeated: true)
  }

  private func sync() {
    guard isUnsynced else { return }
    isUnsynced = false
    // Where this fails, a power cut costs what was not written yet; nobody has to be told.
    try? index.sync()
  }
}
