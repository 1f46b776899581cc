import Synchronization

/// The one thread of a ``DiskCache`` that changes its directory.
///
/// Takes batches from a ``DiskQueue``, carries each out in one index transaction, gives back the
/// blocks that it took out of use, and then tells those who wait. Once a second, and at the end, it
/// makes what was committed safe from a power cut.
final class DiskWriter: Sendable {
  private struct State {
    var queue = DiskQueue()
    /// Posters that wait or are being written, so that a reader finds them before the index does.
    var unwritten: [CacheKey: StoredPoster] = [:]
  }

  /// Reads that found their poster, and that did not, since the last batch.
  let hits = Atomic<Int>(0)
  let misses = Atomic<Int>(0)

  private let index: Index
  private let directory: CacheDirectory
  private let files: SegmentFiles
  private let state = Monitor(State())
  private nonisolated(unsafe) let own: Own  // touched by the writer's thread alone
  private let life = Monitor(Life.idle)

  /// What the writer's thread has for itself.
  private final class Own {
    let appender: SegmentAppender
    /// What became of extents that were to be given back, not noted in the index yet.
    var release = SegmentFiles.Release()
    /// There are extents that somebody holds a lease on.
    var hasHeldExtents = false
    /// What the directory's state is known to say.
    var state: DirectoryState?
    var lastSyncAt: UInt64 = 0
    /// Something was committed since the last sync.
    var isUnsynced = false
    /// The work was brought to its end from within a completion.
    var hasEnded = false

    init(appender: SegmentAppender) {
      self.appender = appender
    }
  }

  private enum Life {
    case idle
    case running(WorkerThread)
    case ending
    case ended
  }

  /// An index that changed is synced, and what could not be given back is tried again, this often.
  static let syncNanoseconds: UInt64 = 1_000_000_000

  init(index: Index, directory: CacheDirectory, files: SegmentFiles) {
    self.index = index
    self.directory = directory
    self.files = files
    own = Own(appender: SegmentAppender(directory: directory))
  }

  /// Starts the thread.
  func start() {
    life.withLock { $0 = .running(WorkerThread(name: "poster-disk") { self.run() }) }
  }

  // MARK: - From any thread

  /// Queues a poster, or tells `completion` at once why not.
  func insert(
    _ poster: StoredPoster, isSeen: Bool, completion: @escaping DiskQueue.Completion<Void>
  ) {
    guard
      let insertion = DiskQueue.Insertion(poster, isSeen: isSeen, completion: completion)
    else {
      completion(
        .failure(PosterError(.notStored, "too large to be stored: \(poster.metadata.address)")))
      return
    }
    let acceptance = state.withLock { state in
      let acceptance = state.queue.insertWasAsked(insertion, now: monotonicNanoseconds())
      if acceptance != .refused { state.unwritten[poster.key] = poster }
      return acceptance
    }
    switch acceptance {
    case .queued: break
    case .queuedAndDue: state.signal()
    case .refused:
      completion(
        .failure(PosterError(.notStored, "the disk cannot keep up, or the cache is closed")))
    }
  }

  /// A poster that is not in the index yet.
  func unwritten(_ key: CacheKey) -> StoredPoster? {
    state.withLock { $0.unwritten[key] }
  }

  /// Notes a use.
  func posterWasUsed(_ key: CacheKey, isSeen: Bool) {
    let acceptance = state.withLock { state in
      state.queue.posterWasUsed(key, isSeen: isSeen, now: monotonicNanoseconds())
    }
    if acceptance == .queuedAndDue { state.signal() }
  }

  /// Queues dropping a record that was found damaged.
  func drop(_ key: CacheKey, sequence: UInt64) {
    state.withLock { $0.queue.recordWasFoundDamaged(key, sequence: sequence) }
    state.signal()
  }

  /// Queues an operation that somebody waits for; `false` if the cache is closed.
  func perform(_ operation: DiskQueue.Operation) -> Bool {
    let isQueued = state.withLock { $0.queue.operationWasAsked(operation) }
    state.signal()
    return isQueued
  }

  /// Writes what waits, syncs and ends the thread. Idempotent; returns when that is done, whoever
  /// began it.
  func stop() {
    state.withLock { $0.queue.close() }
    state.signal()
    let thread = life.withLock { life -> WorkerThread? in
      guard case .running(let thread) = life else { return nil }
      life = .ending
      return thread
    }
    guard let thread else {
      life.wait(
        untilNanoseconds: { _ in nil }, for: { if case .ended = $0 { () } else { nil } })
      return
    }
    if thread.isCurrent {
      // The last reference to the cache went in a completion: nobody will be there to be joined, and
      // the index closes once this returns.
      thread.detach()
      run()
      own.hasEnded = true
    } else {
      thread.join()
    }
    life.withLock { $0 = .ended }
    life.signal()
  }

