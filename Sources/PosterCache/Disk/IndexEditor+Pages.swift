/// Keeping list pages and what was warmed of lists, the latest of them.
extension IndexEditor {
  /// Rows that are kept at most.
  private static let mostRows = 8192
  /// What a row takes up besides what it holds.
  private static let rowOverheadBytes = 100
  /// What it gives back besides that, at most.
  private static let freedOverheadBytes = 256
  /// Rows up to this many bytes lie among others; larger ones have pages of their own.
  private static let sharedBytes = 2000
  private static let pageBytes = 4096

  /// Bytes that the rows may take up in a directory with this limit: a 64th, at most 16 MiB.
  static func maximumPageBytes(limit: UInt64) -> Int {
    Int(min(16 << 20, limit / 64))
  }

  /// Keeps `row` in place of an earlier one. Where there are too many, the oldest go; it is not kept where
  /// pinned posters leave no room for it, or it would take more than a quarter of what all may. An empty row
  /// is none.
  mutating func notePage(_ key: CacheKey, _ row: [UInt8]) throws(PosterError) {
    try forgetPage(key)
    guard !row.isEmpty else { return }
    let bytes = Self.bytes(ofRow: row.count)
    let maximum = Self.maximumPageBytes(limit: totals.limit)
    guard bytes <= maximum / 4 else { return }
    guard UInt64(bytes) + totals.pinnedBytes + overheadBytes <= totals.limit else { return }
    try put(key, row)
    try forgetPages(beyond: maximum, keeping: [key])
  }

  /// Keeps what was warmed of a list in place of what was warmed of it before: as many as take up half of
  /// what all rows may; nothing where pinned posters leave no room for that.
  mutating func noteWarmed(_ list: WarmedList, seed: UInt64) throws(PosterError) {
    var part = 0
    while try forgetPage(WarmedList.key(of: list.name, part: part)) { part += 1 }
    let maximum = Self.maximumPageBytes(limit: totals.limit)
    let most = maximum / 2 / CacheKey.size
    let rows = PageRow.bytes(
      ofWarmed: Array(list.keys.prefix(most)), notedAt: list.notedAt, seed: seed)
    let bytes = rows.reduce(0) { $0 + Self.bytes(ofRow: $1.count) }
    guard UInt64(bytes) + totals.pinnedBytes + overheadBytes <= totals.limit else { return }
    let keys = rows.indices.map { WarmedList.key(of: list.name, part: $0) }
    for (key, row) in zip(keys, rows) { try put(key, row) }
    try forgetPages(beyond: maximum, keeping: keys)
  }

  /// Forgets rows, list pages before what was warmed and the oldest first, if all of them take up more than
  /// `maximum` bytes: until they take up three quarters of that. A page is loaded again; what was warmed,
  /// nobody else knows.
  ///
  /// - Parameter kept: what has just been noted, and stays whatever the clock says.
  mutating func forgetPages(
    beyond maximum: Int, keeping kept: [CacheKey] = []
  ) throws(PosterError) {
    // What the table really takes up is known at once; few pages of it, which may be half empty, say little.
    let (bytes, rowCount) = (try transaction.bytes(.pages), try transaction.count(.pages))
    guard bytes > max(maximum, 4 * Self.pageBytes) || rowCount > Self.mostRows else { return }
    var rows: [(key: CacheKey, bytes: Int)] = []
    try transaction.forEachRow(.pages) { key, value throws(PosterError) in
      guard let key = CacheKey(bytes: key) else { throw .damagedIndex("a row of pages") }
      rows.append((key, value.count))
      return true
    }
    var total = rows.reduce(0) { $0 + Self.bytes(ofRow: $1.bytes) }
    guard total > maximum || rows.count > Self.mostRows else { return }
    var dated: [(key: CacheKey, bytes: Int, rank: PageRow.Rank)] = []
    for row in rows {
      let rank = try row.key.withBytes { key throws(PosterError) in
        try transaction.get(.pages, key) { PageRow.Rank($0) }
      }
      dated.append((row.key, row.bytes, rank ?? PageRow.Rank()))
    }
    // Among rows of one rank, which are parts of one list, any order will do.
    dated.sort { $0.rank < $1.rank }
    var count = dated.count
    for row in dated where !kept.contains(row.key) {
      guard total > maximum / 4 * 3 || count > Self.mostRows / 4 * 3 else { return }
      try forgetPage(row.key)
      total -= Self.bytes(ofRow: row.bytes)
      count -= 1
    }
  }

  private mutating func put(_ key: CacheKey, _ row: [UInt8]) throws(PosterError) {
    try key.withBytes { key throws(PosterError) in
      do {
        try row.withUnsafeBytes { row in try transaction.put(.pages, key, row) }
      } catch let error as PosterError {
        throw error
      } catch {
        preconditionFailure("an error of no known kind: \(error)")
      }
    }
    size.used += Self.bytes(ofRow: row.count)
  }

  /// - Returns: whether there was such a row.
  @discardableResult
  private mutating func forgetPage(_ key: CacheKey) throws(PosterError) -> Bool {
    let count = try key.withBytes { key throws(PosterError) in
      try transaction.get(.pages, key) { $0.count }
    }
    guard let count else { return false }
    try transaction.delete(.pages, key)
    size.used -=
      Self.bytes(ofRow: count) - Self.rowOverheadBytes + Self.freedOverheadBytes
    return true
  }

  /// What a row of `count` bytes takes up.
  private static func bytes(ofRow count: Int) -> Int {
    guard count > sharedBytes else { return count + rowOverheadBytes }
    // LMDB puts 16 bytes before it.
    return (count + 16 + pageBytes - 1) / pageBytes * pageBytes + rowOverheadBytes
  }
}

extension IndexTransaction {
  /// List pages that are kept.
  func listPageCount() throws(PosterError) -> Int {
    var count = 0
    try forEachRow(.pages) { _, value in
      if value.count > 8, value[8] == PageRow.Kind.page.rawValue { count += 1 }
      return true
    }
    return count
  }
}
