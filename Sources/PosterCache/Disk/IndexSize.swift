/// How large an index is, and what of that counts against the directory's limit.
///
/// LMDB copies every page that a transaction changes, and uses the old ones again two transactions
/// later: a working index occupies more than its rows need. That is counted up to a bound; what
/// exceeds it, after many entries went, is given back to the file system.
struct IndexSize: Equatable {
  /// Bytes of the pages in use.
  var used: Int
  /// Bytes that the file occupies on the disk, free pages included.
  var occupied: Int

  /// The index counts against the limit only beyond this many bytes.
  static let free = 1 << 20
  /// Free pages beyond what counts are given back once they come to so many bytes.
  static let tolerance = 1 << 20

  /// Bytes of free pages that an index may keep for work, in a directory with this limit.
  static func slack(limit: UInt64) -> Int {
    Int(max(1 << 20, limit / 128))
  }

  /// Bytes that count against the limit.
  func counted(limit: UInt64) -> UInt64 {
    UInt64(max(0, min(occupied, used + Self.slack(limit: limit)) - Self.free))
  }

  /// Whether enough pages are free for giving some back.
  func isWorthTrimming(limit: UInt64) -> Bool {
    occupied > used + Self.slack(limit: limit) + Self.tolerance
  }

  /// Uses that one transaction may note: each changes about two pages, and the slack holds the old
  /// ones of two transactions.
  func usesPerBatch(limit: UInt64, pageBytes: Int) -> Int {
    let pages = Self.slack(limit: limit) / 2 / pageBytes
    return used / pageBytes <= pages ? DiskQueue.dueTouches : pages / 2
  }
}
