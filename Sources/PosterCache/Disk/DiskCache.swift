/// The disk tier: posters in a few large append-only files, found through an LMDB index.
///
/// - Exact LRU: reading and rewriting count as use; the order is a counter in the index and survives
///   reopening and every change of the wall clock. A use is on disk at most a second later.
/// - The limit is the directory's and holds over all processes that use it, in blocks of the disk. While
///   a batch is on its way it is exceeded by at most 2 MiB for each process that writes.
/// - A picture is handed out only if its checksum, key and address are right; everything else is a
///   miss.
///
/// Safe to use from any thread. Reading takes one index lookup and one `pread` on the caller's
/// thread; everything that changes the directory is queued for one thread of this object, which
/// writes in batches. Formats: `docs/disk-format.md`.
public final class DiskCache: Sendable {
  let directory: CacheDirectory
  let index: Index
  let writer: DiskWriter
  let records: RecordReader

  /// Opens the cache in `directory`.
  ///
  /// - Parameters:
  ///   - limit: a new limit for the directory, which belongs to it from then on and holds when this
  ///     returns; `nil` keeps its own, 1 GiB in a new one.
  ///   - creating: make the directory and its parents if missing; default `true`. A directory that
  ///     holds something else is refused.
  /// - Throws: ``PosterError/Code/directoryUnavailable``, ``PosterError/Code/unsupportedFormat`` or
  ///   ``PosterError/Code/damagedIndex``.
  public convenience init(
    directory path: String, limit: ByteSize? = nil, creating: Bool = true
  ) throws(PosterError) {
    try ForkGuard.check()
    try self.init(in: CacheDirectory(path, creating: creating, prepare: IndexRecovery.prepare))
    if let limit {
      // An error leaves by way of `deinit`, which needs all properties set, as they are.
      try setLimit(limit)
    }
  }

  /// Opens the cache in `directory`, whose index has been prepared.
  ///
  /// - Parameter canPunch: `false` to go without holes, as on file systems that have none.
  init(in directory: CacheDirectory, canPunch: Bool = true) throws(PosterError) {
    let files = SegmentFiles(directory: directory, canPunch: canPunch)
    self.directory = directory
    index = try Index.acquire(in: directory.index)
    records = RecordReader(files: files, seed: directory.seed)
    writer = DiskWriter(index: index, directory: directory, files: files)
    writer.start()
    // An index that cannot say what it holds is of no use to anybody.
    _ = try index.read { rows throws(PosterError) in try rows.totals() }
  }

  deinit {
    // In a child made by fork, thread and environment are the parent's.
    guard !ForkGuard.isInChild else { return }
    writer.stop()
    let isLong = IndexRewrite.isWorthwhile(index)
    Index.release(index)
    if isLong { IndexRewrite.run(in: directory) }
  }

  // MARK: - Posters

  /// The poster for `request`, or `nil` if it is not stored or found damaged, in which case it is
  /// dropped. Counts as use.
  ///
  /// - Parameter isSeen: somebody asked to see it; `false` for a look that is itself a prefetch.
  /// - Throws: ``PosterError/Code/damagedIndex``, or ``PosterError/Code/notStored`` for a failing
  ///   disk.
  public func poster(
    for request: PosterRequest, isSeen: Bool = true
  ) throws(PosterError) -> StoredPoster? {
    let poster = try peek(at: request)
    count(request, isHit: poster != nil, isSeen: isSeen)
    return poster
  }

  /// The same as ``poster(for:isSeen:)``, but counts neither as use nor as hit or miss: for exports
  /// and backups.
  public func peek(at request: PosterRequest) throws(PosterError) -> StoredPoster? {
    try ForkGuard.check()
    if let unwritten = writer.unwritten(request.key) {
      return unwritten.metadata.address == request.address ? unwritten : nil
    }
    return try find(request) { entry throws(PosterError) in try read(request, entry) }
  }

  /// Counts a use of a poster that somebody else had at hand, such as the memory tier.
  func noteUse(of request: PosterRequest, isSeen: Bool) {
    guard !ForkGuard.isInChild else { return }
    writer.posterWasUsed(request.key, isSeen: isSeen)
  }

