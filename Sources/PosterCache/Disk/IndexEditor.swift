/// The rules of the disk tier as changes to the index inside one write transaction: exact LRU order
/// by a logical clock, exact totals, and a limit that holds when the transaction commits.
///
/// Works on tables only. Extents that lose their record are noted in table `pending` in the same
/// transaction, so that a crash before the hole is punched leaks nothing; the caller punches
/// ``freed`` after the commit.
struct IndexEditor {
  let transaction: IndexTransaction
  /// The index' size: known as of the last commit, its pages in use estimated from there on.
  var size: IndexSize
  /// The directory's totals as they will be committed.
  var totals: TotalsRow
  /// Extents that this transaction takes out of use.
  private(set) var freed: [PendingExtent] = []

  /// Bytes that could not be given back because somebody holds a lease on them.
  private var heldBytes: UInt64

  /// A limit beyond 1 EiB, which no file system reaches, is taken for this.
  static let largestLimit = UInt64(1) << 60
  /// What an entry's rows take up: measured with 10,000 to 60,000 entries, keys being random.
  static let rowBytes = 170
  /// What they give back at most, when their neighbours move together: rather too much, so that nothing
  /// is evicted for an index that shrinks by itself.
  static let freedRowBytes = 256

  /// What counts against the limit besides the records that the index refers to.
  var overheadBytes: UInt64 { size.counted(limit: totals.limit) + heldBytes }

  /// What counts against the limit.
  var totalBytes: UInt64 { totals.liveBytes + overheadBytes }

  /// What of that is records.
  var recordBytes: UInt64 { totals.liveBytes + heldBytes }

  /// - Parameter size: the index' size as of the last commit.
  init(_ transaction: IndexTransaction, size: IndexSize) throws(PosterError) {
    self.transaction = transaction
    self.size = size
    totals = try transaction.totals()
    heldBytes = try Self.heldBytes(transaction)
  }

  private static func heldBytes(_ transaction: IndexTransaction) throws(PosterError) -> UInt64 {
    try transaction.pendingExtents().reduce(0) { $0 + $1.heldBytes }
  }

