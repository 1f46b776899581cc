/// The rules of the disk tier as changes to the index inside one write transaction: exact LRU order
/// by a logical clock, exact totals, and a limit that holds when the transaction commits.
///
/// Works on tables only. Extents that lose their record are noted in table `pending` in the same
/// transaction, so that a crash before the hole is punched leaks nothing; the caller punches
/// ``freed`` after the commit.
struct IndexEditor {
  private let transaction: IndexTransaction
  /// Bytes of the index that count against the limit.
  private let indexBytes: UInt64
  /// The directory's totals as they will be committed.
  private(set) var totals: TotalsRow
  /// Extents that this transaction takes out of use.
  private(set) var freed: [PendingExtent] = []

  /// The index counts against the limit only beyond this many bytes.
  static let freeIndexBytes = 1 << 20

  /// - Parameter indexBytes: the index file's size as of the last commit.
  init(_ transaction: IndexTransaction, indexBytes: Int) throws(PosterError) {
    self.transaction = transaction
    self.indexBytes = UInt64(max(0, indexBytes - Self.freeIndexBytes))
    totals = try transaction.totals()
  }

  /// Stores the totals; call it last.
  func finish() throws(PosterError) {
    try transaction.put(.totals, TotalsRow.key, totals)
  }

  // MARK: - Posters

  /// Makes the poster for `key` the most recently used of its rank; nothing if there is none.
  ///
  /// - Parameter isSeen: somebody asked to see it, so it stops being an unseen prefetch.
  mutating func touch(_ key: CacheKey, isSeen: Bool) throws(PosterError) {
    guard var entry = try transaction.entry(key) else { return }
    try transaction.delete(.recency, entry.recency)
    entry.tick = takeTick()
    if isSeen { entry.isUnseen = false }
    try transaction.put(.recency, entry.recency, key)
    try transaction.put(.entries, key, entry)
  }

  /// Evicts until a record of `blockBytes` fits that would replace the one for `key`.
  ///
  /// - Returns: whether it fits; where it does not, only pinned posters are left, or it is larger
  ///   than the limit, in which case nothing is evicted.
  mutating func makeRoom(for blockBytes: Int, replacing key: CacheKey) throws(PosterError) -> Bool {
    guard UInt64(blockBytes) + indexBytes <= totals.limit else { return false }
    while true {
      let replaced = try transaction.entry(key).map { UInt64($0.blockBytes) } ?? 0
      if totals.liveBytes - replaced + UInt64(blockBytes) + indexBytes <= totals.limit {
        return true
      }
      guard try evictLeastRecent() else { return false }
    }
  }

  /// Enters a record that lies at `offset` of `segment`, as the most recently used of its rank. An
  /// earlier version gives its place back and leaves its pin to the new one.
  mutating func insert(
    _ key: CacheKey, header: RecordHeader, segment: UInt32, offset: UInt64, storedAt: Int64,
    expiresAt: Int64
  ) throws(PosterError) {
    let earlier = try transaction.entry(key)
    if let earlier { try discard(key, earlier) }
    let entry = EntryRow(
      segment: segment, offset: offset, isPinned: earlier?.isPinned ?? false,
      isUnseen: header.isUnseen && earlier?.isUnseen ?? true,
      metadataLength: UInt32(header.metadataLength), bodyLength: UInt32(header.bodyLength),
      sequence: header.sequence, tick: takeTick(), storedAt: storedAt, expiresAt: expiresAt)
    try transaction.put(.entries, key, entry)
    try transaction.put(.recency, entry.recency, key)
    totals.entries += 1
    totals.bodyBytes += UInt64(entry.bodyLength)
    totals.liveBytes += UInt64(entry.blockBytes)
    guard var row = try transaction.segment(segment) else {
      preconditionFailure("a record entered into segment \(segment), which has no row")
    }
    row.liveBytes += UInt64(entry.blockBytes)
    row.liveCount += 1
    row.committedEnd = offset + UInt64(entry.blockBytes)
    try transaction.put(.segments, SegmentKey(segment), row)
  }

  /// Drops the poster for `key` if its record still is the one with `sequence`, which was found
  /// damaged.
  mutating func dropDamaged(_ key: CacheKey, sequence: UInt64) throws(PosterError) {
    guard let entry = try transaction.entry(key), entry.sequence == sequence else { return }
    try discard(key, entry)
    totals.corrupt += 1
  }

