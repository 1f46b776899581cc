extension DiskCache {
  /// Checks every record of the cache in `directory`, and the index itself, and mends what is wrong
  /// if asked to.
  ///
  /// Safe while other threads and processes use the directory, except that an index which is missing
  /// or damaged can be rebuilt only while nobody else has the directory open. The index is looked at
  /// in a child process first, because a damaged page can end whoever reads it. Takes as long as
  /// reading every record; a poster that comes or goes meanwhile may or may not be counted.
  ///
  /// - Parameters:
  ///   - path: an existing cache directory; none is made.
  ///   - isRepairing: drop what is damaged, give back blocks that nothing refers to, and rebuild an
  ///     index that is missing or damaged from the records: the newest version of each poster counts,
  ///     its last use is taken to be when it was stored, and pinned posters stay pinned.
  /// - Throws: ``PosterError/Code/directoryUnavailable``, ``PosterError/Code/unsupportedFormat`` or
  ///   ``PosterError/Code/notStored``.
  public static func verify(
    directory path: String, repairing isRepairing: Bool = false
  ) throws(PosterError) -> DiskVerification {
    try ForkGuard.check()
    let found = try look(path, isRepairing: isRepairing)
    guard isRepairing, found.index != .intact else { return found }
    // Not before that look's locks are given up.
    let outcome = try rebuildIndex(path)
    var verification = DiskVerification(index: found.index)
    verification.count(outcome)
    // The index, and every place that is no record and is given back.
    verification.repaired = 1 + outcome.garbageRuns
    return verification
  }

  /// Checks everything that can be checked with the index as it is.
  private static func look(
    _ path: String, isRepairing: Bool
  ) throws(PosterError) -> DiskVerification {
    let directory = try CacheDirectory(path, creating: false) { _ in }
    var verification = DiskVerification(index: try IndexRecovery.state(of: directory))
    if verification.index == .intact {
      // Nobody has stored anything yet.
      guard IndexFiles(directory: directory.index).exist else { return verification }
      try DiskCache(in: directory).verifyRecords(&verification, isRepairing: isRepairing)
    } else if !isRepairing {
      verification.count(try IndexRebuild(directory: directory).survey())
    }
    return verification
  }

  /// Rebuilds the index of the directory at `path` while nobody can open it.
  private static func rebuildIndex(_ path: String) throws(PosterError) -> IndexRebuild.Outcome {
    var outcome = IndexRebuild.Outcome()
    let directory = try CacheDirectory(path, creating: false) { directory throws(PosterError) in
      // Somebody may have done it since it was looked at.
      guard try IndexRecovery.state(of: directory) != .intact else { return }
      outcome = try IndexRecovery.rebuild(directory)
    }
    // Opening gives back what was found to be no record.
    try DiskCache(in: directory).flush()
    return outcome
  }

  /// Entries that are looked up together.
  private static let verificationBatch = 512

  private func verifyRecords(
    _ verification: inout DiskVerification, isRepairing: Bool
  ) throws(PosterError) {
    var last: CacheKey?
    while true {
      let batch = try index.read { [last] transaction throws(PosterError) in
        try transaction.entries(after: last, count: Self.verificationBatch)
      }
      guard let end = batch.last else { break }
      last = end.key
      for (key, entry) in batch {
        try verify(key, entry, &verification, isRepairing: isRepairing)
      }
    }
    try flush()
    verification.orphanBytes = try OrphanSearch(
      index: index, directory: directory, files: records.files
    ).run(reclaiming: isRepairing)
    if isRepairing, verification.orphanBytes > 0 { verification.repaired += 1 }
  }

  private func verify(
    _ key: CacheKey, _ first: EntryRow, _ verification: inout DiskVerification, isRepairing: Bool
  ) throws(PosterError) {
    var entry = first
    while true {
      let finding: RecordReader.Finding
      do throws(SystemError) {
        finding = try records.check(key, entry)
      } catch {
        throw PosterError(.notStored, "cannot read from the cache", underlying: error)
      }
      if finding != .ok {
        let now = try index.read { rows throws(PosterError) in try rows.entry(key) }
        // Evicted meanwhile, or stored anew.
        guard let now else { return }
        if !now.isSameRecord(as: entry) {
          entry = now
          continue
        }
      }
      verification.checked += 1
      switch finding {
      case .ok: verification.ok += 1
      case .missing: verification.missing += 1
      case .corrupt: verification.corrupt += 1
      }
      if finding != .ok, isRepairing {
        writer.drop(key, sequence: entry.sequence)
        verification.repaired += 1
      }
      return
    }
  }
}

extension DiskVerification {
  fileprivate mutating func count(_ outcome: IndexRebuild.Outcome) {
    checked += outcome.intactRecords + outcome.garbageRuns
    ok += outcome.intactRecords
    corrupt += outcome.garbageRuns
  }
}