  // MARK: - The writer's thread

  private func run() {
    // An index that cannot be read will tell those who ask it something; this is nobody's request.
    try? Leftovers(index: index, directory: directory).reclaim()
    retryPending { _ in true }
    while true {
      let batch = state.wait(
        untilNanoseconds: { state in
          [state.queue.deadline, nextCare].compactMap { $0 }.min()
        },
        for: { state -> DiskQueue.Batch? in
          let now = monotonicNanoseconds()
          if let batch = state.queue.takeDueBatch(now: now) { return batch }
          return nextCare.map { $0 <= now } ?? false ? .operations([]) : nil
        })
      guard case .operations(let operations) = batch else { break }
      if !operations.isEmpty {
        perform(operations)
        if own.hasEnded { return }
      }
      takeCare()
    }
    noteRelease()
    sync()
    noteSynced()
    // Gives the segment's lock up: the next one to open the directory can continue it.
    own.appender.abandon()
  }

  /// When to sync, or to try again what could not be given back; `nil` if there is nothing of that.
  private var nextCare: UInt64? {
    own.isUnsynced || own.hasHeldExtents ? own.lastSyncAt + Self.syncNanoseconds : nil
  }

  /// Does once a second what is to be done now and then.
  private func takeCare() {
    let now = monotonicNanoseconds()
    guard own.lastSyncAt + Self.syncNanoseconds <= now else { return }
    sync()
    index.reclaimReaders()
    retryPending { $0.heldBytes > 0 }
    own.lastSyncAt = now
  }

  /// Gives back extents that are still pending: a process that died did not get to it, or somebody,
  /// in whatever process, held a lease on them.
  private func retryPending(_ isWanted: (PendingExtent) -> Bool) {
    // As above.
    let pending = try? index.read { rows throws(PosterError) in try rows.pendingExtents() }
    let extents = (pending ?? []).filter(isWanted)
    guard !extents.isEmpty else {
      own.hasHeldExtents = false
      return
    }
    take(files.release(extents))
  }

  private func take(_ release: SegmentFiles.Release) {
    own.release.done += release.done
    own.release.held += release.held
    own.hasHeldExtents = own.hasHeldExtents || !release.held.isEmpty
  }

  /// Carries out a batch and tells those who wait. Where a record cannot be written, the inserts
  /// fail and the rest is done without them.
  private func perform(_ operations: [DiskQueue.Operation]) {
    var outcome: BatchOutcome
    do throws(PosterError) {
      if operations.contains(where: \.isInsert) { try requirePlace() }
      try makeRoomForLargePoster(operations)
      outcome =
        hasWork(operations)
        ? try commit(operations, storing: true)
        : BatchOutcome(failures: operations.map { _ in nil })
    } catch let failure {
      own.appender.abandon()
      do throws(PosterError) {
        outcome = try commit(operations, storing: false)
        outcome.failures = operations.map { $0.isInsert ? failure : nil }
      } catch {
        own.appender.abandon()
        outcome = BatchOutcome(failures: operations.map { _ in error })
      }
    }
    take(files.release(outcome.freed))
    trimIndex(limit: outcome.limit)
    settle(operations, &outcome)
    finish(operations, outcome)
  }

  /// Goes on where a lower limit or a trim was carried out on an estimate of the index' new size that
  /// proves too small.
  private func settle(_ operations: [DiskQueue.Operation], _ outcome: inout BatchOutcome) {
    let edits = operations.compactMap(\.edit)
    let targets = edits.indices.compactMap { index -> (Int, UInt64)? in
      switch edits[index] {
      case .setLimit: (index, outcome.limit)
      case .trim(let bytes): (index, UInt64(bytes))
      default: nil
      }
    }
    guard let (place, target) = targets.last, outcome.edited.indices.contains(place) else { return }
    // Each pass evicts a fraction of the one before.
    for _ in 0..<Self.settlingPasses {
      // Where this fails, the next insert evicts what is left to evict.
      let pass = try? index.edit { editor throws(PosterError) in
        (trimmed: try editor.trim(to: target), freed: editor.freed)
      }
      guard let pass, pass.trimmed.posters > 0 else { return }
      outcome.edited[place].posters += pass.trimmed.posters
      outcome.edited[place].bytes += pass.trimmed.bytes
      take(files.release(pass.freed))
      trimIndex(limit: outcome.limit)
    }
  }

