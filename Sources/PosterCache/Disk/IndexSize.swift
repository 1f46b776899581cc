/// How large an index is, and what of that counts against the directory's limit.
///
/// LMDB copies every page that a transaction changes, and uses the old ones again two transactions
/// later, in the order in which they became free: an index occupies more than its rows need, and one
/// that was large goes on to write to all its pages in turn. Free pages therefore count, up to a
/// quarter of the limit. What exceeds that is given back to the file system, again and again as LMDB
/// comes to use it; the last to close the directory puts an end to that by writing the index anew.
struct IndexSize: Equatable {
  /// Bytes of the pages in use.
  var used: Int
  /// Bytes that the file occupies on the disk, free pages included.
  var occupied: Int

  /// The index counts against the limit only beyond this many bytes.
  static let free = 1 << 20
  /// Free pages beyond what counts are given back once they come to so many bytes.
  static let tolerance = 1 << 20

  /// Bytes of free pages that count.
  static func slack(limit: UInt64) -> Int {
    Int(max(1 << 20, limit / 4))
  }

  /// Bytes of free pages that a working index needs in a directory with this limit, at most.
  static func working(limit: UInt64) -> Int {
    Int(max(1 << 20, limit / 128))
  }

  /// Bytes that count against the limit.
  func counted(limit: UInt64) -> UInt64 {
    UInt64(max(0, min(occupied, used + Self.slack(limit: limit)) - Self.free))
  }

  /// Bytes that will count once everything has been given back that is not needed for work in a
  /// directory of `bytes`.
  func needed(for bytes: UInt64) -> UInt64 {
    UInt64(max(0, min(occupied, used + Self.working(limit: bytes)) - Self.free))
  }

  /// Bytes of free pages that must be given back; 0 where they are too few.
  func surplus(limit: UInt64) -> Int {
    let surplus = occupied - used - Self.slack(limit: limit)
    return surplus > Self.tolerance ? surplus : 0
  }

  /// Bytes of changed pages that one transaction may hold in memory.
  static let changedBytes = 4 << 20

  /// Uses that one transaction may note: each changes about two pages, and free pages hold the old ones
  /// of two transactions.
  func usesPerBatch(limit: UInt64, pageBytes: Int) -> Int {
    let pages = min(Self.working(limit: limit) / 2, Self.changedBytes) / pageBytes
    return used / pageBytes <= pages ? DiskQueue.dueTouches : pages / 2
  }

  /// Whether writing the index anew would make its file much shorter than `fileBytes`.
  func isWorthRewriting(fileBytes: Int) -> Bool {
    fileBytes - used > max(Self.rewritingBytes, used)
  }

  private static let rewritingBytes = 4 << 20
}
