import Synchronization

/// The one thread of a ``DiskCache`` that changes its directory.
///
/// Takes batches from a ``DiskQueue``, has a ``DirectoryEditor`` carry each out, and then tells those
/// who wait.
final class DiskWriter: Sendable {
  private struct State {
    var queue = DiskQueue()
    /// Posters that wait or are being written, so that a reader finds them before the index does.
    var unwritten: [CacheKey: StoredPoster] = [:]
    /// Likewise for notes that there is no picture.
    var absences: [CacheKey: NotedAbsence] = [:]
    /// Likewise for list pages.
    var pages: [CacheKey: NotedPage] = [:]
    /// A batch has been taken from the queue and is not done.
    var isPerforming = false
  }

  /// Reads that the index has not been told of yet.
  let counters = DiskCounters()

  private let state = Monitor(State())
  private let uses = RecentUses()
  /// How many posters and absences ``state`` has for readers: most find none, and need no lock to know.
  private let unwrittenCount = Atomic<Int>(0)
  private nonisolated(unsafe) let editor: DirectoryEditor  // touched by the writer's thread alone
  private nonisolated(unsafe) var hasEnded = false  // likewise: ended from within a completion
  private let life = Monitor(Life.idle)

  private enum Life {
    case idle
    case running(WorkerThread)
    case ending(WorkerThread)
    case ended
  }

