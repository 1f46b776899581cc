/// The directory's totals, counters and limit: the one row of table `totals`, under key 0.
struct TotalsRow: FixedSizeRow, Equatable {
  static let size = 112
  static let key = NumberRow(0)

  var entries: UInt64 = 0
  /// Bytes of the pictures themselves.
  var bodyBytes: UInt64 = 0
  /// Bytes in blocks of all records that the index refers to.
  var liveBytes: UInt64 = 0
  /// What ``liveBytes`` and the index beyond its first MiB together must not exceed.
  var limit: UInt64 = 1 << 30
  /// The next value of the logical clock that orders uses.
  var nextTick: UInt64 = 1
  /// The next record's sequence number.
  var nextSequence: UInt64 = 1
  /// The next segment's number; never goes back.
  var nextSegment: UInt64 = 1
  var hits: UInt64 = 0
  var misses: UInt64 = 0
  var evictions: UInt64 = 0
  var corrupt: UInt64 = 0
  /// Bytes in blocks of the pinned ones among ``liveBytes``.
  var pinnedBytes: UInt64 = 0
  /// Which boot of the machine the last change was made in.
  var boot = Boot.unknown

  var isPlausible: Bool {
    // Every sum of two of them fits, and so does every one of them in a signed number.
    let bound = UInt64(1) << 61
    return [
      entries, bodyBytes, liveBytes, limit, nextTick, nextSequence, hits, misses, evictions,
      corrupt, pinnedBytes,
    ].allSatisfy { $0 < bound } && nextSegment <= UInt32.max
  }
}

extension TotalsRow {
  init(_ reader: inout RowReader) {
    entries = reader.next()
    bodyBytes = reader.next()
    liveBytes = reader.next()
    limit = reader.next()
    nextTick = reader.next()
    nextSequence = reader.next()
    nextSegment = reader.next()
    hits = reader.next()
    misses = reader.next()
    evictions = reader.next()
    corrupt = reader.next()
    pinnedBytes = reader.next()
    boot = Boot(high: reader.next(), low: reader.next())
  }

  func write(to writer: inout RowWriter) {
    for field in [
      entries, bodyBytes, liveBytes, limit, nextTick, nextSequence, nextSegment, hits, misses,
      evictions, corrupt, pinnedBytes, boot.high, boot.low,
    ] {
      writer.append(field)
    }
  }
}