  /// Drops everything, pinned posters included; returns how many posters and body bytes that were.
  mutating func removeAll() throws(PosterError) -> (entries: Int, bytes: Int) {
    let removed = (Int(totals.entries), Int(totals.bodyBytes))
    try transaction.removeAll(.entries)
    try transaction.removeAll(.recency)
    for (number, _) in try transaction.segments() { try retire(number) }
    totals.entries = 0
    totals.bodyBytes = 0
    totals.liveBytes = 0
    return removed
  }

  /// Sets the directory's limit and evicts as much as it demands, and no more.
  mutating func setLimit(_ limit: UInt64) throws(PosterError) {
    totals.limit = limit
    while totals.liveBytes + indexBytes > limit, try evictLeastRecent() {}
  }

  /// Adds to the counters.
  mutating func count(hits: Int, misses: Int) {
    totals.hits += UInt64(hits)
    totals.misses += UInt64(misses)
  }

  // MARK: - Segments

  /// The number for the next record.
  mutating func takeSequence() -> UInt64 {
    defer { totals.nextSequence += 1 }
    return totals.nextSequence
  }

  /// The number for the next segment. A number is never used twice.
  mutating func takeSegmentNumber() -> UInt32 {
    // At 64 MiB a segment, 32 bits are 256 PiB of posters.
    defer { totals.nextSegment += 1 }
    return UInt32(totals.nextSegment)
  }

  /// Enters a new segment, open for records.
  func addSegment(_ number: UInt32) throws(PosterError) {
    try transaction.put(.segments, SegmentKey(number), SegmentRow())
  }

  /// The segment `number`, if it is one of this directory.
  func segment(_ number: UInt32) throws(PosterError) -> SegmentRow? {
    try transaction.segment(number)
  }

  /// The segments that may take further records.
  func openSegments() throws(PosterError) -> [(number: UInt32, row: SegmentRow)] {
    try transaction.segments().filter { $0.row.isOpen }
  }

  /// Notes that a segment takes no further record; an empty one is deleted.
  mutating func closeSegment(_ number: UInt32) throws(PosterError) {
    guard var row = try transaction.segment(number) else { return }
    row.isOpen = false
    if row.liveCount == 0 {
      try retire(number)
    } else {
      try transaction.put(.segments, SegmentKey(number), row)
    }
  }

  /// Forgets extents whose blocks have been given back, unless another process has retired the whole
  /// segment since.
  func forget(_ extents: [PendingExtent]) throws(PosterError) {
    for extent in extents {
      let length: NumberRow? = try transaction.row(.pending, extent.key)
      if length?.value == extent.length { try transaction.delete(.pending, extent.key) }
    }
  }

  // MARK: - Private

  private mutating func takeTick() -> UInt64 {
    defer { totals.nextTick += 1 }
    return totals.nextTick
  }

  /// Evicts the first poster in the order of eviction; returns whether there was one to evict.
  private mutating func evictLeastRecent() throws(PosterError) -> Bool {
    let first = try transaction.first(.recency) { (RecencyKey(bytes: $0), CacheKey(bytes: $1)) }
    guard let first else { return false }
    guard let recency = first.0, let key = first.1, let entry = try transaction.entry(key),
      entry.recency == recency
    else {
      throw PosterError(.damagedIndex, "the cache index is damaged (order of use)")
    }
    guard !recency.isPinned else { return false }
    try discard(key, entry)
    totals.evictions += 1
    return true
  }

  /// Takes the entry out of every table and total, and gives its extent back.
  private mutating func discard(_ key: CacheKey, _ entry: EntryRow) throws(PosterError) {
    try transaction.delete(.entries, key)
    try transaction.delete(.recency, entry.recency)
    totals.entries -= 1
    totals.bodyBytes -= UInt64(entry.bodyLength)
    totals.liveBytes -= UInt64(entry.blockBytes)
    guard var row = try transaction.segment(entry.segment) else {
      throw PosterError(.damagedIndex, "the cache index is damaged (a segment without a row)")
    }
    row.liveBytes -= UInt64(entry.blockBytes)
    row.liveCount -= 1
    if row.liveCount == 0, !row.isOpen {
      try retire(entry.segment)
    } else {
      try transaction.put(.segments, SegmentKey(entry.segment), row)
      try release(
        PendingExtent(
          segment: entry.segment, offset: entry.offset, length: UInt64(entry.blockBytes)))
    }
  }

  /// Takes a whole segment out of use.
  private mutating func retire(_ number: UInt32) throws(PosterError) {
    try transaction.delete(.segments, SegmentKey(number))
    try release(PendingExtent(segment: number, offset: 0, length: PendingExtent.wholeFile))
  }

  private mutating func release(_ extent: PendingExtent) throws(PosterError) {
    freed.append(extent)
    try transaction.put(.pending, extent.key, NumberRow(extent.length))
  }
}