  /// Stores the totals; call it last.
  mutating func finish() throws(PosterError) {
    totals.boot = Boot.current
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

  /// Whether there is room for a record.
  enum Room {
    case made
    /// It is larger than the limit; nothing was evicted.
    case tooLarge
    /// Only pinned posters are left.
    case pinned
  }

  /// Evicts until a record of `blockBytes` fits that would replace the one for `key`, if any.
  mutating func makeRoom(
    for blockBytes: Int, replacing key: CacheKey?
  ) throws(PosterError) -> Room {
    let blockBytes = UInt64(blockBytes)
    guard blockBytes + overheadBytes <= totals.limit else { return .tooLarge }
    var replaced: EntryRow?
    if let key { replaced = try transaction.entry(key) }
    let pinned = try Self.difference(
      totals.pinnedBytes, replaced.map { $0.isPinned ? UInt64($0.blockBytes) : 0 } ?? 0)
    guard pinned + blockBytes + overheadBytes <= totals.limit else { return .pinned }
    while true {
      let kept = try Self.difference(totals.liveBytes, UInt64(replaced?.blockBytes ?? 0))
      if kept + blockBytes + overheadBytes <= totals.limit { return .made }
      guard let victim = try evictLeastRecent() else { return .pinned }
      if victim == replaced { replaced = nil }
    }
  }

  /// Makes room for a record before it is written, and drops the version for `key` that it will replace
  /// where both do not fit. A pinned version is not dropped before the new one is there: it needs room
  /// beside it.
  ///
  /// - Returns: with the room, the entry of the version that was dropped, if one was.
  mutating func makeRoomAtOnce(
    for blockBytes: Int, replacing key: CacheKey
  ) throws(PosterError) -> (room: Room, dropped: EntryRow?) {
    let isPinned = try isPinned(key)
    let room = try makeRoom(for: blockBytes, replacing: isPinned ? nil : key)
    guard room == .made, !isPinned, let earlier = try transaction.entry(key),
      totalBytes + UInt64(blockBytes) > totals.limit
    else { return (room, nil) }
    try discard(key, earlier)
    return (room, earlier)
  }

  /// Enters a record that lies at `offset` of `segment`, as the most recently used of its rank. An
  /// earlier version gives its place back and leaves its pin to the new one. A note that there is no
  /// picture is forgotten.
  ///
  /// - Parameters:
  ///   - dropped: the entry of the earlier version, where it has been dropped to make room.
  ///   - tick: the last use to keep, where this is none.
  ///   - averageColor: the colour to keep, where it is the same picture.
  mutating func insert(
    _ header: RecordHeader, _ metadata: PosterMetadata, segment: UInt32, offset: UInt64,
    dropped: EntryRow? = nil, tick: UInt64? = nil, averageColor: PosterColor? = nil
  ) throws(PosterError) {
    let key = header.key
    let earlier = try transaction.entry(key)
    if let earlier { try discard(key, earlier) }
    try forgetAbsence(key)
    var entry = EntryRow(
      header, metadata, segment: segment, offset: offset, isPinned: earlier?.isPinned ?? false,
      isUnseen: header.isUnseen && (earlier ?? dropped)?.isUnseen ?? true,
      tick: tick ?? takeTick())
    entry.averageColor = averageColor ?? metadata.averageColor
    try enter(key, entry, isAppended: true)
  }

  /// Takes over what a server has confirmed about the poster for `key`, whose entry is `entry`.
  mutating func confirm(
    _ key: CacheKey, _ entry: EntryRow, as metadata: PosterMetadata
  ) throws(PosterError) {
    var entry = entry
    entry.confirm(metadata)
    try transaction.put(.entries, key, entry)
    try forgetAbsence(key)
  }

  /// Takes over a picture's average colour, if its record is still the one that is stored.
  func noteColor(_ note: ColorNote) throws(PosterError) {
    guard var entry = try transaction.entry(note.key), entry.averageColor == nil,
      note.isAbout(entry)
    else { return }
    entry.averageColor = note.color
    try transaction.put(.entries, note.key, entry)
  }

  /// Drops the poster for `key` if its record still is the one with `sequence`, which was found
  /// damaged.
  mutating func dropDamaged(_ key: CacheKey, sequence: UInt64) throws(PosterError) {
    guard let entry = try transaction.entry(key), entry.sequence == sequence else { return }
    try discard(key, entry)
    totals.corrupt += 1
  }

  /// Whether the poster for `key` is pinned.
  func isPinned(_ key: CacheKey) throws(PosterError) -> Bool {
    try transaction.entry(key)?.isPinned ?? false
  }

  /// Drops the posters for `keys`, pinned or not, and notes that there are none.
  mutating func remove(_ keys: [CacheKey]) throws(PosterError) -> DiskEdit.Outcome {
    var outcome = DiskEdit.Outcome()
    for key in keys {
      try forgetAbsence(key)
      guard let entry = try transaction.entry(key) else {
        outcome.missing.append(key)
        continue
      }
      try discard(key, entry)
      outcome.count(entry)
    }
    return outcome
  }

  /// Pins or unpins the posters for `keys`; their last use stays what it was.
  ///
  /// - Parameter mark: called for every record whose mark has to change.
  mutating func setPinned(
    _ keys: [CacheKey], _ isPinned: Bool, mark: (EntryRow) throws(PosterError) -> Void
  ) throws(PosterError) -> DiskEdit.Outcome {
    var outcome = DiskEdit.Outcome()
    for key in keys {
      guard var entry = try transaction.entry(key) else {
        outcome.missing.append(key)
        continue
      }
      outcome.count(entry)
      guard entry.isPinned != isPinned else { continue }
      try mark(entry)
      try transaction.delete(.recency, entry.recency)
      entry.isPinned = isPinned
      try transaction.put(.recency, entry.recency, key)
      try transaction.put(.entries, key, entry)
      let blockBytes = UInt64(entry.blockBytes)
      totals.pinnedBytes =
        isPinned
        ? totals.pinnedBytes + blockBytes : try Self.difference(totals.pinnedBytes, blockBytes)
    }
    return outcome
  }

  /// Drops everything, pinned posters included.
  mutating func removeAll() throws(PosterError) -> DiskEdit.Outcome {
    let removed = DiskEdit.Outcome(posters: Int(totals.entries), bytes: Int(totals.bodyBytes))
    try transaction.removeAll(.entries)
    try transaction.removeAll(.recency)
    try transaction.removeAll(.negative)
    try transaction.removeAll(.negativeOrder)
    try transaction.removeAll(.pages)
    for (number, _) in try transaction.segments() { try retire(number) }
    totals.entries = 0
    totals.bodyBytes = 0
    totals.liveBytes = 0
    totals.pinnedBytes = 0
    return removed
  }

  /// Sets the directory's limit and evicts as much as it demands, and no more.
  mutating func setLimit(_ limit: UInt64) throws(PosterError) -> DiskEdit.Outcome {
    totals.limit = min(limit, Self.largestLimit)
    return try trim(to: totals.limit)
  }

  /// Evicts until the total is at most `bytes`, or only pinned posters are left. Of list pages, and of what
  /// is remembered about missing pictures, no more stays than belongs into a directory of `bytes`.
  ///
  /// - Parameter isShrinking: the index will be shrunk to what a directory of `bytes` needs.
  mutating func trim(to bytes: UInt64, isShrinking: Bool = true) throws(PosterError)
    -> DiskEdit.Outcome
  {
    var outcome = DiskEdit.Outcome()
    try forgetAbsences(beyond: Self.maximumAbsences(limit: bytes))
    try forgetPages(beyond: Self.maximumPageBytes(limit: bytes))
    while true {
      let indexBytes = isShrinking ? size.needed(for: bytes) : size.counted(limit: totals.limit)
      guard recordBytes + indexBytes > bytes, let victim = try evictLeastRecent() else {
        return outcome
      }
      outcome.count(victim)
    }
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
  mutating func takeSegmentNumber() throws(PosterError) -> UInt32 {
    // At 64 MiB a segment, 32 bits are 256 PiB of posters.
    guard let number = UInt32(exactly: totals.nextSegment), number < .max else {
      throw PosterError(.notStored, "the cache has used up its segment numbers: delete it")
    }
    totals.nextSegment += 1
    return number
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

  /// Takes note of what became of extents that were to be given back, unless another process has
  /// retired the whole segment since.
  mutating func note(_ release: SegmentFiles.Release) throws(PosterError) {
    for extent in release.done where try isPending(extent) {
      try transaction.delete(.pending, extent.key)
    }
    for extent in release.held where try isPending(extent) {
      try transaction.put(.pending, extent.key, extent.value)
    }
    if !release.isEmpty { heldBytes = try Self.heldBytes(transaction) }
  }

  private func isPending(_ extent: PendingExtent) throws(PosterError) -> Bool {
    let value: NumberRow? = try transaction.row(.pending, extent.key)
    return value.flatMap { PendingExtent(key: extent.key, value: $0) }?.covers(extent) ?? false
  }

  // MARK: - Rows and sums

  /// Puts an entry into every table and total. Its segment has a row.
  ///
  /// - Parameter isAppended: its record is the last one of its segment.
  mutating func enter(
    _ key: CacheKey, _ entry: EntryRow, isAppended: Bool
  ) throws(PosterError) {
    let blockBytes = UInt64(entry.blockBytes)
    try transaction.put(.entries, key, entry)
    try transaction.put(.recency, entry.recency, key)
    size.used += Self.rowBytes
    totals.entries += 1
    totals.bodyBytes += UInt64(entry.bodyLength)
    totals.liveBytes += blockBytes
    if entry.isPinned { totals.pinnedBytes += blockBytes }
    try occupy(entry, isAppended: isAppended)
  }

  private mutating func takeTick() -> UInt64 {
    defer { totals.nextTick += 1 }
    return totals.nextTick
  }

  /// Evicts the first poster in the order of eviction and returns its entry, if there was one.
  private mutating func evictLeastRecent() throws(PosterError) -> EntryRow? {
    let first = try transaction.first(.recency) { (RecencyKey(bytes: $0), CacheKey(bytes: $1)) }
    guard let first else { return nil }
    guard let recency = first.0, let key = first.1, let entry = try transaction.entry(key),
      entry.recency == recency
    else {
      throw .damagedIndex("order of use")
    }
    guard !recency.isPinned else { return nil }
    try discard(key, entry)
    totals.evictions += 1
    return entry
  }

  /// Takes the entry out of every table and total, and gives its extent back.
  mutating func discard(_ key: CacheKey, _ entry: EntryRow) throws(PosterError) {
    try transaction.delete(.entries, key)
    try transaction.delete(.recency, entry.recency)
    let blockBytes = UInt64(entry.blockBytes)
    size.used -= Self.freedRowBytes
    totals.entries = try Self.difference(totals.entries, 1)
    totals.bodyBytes = try Self.difference(totals.bodyBytes, UInt64(entry.bodyLength))
    totals.liveBytes = try Self.difference(totals.liveBytes, blockBytes)
    if entry.isPinned {
      totals.pinnedBytes = try Self.difference(totals.pinnedBytes, blockBytes)
    }
    try leave(entry)
  }

  /// Has the index refer to a copy of the record at another place; nothing else about it changes.
  mutating func move(
    _ key: CacheKey, _ entry: EntryRow, to segment: UInt32, offset: UInt64
  ) throws(PosterError) {
    try leave(entry)
    var entry = entry
    entry.segment = segment
    entry.offset = offset
    try transaction.put(.entries, key, entry)
    try occupy(entry, isAppended: true)
  }

  /// Counts a record for its segment, which has a row.
  private func occupy(_ entry: EntryRow, isAppended: Bool) throws(PosterError) {
    let blockBytes = UInt64(entry.blockBytes)
    guard var row = try transaction.segment(entry.segment) else {
      throw .damagedIndex("a segment without a row")
    }
    row.liveBytes += blockBytes
    row.liveCount += 1
    if isAppended { row.committedEnd = entry.offset + blockBytes }
    try transaction.put(.segments, SegmentKey(entry.segment), row)
  }

  /// Gives the record's extent back, or its whole segment if it was the last.
  private mutating func leave(_ entry: EntryRow) throws(PosterError) {
    let blockBytes = UInt64(entry.blockBytes)
    guard var row = try transaction.segment(entry.segment) else {
      throw .damagedIndex("a segment without a row")
    }
    row.liveBytes = try Self.difference(row.liveBytes, blockBytes)
    row.liveCount = UInt32(try Self.difference(UInt64(row.liveCount), 1))
    if row.liveCount == 0, !row.isOpen {
      try retire(entry.segment)
    } else {
      try transaction.put(.segments, SegmentKey(entry.segment), row)
      try release(
        PendingExtent(segment: entry.segment, offset: entry.offset, length: blockBytes))
    }
  }

  /// `left - right`; sums that are too small for one of their parts are a damaged index.
  private static func difference(_ left: UInt64, _ right: UInt64) throws(PosterError) -> UInt64 {
    guard left >= right else {
      throw .damagedIndex("sums")
    }
    return left - right
  }

  /// Takes a whole segment out of use.
  private mutating func retire(_ number: UInt32) throws(PosterError) {
    try transaction.delete(.segments, SegmentKey(number))
    // The file goes, and with it what was still to be given back of it.
    for extent in try transaction.pendingExtents(of: number) {
      try transaction.delete(.pending, extent.key)
    }
    try release(PendingExtent(segment: number, offset: 0, length: PendingExtent.wholeFile))
  }

  mutating func release(_ extent: PendingExtent) throws(PosterError) {
    freed.append(extent)
    try transaction.put(.pending, extent.key, extent.value)
  }
}

extension DiskEdit.Outcome {
  fileprivate mutating func count(_ entry: EntryRow) {
    posters += 1
    bytes += Int(entry.bodyLength)
  }
}
