import CLMDB

/// One snapshot or one set of changes of an ``Index``; must not leave the closure it is given to.
struct IndexTransaction {
  private let handle: OpaquePointer
  private let index: Index
  private var tables: [MDB_dbi] { index.tables }

  init(handle: OpaquePointer, index: Index) {
    self.handle = handle
    self.index = index
  }

  /// Bytes of the index' pages that are in use: those of the file without the free ones, which the
  /// next transactions use first. LMDB shows these to a reading transaction only.
  func usedBytes() throws(PosterError) -> Int {
    var freePages = 0
    // Table 0 is LMDB's own: a row for each transaction that freed pages, beginning with their count.
    try forEachRow(identifier: 0, .forward) { _, value throws(PosterError) in
      freePages += Self.pageCount(of: value)
      return true
    }
    return max(0, index.fileBytes - freePages * index.pageBytes)
  }

  /// The number of pages that a row of LMDB's list names: it begins with that, which may be damaged.
  private static func pageCount(of value: UnsafeRawBufferPointer) -> Int {
    let size = MemoryLayout<Int>.size
    guard value.count >= size else { return 0 }
    return max(0, min(value.loadUnaligned(as: Int.self), value.count / size - 1))
  }

  /// Free pages that no state from transaction `number` on refers to, the last freed first; at most
  /// `limit` of them.
  func freePages(notAfter number: UInt64, count limit: Int) throws(PosterError) -> [Int] {
    var pages: [Int] = []
    let end = index.fileBytes / index.pageBytes
    // A row for each transaction that freed pages, under its number: their count, then the pages.
    try forEachRow(identifier: 0, .backward) { key, value throws(PosterError) in
      let size = MemoryLayout<Int>.size
      guard key.count == size, key.loadUnaligned(as: UInt64.self) <= number else { return true }
      for offset in 0..<min(Self.pageCount(of: value), limit - pages.count) {
        let page = value.loadUnaligned(fromByteOffset: (offset + 1) * size, as: Int.self)
        // The first two are never free.
        guard (2..<end).contains(page) else { throw .damagedIndex("its free pages") }
        pages.append(page)
      }
      return pages.count < limit
    }
    return pages
  }

  /// Calls `body` with the bytes stored for `key`; they are valid inside it only.
  func get<Result>(
    _ table: Index.Table, _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result
  ) throws(PosterError) -> Result? {
    var key = MDB_val(key)
    var value = MDB_val()
    let status = mdb_get(handle, tables[table.rawValue], &key, &value)
    if status == MDB_NOTFOUND { return nil }
    try Index.check(status, "get \(table)")
    return body(UnsafeRawBufferPointer(value))
  }

  /// Stores `value` for `key`, replacing what was there.
  func put(
    _ table: Index.Table, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(PosterError) {
    var key = MDB_val(key)
    var value = MDB_val(value)
    try Index.check(mdb_put(handle, tables[table.rawValue], &key, &value, 0), "put \(table)")
  }

  /// Removes the row for `key`; returns whether there was one.
  @discardableResult
  func delete(_ table: Index.Table, _ key: UnsafeRawBufferPointer) throws(PosterError) -> Bool {
    var key = MDB_val(key)
    let status = mdb_del(handle, tables[table.rawValue], &key, nil)
    if status == MDB_NOTFOUND { return false }
    try Index.check(status, "delete \(table)")
    return true
  }

  /// The first row of `table` in key order.
  func first<Result>(
    _ table: Index.Table, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Result
  ) throws(PosterError) -> Result? {
    var result: Result?
    try forEachRow(table) { key, value throws(PosterError) in
      result = body(key, value)
      return false
    }
    return result
  }

  /// Removes every row of `table`.
  func removeAll(_ table: Index.Table) throws(PosterError) {
    try Index.check(mdb_drop(handle, tables[table.rawValue], 0), "empty \(table)")
  }

  /// The number of rows of `table`.
  func count(_ table: Index.Table) throws(PosterError) -> Int {
    var statistics = MDB_stat()
    try Index.check(mdb_stat(handle, tables[table.rawValue], &statistics), "count \(table)")
    return statistics.ms_entries
  }

  /// Bytes of the index' pages that `table` takes up.
  func bytes(_ table: Index.Table) throws(PosterError) -> Int {
    var statistics = MDB_stat()
    try Index.check(mdb_stat(handle, tables[table.rawValue], &statistics), "measure \(table)")
    let pages =
      statistics.ms_branch_pages + statistics.ms_leaf_pages + statistics.ms_overflow_pages
    return pages * Int(statistics.ms_psize)
  }

  /// Which end a walk begins at.
  enum Direction {
    case forward, backward
  }

  /// Calls `body` with the rows of `table` in key order until it returns `false`. The table must not
  /// be changed meanwhile.
  func forEachRow(
    _ table: Index.Table, _ direction: Direction = .forward,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(PosterError) -> Bool
  ) throws(PosterError) {
    try forEachRow(identifier: tables[table.rawValue], direction, body)
  }

  /// Calls `body` with the rows of `table` from the first whose key is not before `start`, or the very
  /// first, until it returns `false`.
  func forEachRow(
    _ table: Index.Table, from start: (some FixedSizeRow)?,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(PosterError) -> Bool
  ) throws(PosterError) {
    guard let start else {
      return try forEachRow(identifier: tables[table.rawValue], .forward, body)
    }
    try start.withBytes { start throws(PosterError) in
      try forEachRow(identifier: tables[table.rawValue], .forward, from: start, body)
    }
  }

  private func forEachRow(
    identifier: MDB_dbi, _ direction: Direction, from start: UnsafeRawBufferPointer? = nil,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(PosterError) -> Bool
  ) throws(PosterError) {
    var opened: OpaquePointer?
    try Index.check(mdb_cursor_open(handle, identifier, &opened), "walk")
    // Set by the call that has just succeeded.
    let cursor = opened!
    defer { mdb_cursor_close(cursor) }
    var operation =
      start != nil ? MDB_SET_RANGE : direction == .forward ? MDB_FIRST : MDB_LAST
    var key = start.map { MDB_val($0) } ?? MDB_val()
    while true {
      var value = MDB_val()
      let status = mdb_cursor_get(cursor, &key, &value, operation)
      if status == MDB_NOTFOUND { return }
      try Index.check(status, "walk")
      guard try body(UnsafeRawBufferPointer(key), UnsafeRawBufferPointer(value)) else { return }
      operation = direction == .forward ? MDB_NEXT : MDB_PREV
    }
  }
}

extension MDB_val {
  /// LMDB takes every value as mutable, but changes none that it is given.
  fileprivate init(_ bytes: UnsafeRawBufferPointer) {
    self.init(
      mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }
}

extension UnsafeRawBufferPointer {
  fileprivate init(_ value: MDB_val) {
    self.init(start: value.mv_data, count: value.mv_size)
  }
}
