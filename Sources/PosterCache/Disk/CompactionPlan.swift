/// Which segment is to be emptied by copying what it still holds, so that it can be deleted.
///
/// Evictions leave holes, and a segment lives as long as one record in it. Posters that are used again
/// and again would keep more and more nearly empty segments.
struct CompactionPlan {
  /// Segments that take no further record, with the bytes in each that could not be given back.
  var closed: [(number: UInt32, row: SegmentRow, heldBytes: UInt64)]
  /// The directory's limit.
  var limit: UInt64
  /// Whether evictions leave holes at all.
  var canPunch: Bool

  /// The segment to be emptied next, if one should be.
  ///
  /// With holes, the one with the fewest bytes, once there are more than twice as many segments as the
  /// limit fills. Without them, the one with the most that is lost, once that is an eighth of the
  /// limit.
  var victim: UInt32? {
    guard canPunch else {
      let heldBytes = closed.reduce(0) { $0 + $1.heldBytes }
      guard heldBytes > limit / 8 else { return nil }
      return closed.max { $0.heldBytes < $1.heldBytes }?.number
    }
    guard closed.count > 8 + 2 * Int(limit) / SegmentFormat.segmentBytes else { return nil }
    return closed.min { $0.row.liveBytes < $1.row.liveBytes }?.number
  }
}
