extension IndexTransaction {
  /// The row stored for `key`.
  ///
  /// - Throws: ``PosterError/Code/damagedIndex`` if it has another size than a row of its table.
  func row<Key: FixedSizeRow, Row: FixedSizeRow>(
    _ table: Index.Table, _ key: Key, as _: Row.Type = Row.self
  ) throws(PosterError) -> Row? {
    let found = try key.withBytes { key throws(PosterError) in
      try get(table, key) { Row(bytes: $0) }
    }
    guard let found else { return nil }
    guard let row = found else {
      throw .damagedIndex("a row of \(table)")
    }
    return row
  }

  /// Stores `row` for `key`.
  func put(
    _ table: Index.Table, _ key: some FixedSizeRow, _ row: some FixedSizeRow
  ) throws(PosterError) {
    try key.withBytes { key throws(PosterError) in
      try row.withBytes { row throws(PosterError) in try put(table, key, row) }
    }
  }

  /// Removes the row for `key`; returns whether there was one.
  @discardableResult
  func delete(_ table: Index.Table, _ key: some FixedSizeRow) throws(PosterError) -> Bool {
    try key.withBytes { key throws(PosterError) in try delete(table, key) }
  }

  /// The directory's totals, which every index has from the beginning.
  func totals() throws(PosterError) -> TotalsRow {
    guard let totals: TotalsRow = try row(.totals, TotalsRow.key) else {
      throw .damagedIndex("totals")
    }
    return totals
  }

  /// Where the poster for `key` lies.
  func entry(_ key: CacheKey) throws(PosterError) -> EntryRow? {
    try row(.entries, key)
  }

  /// Whose place in the order of eviction `recency` is.
  func recencyOwner(_ recency: RecencyKey) throws(PosterError) -> CacheKey? {
    try row(.recency, recency)
  }

  /// What is remembered about a picture that a server did not have.
  func absence(_ key: CacheKey) throws(PosterError) -> AbsenceRow? {
    try row(.negative, key)
  }

  /// The note at one end of those that are remembered, in the order in which they were made.
  func absence(
    _ direction: Direction
  ) throws(PosterError) -> (number: UInt64, key: CacheKey)? {
    var found: (number: UInt64, key: CacheKey)?
    try forEachRow(.negativeOrder, direction) { number, key throws(PosterError) in
      guard let number = NumberRow(bytes: number)?.value, number <= RecencyKey.maximumTick,
        let key = CacheKey(bytes: key)
      else { throw .damagedIndex("a row of negativeOrder") }
      found = (number, key)
      return false
    }
    return found
  }

  /// Entries with keys after `key` in key order, at most `count`; from the first on where it is `nil`.
  func entries(
    after key: CacheKey?, count: Int
  ) throws(PosterError) -> [(key: CacheKey, entry: EntryRow)] {
    var entries: [(key: CacheKey, entry: EntryRow)] = []
    try forEachRow(.entries, from: key) { bytes, value throws(PosterError) in
      guard let found = CacheKey(bytes: bytes), let entry = EntryRow(bytes: value) else {
        throw .damagedIndex("a row of entries")
      }
      if found != key { entries.append((found, entry)) }
      return entries.count < count
    }
    return entries
  }

  /// The segment `number`, if it is one of this directory.
  func segment(_ number: UInt32) throws(PosterError) -> SegmentRow? {
    try row(.segments, SegmentKey(number))
  }

  /// The numbers of all segments, in ascending order, with their rows.
  func segments() throws(PosterError) -> [(number: UInt32, row: SegmentRow)] {
    var segments: [(number: UInt32, row: SegmentRow)] = []
    try forEachRow(.segments) { key, value throws(PosterError) in
      guard let key = SegmentKey(bytes: key), let row = SegmentRow(bytes: value) else {
        throw .damagedIndex("a row of segments")
      }
      segments.append((key.number, row))
      return true
    }
    return segments
  }

  /// The extents whose blocks are still to be given back, of all segments or of one.
  func pendingExtents(of segment: UInt32? = nil) throws(PosterError) -> [PendingExtent] {
    var extents: [PendingExtent] = []
    let start = segment.map { PendingKey(segment: $0, offset: 0) }
    try forEachRow(.pending, from: start) { key, value throws(PosterError) in
      guard let key = PendingKey(bytes: key), let value = NumberRow(bytes: value),
        let extent = PendingExtent(key: key, value: value)
      else {
        throw .damagedIndex("a row of pending")
      }
      if let segment, key.segment != segment { return false }
      extents.append(extent)
      return true
    }
    return extents
  }
}