  /// Stores `poster`, replacing an earlier version; the bytes are shared, not copied.
  ///
  /// - Parameters:
  ///   - isSeen: somebody asked to see it; unseen posters are evicted first.
  ///   - completion: called once: when the poster is committed, on the writer's thread, or with
  ///     ``PosterError/Code/notStored``, or ``PosterError/Code/directoryUnavailable`` if the directory
  ///     was deleted or replaced. Where too much waits already (32 MiB), the poster is larger than
  ///     1 GiB or the cache is closed, that is at once, on the caller's thread.
  public func insert(
    _ poster: StoredPoster, isSeen: Bool = true,
    completion: @escaping @Sendable (Result<Void, PosterError>) -> Void = { _ in }
  ) {
    guard !ForkGuard.isInChild else { return completion(.failure(ForkGuard.error)) }
    writer.insert(poster, isSeen: isSeen, completion: completion)
  }

  /// Hands the picture out as a range of an open file instead of bytes, or returns `nil` if it is not
  /// stored or found damaged. Counts as use, and its bytes have been checked.
  ///
  /// - Throws: as ``poster(for:isSeen:)``.
  public func lease(
    _ request: PosterRequest, isSeen: Bool = true
  ) throws(PosterError) -> PosterLease? {
    try ForkGuard.check()
    // A record that waits to be written has no place yet.
    if writer.unwritten(request.key) != nil { try flush() }
    let lease = try find(request) { entry throws(PosterError) in try leased(request, entry) }
    count(request, isHit: lease != nil, isSeen: isSeen)
    return lease
  }

  /// Waits until everything asked for so far is committed.
  public func flush() throws(PosterError) {
    try ForkGuard.check()
    try waiting { .barrier($0) }
  }

  /// Commits what waits, syncs the index and stops writing: what is inserted from now
  /// on fails with ``PosterError/Code/notStored``, reading goes on. Idempotent; waits for the disk.
  public func close() {
    guard !ForkGuard.isInChild else { return }
    writer.stop()
  }

  // MARK: - Looking at the whole

  /// Calls `body` with every entry, the last to be evicted first (pinned ones, then those that were
  /// looked at by their last use, then unseen ones), until it returns `false`.
  ///
  /// The order is that of one moment; what is evicted before its turn comes is left out. Changes
  /// nothing, and `body` may take its time: nobody is held up meanwhile. Takes 16 bytes of memory for
  /// each entry.
  public func forEachEntry(_ body: (DiskEntry) -> Bool) throws(PosterError) {
    try flushIfNeeded()
    // A snapshot keeps LMDB from using freed pages again, so it must not wait for a caller.
    let keys = try index.read { transaction throws(PosterError) in
      var keys: [CacheKey] = []
      try transaction.forEachRow(.recency, .backward) { _, value throws(PosterError) in
        guard let key = CacheKey(bytes: value) else {
          throw .damagedIndex("order of use")
        }
        keys.append(key)
        return true
      }
      return keys
    }
    for key in keys {
      // What cannot be read is a miss for those who ask for it, and none of the listed.
      let row = try? index.read { transaction throws(PosterError) in try transaction.entry(key) }
      guard let row, let metadata = try? records.readMetadata(key, row) else { continue }
      let entry = DiskEntry(
        key: key, metadata: metadata, bytes: Int(row.bodyLength), isPinned: row.isPinned)
      guard body(entry) else { return }
    }
  }

  /// Exact totals and counters, this object's uses so far included.
  public func statistics() throws(PosterError) -> DiskStatistics {
    try flush()
    let (totals, total, segments, absences, pages) = try index.read {
      transaction throws(PosterError) in
      let size = IndexSize(
        used: try transaction.usedBytes(), occupied: index.files.dataBlockBytes)
      let editor = try IndexEditor(transaction, size: size)
      return (
        editor.totals, editor.totalBytes, try transaction.segments().map(\.number),
        try transaction.count(.negative), try transaction.listPageCount()
      )
    }
    return DiskStatistics(
      entries: Int(totals.entries), bytes: Int(total), limit: Int(totals.limit),
      segments: segments.count, hits: Int(totals.hits),
      misses: Int(totals.misses), evictions: Int(totals.evictions), corrupt: Int(totals.corrupt),
      pinnedBytes: Int(totals.pinnedBytes), absences: absences, pages: pages,
      occupiedBytes: occupiedBytes(segments))
  }

