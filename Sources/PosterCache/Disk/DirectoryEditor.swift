/// Changes a cache directory, one batch of operations after the other, each in one index transaction.
///
/// Belongs to one thread. Where the order of things matters: records are appended inside the
/// transaction that enters them; what a transaction took out of use is given back after it has been
/// committed, and noted as such by the next one.
final class DirectoryEditor {
  let index: Index
  let directory: CacheDirectory
  let files: SegmentFiles
  let appender: SegmentAppender
  let records: RecordReader
  private let counters: DiskCounters
  /// What became of extents that were to be given back, not noted in the index yet.
  private var release = SegmentFiles.Release()
  /// There are extents that somebody holds a lease on.
  var hasHeldExtents = false
  /// Segments that hold entries of which no record was found.
  var unmovable: Set<UInt32> = []
  /// What the directory's state is known to say.
  private var state: DirectoryState?
  var lastCareAt: UInt64 = 0
  /// Something was committed since the last sync.
  var isUnsynced = false
  /// The room that was made for a large poster, with which the current batch begins.
  private var largeRoom: (room: IndexEditor.Room, dropped: EntryRow?)?
  /// Uses that may be noted in one batch.
  private(set) var usesPerBatch = DiskQueue.dueTouches

  init(index: Index, directory: CacheDirectory, files: SegmentFiles, counters: DiskCounters) {
    self.index = index
    self.directory = directory
    self.files = files
    self.counters = counters
    records = RecordReader(files: files, seed: directory.seed)
    appender = SegmentAppender(directory: directory, files: files)
  }

  /// What came of a batch.
  struct Outcome {
    /// Why the operation at the same place failed, or `nil`.
    var failures: [PosterError?] = []
    /// What came of the edits, in their order.
    var edited: [DiskEdit.Outcome] = []
    fileprivate var freed: [PendingExtent] = []
    /// The directory's limit, and what counts against it besides the index; `nil` if nothing could be
    /// committed.
    fileprivate var totals: (limit: UInt64, recordBytes: UInt64)?
  }

  /// Carries out a batch. Where a record cannot be written, the inserts fail and the rest is done
  /// without them; where the directory is gone, so do confirmations.
  func perform(_ operations: [DiskQueue.Operation]) -> Outcome {
    var outcome: Outcome
    largeRoom = nil
    do throws(PosterError) {
      if operations.contains(where: \.needsPlace) { try requirePlace() }
      try makeRoomForLargePoster(operations)
      outcome =
        hasWork(operations)
        ? try commit(operations, storing: true)
        : Outcome(failures: operations.map { _ in nil })
    } catch let failure {
      appender.abandon()
      do throws(PosterError) {
        outcome = try commit(operations, storing: false)
        let isLost = failure.code == .directoryUnavailable
        for (place, operation) in operations.enumerated()
        where operation.isInsert || isLost && operation.needsPlace {
          outcome.failures[place] = failure
        }
      } catch {
        appender.abandon()
        outcome = Outcome(failures: operations.map { _ in error })
      }
    }
    guard let totals = outcome.totals else { return outcome }
    giveBack(outcome.freed)
    let indexBytes = trimIndex(limit: totals.limit)
    // What is held has to count for other processes before they append.
    if !release.held.isEmpty { noteRelease() }
    let exceedsLimit = totals.recordBytes + indexBytes > totals.limit
    settle(operations, &outcome, limit: totals.limit, exceedsLimit: exceedsLimit)
    if !files.canPunch { compact() }
    return outcome
  }

  /// Gives the blocks of extents back that a committed transaction took out of use.
  ///
  /// - Parameter isRepeated: it was tried before, and is news only where that came to something else.
  func giveBack(_ extents: [PendingExtent], isRepeated: Bool = false) {
    guard !extents.isEmpty else { return }
    let release = files.release(extents)
    let known = isRepeated ? Set(extents) : []
    self.release.done += release.done
    self.release.held += release.held.filter { !known.contains($0) }
    hasHeldExtents = hasHeldExtents || !release.held.isEmpty
  }

  /// Notes in the index what was given back last, where no batch has done it.
  func noteRelease() {
    guard hasWork([]) else { return }
    // Where this fails, whoever opens the directory next gives the same extents back once more.
    _ = try? commit([], storing: false)
  }

