import Glibc

/// Emptying segments that hold little.
extension DirectoryEditor {
  /// Copies what a segment still holds to the current one, and deletes it, if ``CompactionPlan`` finds
  /// one that should be.
  func compact() {
    // What fails here, such as a full disk, is tried again another time; nobody waits for it.
    guard let victim = try? plan().victim else { return }
    do throws(PosterError) {
      try empty(victim)
      let isLeft = try index.read { rows throws(PosterError) in try rows.segment(victim) } != nil
      if isLeft { unmovable.insert(victim) }
    } catch {
      appender.abandon()
    }
  }

  private func plan() throws(PosterError) -> CompactionPlan {
    try index.read { rows throws(PosterError) in
      var held: [UInt32: UInt64] = [:]
      for extent in try rows.pendingExtents() {
        held[extent.segment, default: 0] += extent.heldBytes
      }
      let closed = try rows.segments().filter { !$0.row.isOpen && !unmovable.contains($0.number) }
      return CompactionPlan(
        closed: closed.map { ($0.number, $0.row, held[$0.number] ?? 0) },
        limit: try rows.totals().limit, canPunch: files.canPunch)
    }
  }

  func empty(_ number: UInt32) throws(PosterError) {
    let file: FileDescriptor
    do throws(SystemError) {
      guard let opened = try files.file(number) else { return }
      file = opened
    } catch {
      throw PosterError(.notStored, "cannot read a cache segment", underlying: error)
    }
    // As with inserts, so much is occupied twice at once.
    var group: [(offset: Int, header: RecordHeader)] = []
    var bytes = 0
    var scanner = try SegmentScanner(file, seed: directory.seed)
    try scanner.forEachFinding { offset, finding throws(PosterError) in
      guard case .record(let header, _) = finding else { return }
      group.append((offset, header))
      bytes += SegmentFormat.blockBytes(header.recordBytes) + DiskQueue.indexBytes
      guard bytes >= DiskQueue.batchBytes else { return }
      try move(group, from: number, file)
      group = []
      bytes = 0
    }
    try move(group, from: number, file)
  }

  private func move(
    _ records: [(offset: Int, header: RecordHeader)], from number: UInt32, _ file: FileDescriptor
  ) throws(PosterError) {
    guard !records.isEmpty else { return }
    let freed = try index.edit { editor throws(PosterError) in
      for (offset, header) in records {
        // Older versions, and what has been evicted since, stay behind.
        guard let entry = try editor.transaction.entry(header.key), entry.segment == number,
          entry.offset == UInt64(offset), let record = Self.read(entry, from: file)
        else { continue }
        let place = try appender.gather(copy: record, &editor)
        try editor.move(header.key, entry, to: place.segment, offset: place.offset)
      }
      try appender.write()
      try noteUnsynced(limit: editor.totals.limit)
      return editor.freed
    }
    appender.commit()
    isUnsynced = true
    giveBack(freed)
  }

  /// The whole record, as it is: with its sequence number, by which a rebuild orders it, and inside the
  /// transaction, because a pin's mark may change.
  private static func read(_ entry: EntryRow, from file: FileDescriptor) -> PosterBody? {
    let record = PosterBody(capacity: entry.recordBytes) { bytes in
      max(
        0,
        retryingOnInterrupt {
          pread(file.number, bytes.baseAddress, bytes.count, off_t(entry.offset))
        })
    }
    return record.count == entry.recordBytes ? record : nil
  }
}