  private func occupiedBytes(_ segments: [UInt32]) -> Int {
    segments.reduce(IndexFiles(directory: directory.index).occupiedBytes) { sum, number in
      // A segment that has just gone occupies nothing.
      let status = try? records.files.file(number)?.status()
      return sum + Int(status?.st_blocks ?? 0) * 512
    }
  }

  // MARK: - Private

  /// What `read` makes of the record for `request`, or `nil` if there is none or it is damaged, in
  /// which case it is dropped.
  private func find<Value>(
    _ request: PosterRequest,
    _ read: (EntryRow) throws(PosterError) -> RecordReader.Outcome<Value>
  ) throws(PosterError) -> Value? {
    var previous: EntryRow?
    while let entry = try row(for: request) {
      if let previous, previous.isSameRecord(as: entry) {
        // Nobody has changed the entry since it was read the first time: its record is damaged.
        writer.drop(request.key, sequence: entry.sequence)
        return nil
      }
      switch try read(entry) {
      case .found(let value): return value
      case .otherAddress: return nil
      case .mismatch: previous = entry
      }
    }
    return nil
  }

  private func read(
    _ request: PosterRequest, _ entry: EntryRow
  ) throws(PosterError) -> RecordReader.Outcome<StoredPoster> {
    do throws(SystemError) {
      return try records.read(request.key, entry, address: request.address)
    } catch {
      throw PosterError(.notStored, "cannot read from the cache", underlying: error)
    }
  }

  /// Locks the record that `entry` points to, and then makes sure that the index still refers to it:
  /// evictions commit first, and look for locks before they punch.
  private func leased(
    _ request: PosterRequest, _ entry: EntryRow
  ) throws(PosterError) -> RecordReader.Outcome<PosterLease> {
    let range = entry.offset..<entry.offset + UInt64(entry.blockBytes)
    let opened: FileDescriptor?
    do throws(SystemError) {
      opened = try records.files.leased(entry.segment, range)
    } catch {
      throw PosterError(.notStored, "cannot lock a poster in the cache", underlying: error)
    }
    guard let file = opened, let now = try row(for: request), now.isSameRecord(as: entry) else {
      return .mismatch
    }
    return try read(request, entry).map { poster in
      PosterLease(
        file: file, offset: Int(entry.offset) + entry.recordBytes - poster.body.count,
        count: poster.body.count, metadata: poster.metadata)
    }
  }

  private func row(for request: PosterRequest) throws(PosterError) -> EntryRow? {
    try index.read { rows throws(PosterError) in try rows.entry(request.key) }
  }

  private func count(_ request: PosterRequest, isHit: Bool, isSeen: Bool) {
    writer.counters.count(isHit: isHit)
    if isHit { writer.posterWasUsed(request.key, isSeen: isSeen) }
  }

  /// Waits for what was asked so far, if anything was: who just looks does not wait for who writes.
  private func flushIfNeeded() throws(PosterError) {
    try ForkGuard.check()
    if writer.hasWork { try flush() }
  }

  /// Has `edit` carried out and waits for what comes of it.
  func edit(_ edit: DiskEdit) throws(PosterError) -> DiskEdit.Outcome {
    try ForkGuard.check()
    return try waiting { .edit(edit, $0) }
  }

  /// Queues an operation and waits for its result.
  private func waiting<Value: Sendable>(
    _ operation: (@escaping DiskQueue.Completion<Value>) -> DiskQueue.Operation
  ) throws(PosterError) -> Value {
    let result = Monitor<Result<Value, PosterError>?>(nil)
    let isQueued = writer.perform(
      operation { value in
        result.withLock { $0 = value }
        result.signal()
      })
    guard isQueued else { throw PosterError(.notStored, "the cache is closed") }
    return try result.wait(untilNanoseconds: { _ in nil }, for: { $0 }).get()
  }
}