  // MARK: - Batches

  private func commit(
    _ operations: [DiskQueue.Operation], storing: Bool
  ) throws(PosterError) -> Outcome {
    let uses = counters.current
    let outcome = try index.edit { editor throws(PosterError) in
      var outcome = Outcome()
      try editor.note(release)
      editor.count(hits: uses.hits, misses: uses.misses)
      for operation in operations {
        outcome.failures.append(
          try apply(operation, &editor, storing: storing, edited: &outcome.edited))
      }
      try appender.write()
      try noteUnsynced(limit: editor.totals.limit)
      outcome.freed = editor.freed
      outcome.totals = (editor.totals.limit, editor.recordBytes)
      return outcome
    }
    appender.commit()
    isUnsynced = true
    release = SegmentFiles.Release()
    counters.subtract(uses)
    return outcome
  }

  /// Whether there is anything to commit: who only lists a directory must not have to write to it.
  private func hasWork(_ operations: [DiskQueue.Operation]) -> Bool {
    let onlyWaits = operations.allSatisfy { operation in
      if case .barrier = operation { true } else { false }
    }
    return !onlyWaits || !release.isEmpty || counters.current != DiskCounters.Uses()
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

  /// Carries out one operation; returns why it was refused, if it was.
  private func apply(
    _ operation: DiskQueue.Operation, _ editor: inout IndexEditor, storing: Bool,
    edited: inout [DiskEdit.Outcome]
  ) throws(PosterError) -> PosterError? {
    switch operation {
    case .insert(let insertion):
      return storing ? try insert(insertion, &editor) : nil
    case .confirm(let confirmation):
      return try confirm(confirmation, &editor)
    case .noteAbsence(let note):
      try editor.noteAbsence(note.key, note.row)
    case .noteColor(let note):
      try editor.noteColor(note)
    case .notePage(let page):
      try editor.notePage(page.key, page.row)
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
      try appender.write()
      appender.abandon()
      return try editor.removeAll()
    case .noteWarmed(let list):
      try editor.noteWarmed(list, seed: directory.seed)
      return DiskEdit.Outcome()
    case .setPinned(let keys, let isPinned):
      // The mark goes into the record, which has to be there.
      try appender.write()
      let outcome = try editor.setPinned(keys, isPinned) { entry throws(PosterError) in
        do throws(SystemError) {
          try files.markPin(isPinned, entry.segment, at: entry.offset)
        } catch {
          throw PosterError(.notStored, "cannot write to the cache", underlying: error)
        }
      }
      // What only pins have kept above the limit.
      if !isPinned { _ = try editor.trim(to: editor.totals.limit, isShrinking: false) }
      return outcome
    }
  }

  private func insert(
    _ insertion: DiskQueue.Insertion, _ editor: inout IndexEditor
  ) throws(PosterError) -> PosterError? {
    let poster = insertion.poster
    let dropped = insertion.isLarge ? largeRoom?.dropped : nil
    var isSeen = insertion.isSeen
    // What is replaced by the same picture keeps its last use.
    var kept: EntryRow?
    if let version = insertion.version {
      switch try standing(of: version, dropped: dropped, editor) {
      case .stored(let entry, _): kept = entry
      case .gone: return nil
      case .unreadable(let error): return error
      }
      isSeen = kept.map { !$0.isUnseen } ?? isSeen
    }
    var refusal: PosterError?
    let place = try appender.gather(poster, isSeen: isSeen, &editor) {
      (blockBytes, editor) throws(PosterError) in
      let size = ByteSize(bytes: blockBytes)
      let limit = ByteSize(bytes: Int(editor.totals.limit))
      let room: IndexEditor.Room
      if insertion.isLarge, let large = largeRoom?.room, large != .made {
        // What was refused beforehand must not cost others their place.
        room = large
      } else {
        room = try editor.makeRoom(for: blockBytes, replacing: poster.key)
      }
      switch room {
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
      place.header, poster.metadata, segment: place.segment, offset: UInt64(place.offset),
      dropped: dropped, tick: kept?.tick, averageColor: kept?.averageColor)
    return nil
  }

  /// A batch overshoots the limit by what it appends, from then until the holes are punched. For
  /// more than the batch's usual size, which only a batch that begins with a large poster has, the
  /// room is made and given back beforehand.
  private func makeRoomForLargePoster(_ operations: [DiskQueue.Operation]) throws(PosterError) {
    guard case .insert(let insertion)? = operations.first, insertion.isLarge else { return }
    let freed = try index.edit { editor throws(PosterError) -> [PendingExtent] in
      if let version = insertion.version {
        guard case .stored = try standing(of: version, dropped: nil, editor) else { return [] }
      }
      largeRoom = try editor.makeRoomAtOnce(
        for: insertion.blockBytes, replacing: insertion.poster.key)
      try noteUnsynced(limit: editor.totals.limit)
      return editor.freed
    }
    isUnsynced = true
    giveBack(freed)
  }

  /// Goes on where an estimate of the index' new size, on which a lower limit, a trim or an insert was
  /// carried out, proves too small.
  private func settle(
    _ operations: [DiskQueue.Operation], _ outcome: inout Outcome, limit: UInt64,
    exceedsLimit: Bool
  ) {
    let edits = operations.compactMap(\.edit)
    var target = exceedsLimit && operations.contains(where: \.growsIndex) ? limit : nil
    var place: Int?
    for (index, edit) in edits.enumerated() {
      guard let bytes = edit.target(limit: limit) else { continue }
      target = min(target ?? .max, bytes)
      place = index
    }
    guard let target else { return }
    if place != nil { shrinkIndex(for: target) }
    // Each pass evicts a fraction of the one before.
    for _ in 0..<Self.settlingPasses {
      // Where this fails, the next insert evicts what is left to evict.
      let pass = try? index.edit { editor throws(PosterError) in
        let trimmed = try editor.trim(to: target, isShrinking: place != nil)
        return (trimmed: trimmed, freed: editor.freed)
      }
      guard let pass, pass.trimmed.posters > 0 else { return }
      giveBack(pass.freed)
      guard let place, outcome.edited.indices.contains(place) else { continue }
      outcome.edited[place].posters += pass.trimmed.posters
      outcome.edited[place].bytes += pass.trimmed.bytes
      shrinkIndex(for: target)
    }
  }

  private static let settlingPasses = 16

  /// Gives back what the index does not need for work in a directory of `bytes`.
  private func shrinkIndex(for bytes: UInt64) {
    // As below.
    guard let size = try? index.size() else { return }
    let surplus = size.occupied - size.used - IndexSize.working(limit: bytes)
    if surplus > 0 { try? index.giveBackFreePages(surplus) }
  }

  /// Gives free pages of the index back where there are many, and says how many uses may be noted
  /// together.
  ///
  /// - Returns: what of the index counts against the limit.
  @discardableResult
  func trimIndex(limit: UInt64) -> UInt64 {
    // An index that cannot be read, or not be made smaller, is no reason to fail what has been done.
    guard let size = try? index.size() else { return 0 }
    let surplus = size.surplus(limit: limit)
    if surplus > 0 { try? index.giveBackFreePages(surplus) }
    usesPerBatch = size.usesPerBatch(limit: limit, pageBytes: index.pageBytes)
    return size.counted(limit: limit)
  }

  /// See ``CacheDirectory/noteUnsynced(limit:)``, which is asked only where something is news.
  func noteUnsynced(limit: UInt64) throws(PosterError) {
    guard state?.limit != limit else { return }
    state = try directory.noteUnsynced(limit: limit)
  }
}

extension DiskEdit {
  /// What the total is to come down to, if it is.
  fileprivate func target(limit: UInt64) -> UInt64? {
    switch self {
    case .setLimit, .removeAll: limit
    case .trim(let bytes): UInt64(bytes)
    case .remove, .setPinned, .noteWarmed: nil
    }
  }
}

extension DiskQueue.Operation {
  fileprivate var edit: DiskEdit? {
    if case .edit(let edit, _) = self { edit } else { nil }
  }

  fileprivate var isInsert: Bool {
    if case .insert = self { true } else { false }
  }

  /// Whether it is of no use in a directory that nobody will find again, and somebody wants to know.
  fileprivate var needsPlace: Bool {
    if case .confirm = self { true } else { isInsert }
  }

  fileprivate var growsIndex: Bool {
    switch self {
    case .noteAbsence, .notePage, .edit(.noteWarmed, _): true
    default: isInsert
    }
  }
}