  init(index: Index, directory: CacheDirectory, files: SegmentFiles) {
    editor = DirectoryEditor(
      index: index, directory: directory, files: files, counters: counters)
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
      completion(.failure(Self.tooLarge(poster)))
      return
    }
    let acceptance = change { state in
      let acceptance = state.queue.insertWasAsked(insertion, now: monotonicNanoseconds())
      if acceptance != .refused {
        state.unwritten[poster.key] = poster
        state.absences[poster.key] = nil
      }
      return acceptance
    }
    answer(acceptance, completion)
  }

  /// Queues `confirmed`, the same picture as `version` with what a server says of it now; or tells
  /// `completion` at once why not.
  func confirm(
    _ version: StoredPoster, as confirmed: StoredPoster,
    completion: @escaping DiskQueue.Completion<Void>
  ) {
    let waiting = unwritten(version.key)
    let isWaiting = waiting.map { $0 === version || $0.isSameVersion(as: version) } ?? false
    // The record's own dates must never promise more than what was said last.
    let isNoted =
      version.metadata.hasSameVersion(as: confirmed.metadata)
      && version.metadata.isStricter(than: confirmed.metadata)
    let insertion =
      isNoted
      ? nil
      : DiskQueue.Insertion(confirmed, isSeen: false, replacing: version, completion: completion)
    guard isNoted || insertion != nil else {
      completion(.failure(Self.tooLarge(confirmed)))
      return
    }
    let acceptance = change { state in
      let now = monotonicNanoseconds()
      let acceptance =
        insertion.map { state.queue.insertWasAsked($0, now: now) }
        ?? state.queue.confirmationWasAsked(
          DiskQueue.Confirmation(version: version, confirmed: confirmed, completion: completion),
          now: now)
      if acceptance != .refused, isWaiting, state.unwritten[version.key] === waiting {
        state.unwritten[version.key] = confirmed
      }
      return acceptance
    }
    answer(acceptance, completion)
  }

  /// Queues a note that there is no picture; drops it where too many wait.
  func noteAbsence(_ note: NotedAbsence) {
    let acceptance = change { state in
      let acceptance = state.queue.absenceWasNoted(note, now: monotonicNanoseconds())
      if acceptance != .refused { state.absences[note.key] = note }
      return acceptance
    }
    if acceptance == .queuedAndDue { state.signal() }
  }

  /// Queues a list page; drops it where too much waits.
  func notePage(_ page: NotedPage) {
    let acceptance = change { state in
      let acceptance = state.queue.pageWasNoted(page, now: monotonicNanoseconds())
      if acceptance != .refused { state.pages[page.key] = page }
      return acceptance
    }
    if acceptance == .queuedAndDue { state.signal() }
  }

  /// A list page that is not in the index yet.
  func unwrittenPage(_ key: CacheKey) -> NotedPage? {
    state.withLock { $0.pages[key] }
  }

  /// Queues a note of a colour; drops it where too many wait.
  func noteColor(_ note: ColorNote) {
    let acceptance = change {
      $0.queue.colorWasNoted(note, now: monotonicNanoseconds())
    }
    if acceptance == .queuedAndDue { state.signal() }
  }

  /// What was asked for and is not in the index yet about the absence of a picture.
  enum UnwrittenAbsence {
    case noted(AbsenceRow)
    /// There is a picture.
    case forgotten
  }

  /// A note that is not in the index yet, or that one in the index is about to go.
  func unwrittenAbsence(_ key: CacheKey) -> UnwrittenAbsence? {
    guard unwrittenCount.load(ordering: .acquiring) > 0 else { return nil }
    return state.withLock { state in
      if let note = state.absences[key] { return .noted(note.row) }
      return state.unwritten[key] != nil ? .forgotten : nil
    }
  }

  private func answer(
    _ acceptance: DiskQueue.Acceptance, _ completion: DiskQueue.Completion<Void>
  ) {
    switch acceptance {
    case .queued: break
    case .queuedAndDue: state.signal()
    case .refused:
      completion(
        .failure(PosterError(.notStored, "the disk cannot keep up, or the cache is closed")))
    }
  }

  private static func tooLarge(_ poster: StoredPoster) -> PosterError {
    PosterError(.notStored, "too large to be stored: \(poster.metadata.address)")
  }

  /// Whether something was asked for that is not in the index yet.
  var hasWork: Bool {
    let reads = counters.current
    return state.withLock { state in
      // After the end nobody notes reads any more.
      state.isPerforming || !state.queue.isEmpty
        || !state.queue.isClosed && (reads != DiskCounters.Uses() || !uses.isEmpty)
    }
  }

  /// A poster that is not in the index yet.
  func unwritten(_ key: CacheKey) -> StoredPoster? {
    guard unwrittenCount.load(ordering: .acquiring) > 0 else { return nil }
    return state.withLock { $0.unwritten[key] }
  }

  /// Notes a use.
  func posterWasUsed(_ key: CacheKey, isSeen: Bool) {
    let now = monotonicNanoseconds()
    switch uses.note(key, isSeen: isSeen, at: now) {
    case .nothing: return
    // With the lock held: a signal between the writer's look and its sleep would wake nobody.
    case .announce, .hurry: state.withLock { $0.queue.usesBegan(now: now) }
    }
    state.signal()
  }

  /// Changes what waits, after the uses that came before.
  private func change<Result>(_ body: (inout State) -> Result) -> Result {
    state.withLock { state in
      state.queue.postersWereUsed(uses.take())
      defer {
        unwrittenCount.store(state.unwritten.count + state.absences.count, ordering: .releasing)
      }
      return body(&state)
    }
  }

  /// Queues dropping a record that was found damaged.
  func drop(_ key: CacheKey, sequence: UInt64) {
    change { $0.queue.recordWasFoundDamaged(key, sequence: sequence) }
    state.signal()
  }

  /// Queues an operation that somebody waits for; `false` if the cache is closed.
  func perform(_ operation: DiskQueue.Operation) -> Bool {
    let isQueued = change { $0.queue.operationWasAsked(operation) }
    state.signal()
    return isQueued
  }

  /// Writes what waits, syncs and ends the thread. Idempotent; returns when that is done, whoever
  /// began it.
  func stop() {
    change { $0.queue.close() }
    state.signal()
    let (thread, isFirst) = life.withLock { life -> (WorkerThread?, Bool) in
      switch life {
      case .running(let thread):
        life = .ending(thread)
        return (thread, true)
      case .ending(let thread): return (thread, false)
      case .idle, .ended: return (nil, false)
      }
    }
    guard let thread else { return }
    guard isFirst else {
      // A completion is called on the thread whose end it would wait for.
      if thread.isCurrent { return }
      return life.wait(
        untilNanoseconds: { _ in nil }, for: { if case .ended = $0 { () } else { nil } })
    }
    if thread.isCurrent {
      // The last reference to the cache went in a completion: nobody will be there to be joined, and
      // the index closes once this returns.
      thread.detach()
      run()
      hasEnded = true
    } else {
      thread.join()
    }
    life.withLock { $0 = .ended }
    life.signal()
  }

  // MARK: - The writer's thread

  private func run() {
    editor.begin()
    state.withLock { $0.queue.usesPerBatch = editor.usesPerBatch }
    while true {
      let batch = state.wait(
        untilNanoseconds: { state in
          [state.queue.deadline, editor.nextCare].compactMap { $0 }.min()
        },
        for: { state -> DiskQueue.Batch? in
          let now = monotonicNanoseconds()
          if state.queue.isDue(now: now) || uses.areMany {
            uses.endAnnouncement()
            state.queue.postersWereUsed(uses.take())
          }
          if let batch = state.queue.takeDueBatch(now: now) {
            if case .operations(let operations) = batch { state.isPerforming = !operations.isEmpty }
            return batch
          }
          return editor.nextCare.map { $0 <= now } ?? false ? .operations([]) : nil
        })
      guard case .operations(let operations) = batch else { break }
      if !operations.isEmpty {
        finish(operations, editor.perform(operations))
        if hasEnded { return }
      }
      editor.takeCare()
    }
    editor.end()
  }

  /// Takes what is written out of the readers' way and tells those who wait.
  private func finish(_ operations: [DiskQueue.Operation], _ outcome: DirectoryEditor.Outcome) {
    change { state in
      state.isPerforming = false
      state.queue.usesPerBatch = editor.usesPerBatch
      for operation in operations {
        if let poster = operation.poster, state.unwritten[poster.key] === poster {
          state.unwritten[poster.key] = nil
        }
        if case .noteAbsence(let note) = operation, state.absences[note.key] === note {
          state.absences[note.key] = nil
        }
        if case .notePage(let page) = operation, state.pages[page.key] === page {
          state.pages[page.key] = nil
        }
      }
    }
    var edited = outcome.edited.makeIterator()
    for (operation, failure) in zip(operations, outcome.failures) {
      switch operation {
      case .insert(let insertion): insertion.completion(Result(failure))
      case .confirm(let confirmation): confirmation.completion(Result(failure))
      case .barrier(let completion): completion(Result(failure))
      case .edit(_, let completion):
        completion(failure.map { .failure($0) } ?? .success(edited.next() ?? DiskEdit.Outcome()))
      case .touch, .dropDamaged, .noteAbsence, .noteColor, .notePage: break
      }
    }
  }
}

extension DiskQueue.Operation {
  /// The poster that readers are handed out until it is done.
  fileprivate var poster: StoredPoster? {
    switch self {
    case .insert(let insertion): insertion.poster
    case .confirm(let confirmation): confirmation.confirmed
    case .noteAbsence, .noteColor, .notePage, .touch, .dropDamaged, .edit, .barrier: nil
    }
  }
}

extension StoredPoster {
  /// Whether both are the same picture in the same state at the server.
  fileprivate func isSameVersion(as other: StoredPoster) -> Bool {
    metadata.hasSameVersion(as: other.metadata) && body == other.body
  }
}

extension Result<Void, PosterError> {
  fileprivate init(_ failure: PosterError?) {
    self = failure.map { .failure($0) } ?? .success(())
  }
}
