import CLinux
import Glibc

/// Finds blocks of segments that nothing refers to.
///
/// There are none unless an index was lost, an older one came back, or somebody else wrote to the
/// files. What a process that died has left is taken away whenever the directory is opened.
struct OrphanSearch {
  let index: Index
  let directory: CacheDirectory
  let files: SegmentFiles

  /// Looks for them, and gives them back if asked to.
  ///
  /// - Returns: their bytes.
  func run(reclaiming: Bool) throws(PosterError) -> Int {
    // Appending happens in write transactions: while nobody else is in one, every byte has either been
    // committed or nobody will. Others write again after a walk over the index.
    var orphans: [Orphan] = []
    try index.holdingWriters { () throws(PosterError) in
      orphans = try index.read { rows throws(PosterError) in try find(rows) }
    }
    if reclaiming, !orphans.isEmpty {
      orphans = try index.edit { editor throws(PosterError) in
        let orphans = try find(editor.transaction)
        for orphan in orphans { try editor.release(orphan.extent) }
        _ = try directory.noteUnsynced(limit: editor.totals.limit)
        return orphans
      }
      let release = files.release(orphans.map(\.extent))
      try index.edit { editor throws(PosterError) in try editor.note(release) }
    }
    return orphans.reduce(0) { $0 + $1.bytes }
  }

  private struct Orphan {
    let extent: PendingExtent
    /// What it occupies.
    let bytes: Int
  }

  private func find(_ transaction: IndexTransaction) throws(PosterError) -> [Orphan] {
    var known: [UInt32: [Range<Int>]] = [:]
    try transaction.forEachRow(.entries) { _, value throws(PosterError) in
      guard let entry = EntryRow(bytes: value) else { throw .damagedIndex("a row of entries") }
      let start = Int(entry.offset)
      known[entry.segment, default: []].append(start..<start + entry.blockBytes)
      return true
    }
    for extent in try transaction.pendingExtents() {
      let start = Int(extent.offset)
      let end =
        extent.length == PendingExtent.wholeFile ? Int.max : start + Int(extent.length)
      known[extent.segment, default: []].append(start..<end)
    }
    let rows = try transaction.segments()
    let ends = Dictionary(uniqueKeysWithValues: rows.map { ($0.number, Int($0.row.committedEnd)) })
    var orphans: [Orphan] = []
    for number in try directory.segmentNumbers() {
      do throws(SystemError) {
        guard let file = try directory.openSegment(number, writable: false) else { continue }
        if let end = ends[number] {
          orphans += gaps(in: file, number, known[number] ?? [], end: end)
        } else if known[number] == nil {
          let extent = PendingExtent(segment: number, offset: 0, length: PendingExtent.wholeFile)
          orphans.append(Orphan(extent: extent, bytes: Int(try file.status().st_blocks) * 512))
        }
      } catch {
        throw PosterError(.notStored, "cannot look at a cache segment", underlying: error)
      }
    }
    return orphans
  }

  /// The parts of `file` up to `end` that occupy blocks and are none of `known`.
  private func gaps(
    in file: FileDescriptor, _ number: UInt32, _ known: [Range<Int>], end: Int
  ) -> [Orphan] {
    var orphans: [Orphan] = []
    var offset = 0
    for range in known.sorted(by: { $0.lowerBound < $1.lowerBound }) + [end..<end] {
      while offset < min(range.lowerBound, end) {
        let data = Int(postercache_next_data(file.number, Int64(offset)))
        guard data >= 0, data < range.lowerBound else { break }
        let start = max(offset, data / SegmentFormat.blockSize * SegmentFormat.blockSize)
        let hole = Int(postercache_next_hole(file.number, Int64(data)))
        let stop = min(range.lowerBound, SegmentFormat.blockBytes(hole < 0 ? end : hole))
        let extent = PendingExtent(
          segment: number, offset: UInt64(start), length: UInt64(stop - start))
        orphans.append(Orphan(extent: extent, bytes: stop - start))
        offset = stop
      }
      offset = max(offset, range.upperBound)
    }
    return orphans
  }
}
