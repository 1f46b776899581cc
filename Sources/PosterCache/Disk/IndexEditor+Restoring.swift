/// Entering what was found in segments into a new index.
extension IndexEditor {
  /// Enters a segment whose file ends at `end`, open for records.
  mutating func restoreSegment(_ number: UInt32, end: UInt64) throws(PosterError) {
    try transaction.put(.segments, SegmentKey(number), SegmentRow(committedEnd: end))
  }

  /// Enters the record at `offset` of `segment`, unless a newer version of the poster is there
  /// already. Its place in the order of use is that of its sequence number.
  mutating func restore(
    _ header: RecordHeader, _ metadata: PosterMetadata, segment: UInt32, offset: UInt64
  ) throws(PosterError) {
    let key = header.key
    if let other = try transaction.entry(key) {
      guard other.sequence < header.sequence else {
        return try release(
          PendingExtent(
            segment: segment, offset: offset,
            length: UInt64(SegmentFormat.blockBytes(header.recordBytes))))
      }
      try discard(key, other)
    }
    var entry = EntryRow(
      header, metadata, segment: segment, offset: offset, isPinned: header.isPinned,
      isUnseen: header.isUnseen, tick: header.sequence)
    // Two records with one number: an index from before a power cut was in use afterwards.
    if try transaction.recencyOwner(entry.recency) != nil { entry.tick = totals.nextTick }
    totals.nextTick = max(totals.nextTick, entry.tick + 1)
    totals.nextSequence = max(totals.nextSequence, header.sequence + 1)
    try enter(key, entry, isAppended: false)
  }

  /// Has bytes given back that are no record.
  mutating func restoreGarbage(_ extent: PendingExtent) throws(PosterError) {
    try release(extent)
  }

  /// Notes what was found damaged, and the largest number of a segment.
  mutating func noteDamage(_ count: Int, lastSegment: UInt32) {
    totals.corrupt += UInt64(count)
    totals.nextSegment = max(totals.nextSegment, UInt64(lastSegment) + 1)
  }
}