  private static let settlingPasses = 16

  /// Gives free pages of the index back where there are many, and says how many uses may be noted
  /// together.
  private func trimIndex(limit: UInt64) {
    // An index that cannot be read, or not be made smaller, is no reason to fail what has been done.
    guard limit > 0, let size = try? index.size() else { return }
    if size.isWorthTrimming(limit: limit) {
      try? index.giveBackFreePages(keeping: IndexSize.slack(limit: limit))
    }
    let uses = size.usesPerBatch(limit: limit, pageBytes: index.pageBytes)
    state.withLock { $0.queue.usesPerBatch = uses }
  }

  /// - Throws: ``PosterError/Code/directoryUnavailable`` if the directory was deleted or replaced:
  ///   what is stored in it now nobody would find again.
  private func requirePlace() throws(PosterError) {
    guard directory.isInPlace else {
      throw PosterError(
        .directoryUnavailable,
        "the cache directory \(directory.path) was deleted or replaced while in use")
    }
  }

  private struct BatchOutcome {
    /// Why the operation at the same place failed, or `nil`.
    var failures: [PosterError?] = []
    /// What came of the edits, in their order.
    var edited: [DiskEdit.Outcome] = []
    var freed: [PendingExtent] = []
    /// The directory's limit.
    var limit: UInt64 = 0
  }

  private func commit(
    _ operations: [DiskQueue.Operation], storing: Bool
  ) throws(PosterError) -> BatchOutcome {
    let hits = self.hits.load(ordering: .relaxed)
    let misses = self.misses.load(ordering: .relaxed)
    let release = own.release
    let outcome = try index.edit { editor throws(PosterError) in
      var outcome = BatchOutcome()
      try editor.note(release)
      editor.count(hits: hits, misses: misses)
      for operation in operations {
        outcome.failures.append(
          try apply(operation, &editor, storing: storing, edited: &outcome.edited))
      }
      try own.appender.write()
      try noteUnsynced(limit: editor.totals.limit)
      outcome.freed = editor.freed
      outcome.limit = editor.totals.limit
      return outcome
    }
    own.appender.commit()
    own.isUnsynced = true
    own.release = SegmentFiles.Release()
    // Counted from now on are those that came meanwhile.
    self.hits.subtract(hits, ordering: .relaxed)
    self.misses.subtract(misses, ordering: .relaxed)
    return outcome
  }

  /// Whether there is anything to commit: who only lists a directory must not have to write to it.
  private func hasWork(_ operations: [DiskQueue.Operation]) -> Bool {
    let onlyWaits = operations.allSatisfy { operation in
      if case .barrier = operation { true } else { false }
    }
    return !onlyWaits || !own.release.isEmpty || hits.load(ordering: .relaxed) > 0
      || misses.load(ordering: .relaxed) > 0
  }

  /// Carries out one operation; returns why it was refused, if it was.
  private func apply(
    _ operation: DiskQueue.Operation, _ editor: inout IndexEditor, storing: Bool,
    edited: inout [DiskEdit.Outcome]
  ) throws(PosterError) -> PosterError? {
    switch operation {
    case .insert(let insertion):
      return storing ? try insert(insertion, &editor) : nil
    case .touch(let touches):
      for touch in touches { try editor.touch(touch.key, isSeen: touch.isSeen) }
    case .dropDamaged(let key, let sequence):
      try editor.dropDamaged(key, sequence: sequence)
    case .edit(let edit, _):
      edited.append(try apply(edit, &editor))
    case .barrier:
      break
    }
    return nil
  }

  private func apply(
    _ edit: DiskEdit, _ editor: inout IndexEditor
  ) throws(PosterError) -> DiskEdit.Outcome {
    switch edit {
    case .setLimit(let limit):
      return try editor.setLimit(UInt64(limit))
    case .trim(let bytes):
      return try editor.trim(to: UInt64(bytes))
    case .remove(let keys):
      return try editor.remove(keys)
    case .removeAll:
      // Records that were gathered, but not written, lie in segments that go.
      try own.appender.write()
      own.appender.abandon()
      return try editor.removeAll()
    case .setPinned(let keys, let isPinned):
      // The mark goes into the record, which has to be there.
      try own.appender.write()
      return try editor.setPinned(keys, isPinned) { entry throws(PosterError) in
        do throws(SystemError) {
          try files.markPin(isPinned, entry.segment, at: entry.offset)
        } catch {
          throw PosterError(.notStored, "cannot write to the cache", underlying: error)
        }
      }
    }
  }

  private func insert(
    _ insertion: DiskQueue.Insertion, _ editor: inout IndexEditor
  ) throws(PosterError) -> PosterError? {
    let poster = insertion.poster
    var refusal: PosterError?
    let place = try own.appender.gather(poster, isSeen: insertion.isSeen, &editor) {
      (blockBytes, editor) throws(PosterError) in
      let size = ByteSize(bytes: blockBytes)
      let limit = ByteSize(bytes: Int(editor.totals.limit))
      switch try editor.makeRoom(for: blockBytes, replacing: poster.key) {
      case .made: return true
      case .tooLarge:
        refusal = PosterError(
          .notStored, "\(size) do not fit into the cache's limit of \(limit): raise the limit")
      case .pinned:
        refusal = PosterError(
          .notStored,
          "no room for \(size): what the cache's limit of \(limit) has left is pinned; unpin some"
            + " posters or raise the limit")
      }
      return false
    }
    guard let place else { return refusal }
    try editor.insert(
      poster.key, header: place.header, segment: place.segment, offset: UInt64(place.offset),
      storedAt: poster.metadata.storedAt.milliseconds,
      expiresAt: poster.metadata.expiresAt.milliseconds)
    return nil
  }

  /// A batch overshoots the limit by what it appends, from then until the holes are punched. For
  /// more than the batch's usual size, which only a batch that begins with a large poster has, the
  /// room is made and given back beforehand.
  private func makeRoomForLargePoster(_ operations: [DiskQueue.Operation]) throws(PosterError) {
    guard case .insert(let insertion)? = operations.first, insertion.isLarge else { return }
    let freed = try index.edit { editor throws(PosterError) in
      _ = try editor.makeRoom(for: insertion.blockBytes, replacing: insertion.poster.key)
      try noteUnsynced(limit: editor.totals.limit)
      return editor.freed
    }
    own.isUnsynced = true
    take(files.release(freed))
  }

  /// Takes what is written out of the readers' way and tells those who wait.
  private func finish(_ operations: [DiskQueue.Operation], _ outcome: BatchOutcome) {
    state.withLock { state in
      for case .insert(let insertion) in operations
      where state.unwritten[insertion.poster.key] === insertion.poster {
        state.unwritten[insertion.poster.key] = nil
      }
    }
    var edited = outcome.edited.makeIterator()
    for (operation, failure) in zip(operations, outcome.failures) {
      switch operation {
      case .insert(let insertion): insertion.completion(Result(failure))
      case .barrier(let completion): completion(Result(failure))
      case .edit(_, let completion):
        completion(failure.map { .failure($0) } ?? .success(edited.next() ?? DiskEdit.Outcome()))
      case .touch, .dropDamaged: break
      }
    }
  }

  /// Notes in the index what was given back last, where no batch has done it.
  private func noteRelease() {
    guard hasWork([]) else { return }
    // Where this fails, whoever opens the directory next gives the same extents back once more.
    _ = try? commit([], storing: false)
  }

  /// Notes, before the first change is committed, that the index is about to be ahead of what is
  /// synced, and which limit an index that has to be rebuilt is to get. Inside a write transaction, so
  /// that no other process does the same meanwhile.
  private func noteUnsynced(limit: UInt64) throws(PosterError) {
    let wanted = DirectoryState(limit: limit, unsyncedIn: Boot.current)
    guard own.state != wanted else { return }
    if directory.state != wanted { try directory.setState(wanted, syncing: true) }
    own.state = wanted
  }

  /// Notes that everything is synced, if nobody else uses the directory: others may commit at any
  /// moment, and the last of them will note it.
  private func noteSynced() {
    // Where this fails, a power cut before the next use costs the time of rebuilding the index.
    _ = try? directory.ifUnused(isUser: true) { () throws(PosterError) in
      var state = directory.state
      guard state.unsyncedIn != nil else { return }
      try index.sync()
      state.unsyncedIn = nil
      try directory.setState(state, syncing: false)
    }
  }

  private func sync() {
    guard own.isUnsynced else { return }
    own.isUnsynced = false
    // Where this fails, a power cut costs what was not written yet; nobody has to be told.
    try? index.sync()
  }
}

extension Result<Void, PosterError> {
  fileprivate init(_ failure: PosterError?) {
    self = failure.map { .failure($0) } ?? .success(())
  }
}

extension DiskQueue.Operation {
  fileprivate var edit: DiskEdit? {
    if case .edit(let edit, _) = self { edit } else { nil }
  }

  fileprivate var isInsert: Bool {
    if case .insert = self { true } else { false }
  }
}
