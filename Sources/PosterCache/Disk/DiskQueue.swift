/// What waits to be written to the disk tier, in the order in which it happened, and when it is due.
///
/// A struct without clock or lock. Inserts, confirmations and notes are written together: when
/// there are enough of them, or the first has waited long enough. Uses are noted at most a second late,
/// and only the last of several uses of a poster between two other operations, which leaves the same
/// order.
struct DiskQueue {
  /// One thing to do to the directory.
  enum Operation {
    /// Store a poster and say how it went.
    case insert(Insertion)
    /// Note that a server has confirmed a poster and say how it went.
    case confirm(Confirmation)
    /// Note that a server has no such picture.
    case noteAbsence(NotedAbsence)
    /// Note the average colour of a picture.
    case noteColor(ColorNote)
    /// Keep a list page.
    case notePage(NotedPage)
    /// Note uses, the earliest first.
    case touch([Touch])
    /// Drop a record that was found damaged.
    case dropDamaged(CacheKey, sequence: UInt64)
    /// Change what is stored and say what came of it.
    case edit(DiskEdit, Completion<DiskEdit.Outcome>)
    /// Nothing; says when everything before it is done.
    case barrier(Completion<Void>)
  }

  /// A poster to be stored.
  struct Insertion {
    let poster: StoredPoster
    let isSeen: Bool
    /// The version that must still be stored, for one that replaces no other; its last use and whether it
    /// was seen are kept.
    let version: StoredPoster?
    /// Bytes in blocks that its record will occupy.
    let blockBytes: Int
    let completion: Completion<Void>

    /// - Returns: `nil` if no record can hold the poster: its body is larger than 1 GiB, or a text of
    ///   its metadata longer than 65,535 bytes.
    init?(
      _ poster: StoredPoster, isSeen: Bool, replacing version: StoredPoster? = nil,
      completion: @escaping Completion<Void>
    ) {
      guard let metadataLength = RecordMetadata.length(of: poster.metadata),
        poster.body.count <= SegmentFormat.maximumBodyBytes
      else { return nil }
      self.poster = poster
      self.isSeen = isSeen
      self.version = version
      self.completion = completion
      blockBytes = SegmentFormat.blockBytes(
        RecordHeader.size + metadataLength + poster.body.count)
    }

    /// Whether it is too large to share a batch.
    var isLarge: Bool { blockBytes > DiskQueue.batchBytes }
  }

  /// A poster that a server has confirmed.
  struct Confirmation {
    /// What has to be stored still.
    let version: StoredPoster
    /// The same with what the server says now.
    let confirmed: StoredPoster
    let completion: Completion<Void>
  }

  /// A use of a poster, and whether somebody asked to see it.
  struct Touch {
    let key: CacheKey
    let isSeen: Bool
  }

  /// Called once, on the writer's thread, without a lock held.
  typealias Completion<Value> = @Sendable (Result<Value, PosterError>) -> Void

  /// Inserts written together, at most: bytes in blocks, with those of the index' pages that each of
  /// them changes. That bounds what a batch may exceed the directory's limit by.
  static let batchBytes = 1 << 20
  static let indexBytes = 12 << 10
  /// Bytes in blocks that may wait; beyond that inserts are refused.
  static let maximumBytes = 32 << 20
  /// Confirmations and notes that may wait; beyond that they are refused.
  static let maximumNotes = 16_384
  /// These and inserts are written once this many bytes wait, or the first has waited this long.
  static let dueBytes = batchBytes
  static let insertDelayNanoseconds: UInt64 = 2_000_000
  /// Uses are written once this many wait, or the first has waited this long. At most twice as many
  /// wait in a row: where the disk cannot keep up, the oldest uses are forgotten.
  static let dueTouches = 8192
  static let touchDelayNanoseconds: UInt64 = 1_000_000_000

  /// Uses that may be noted in one batch: more would make the index grow.
  var usesPerBatch = DiskQueue.dueTouches

  private var operations: [Operation] = []
  /// Uses since the last other operation: the keys, and whether somebody asked to see the poster.
  private var touches = DiskQueue.noTouches
  private var waitingBytes = 0
  /// Inserts, confirmations and notes, and the latter two alone.
  private var waitingChanges = 0
  private var waitingNotes = 0
  private var firstChangeAt: UInt64?
  private var firstTouchAt: UInt64?
  /// The sequence numbers of records that wait to be dropped.
  private var damaged: Set<UInt64> = []
  private var isUrgent = false
  private(set) var isClosed = false

  private static let noTouches = LRUTable<Bool>(limit: 2 * dueTouches)

  /// What became of something that was asked for.
  enum Acceptance {
    /// It waits, and the writer need not look before the time it knows.
    case queued
    /// It waits, and the writer has to look at what is due.
    case queuedAndDue
    /// Too much waits already, or the queue is closed.
    case refused
  }

  /// Queues a poster.
  mutating func insertWasAsked(_ insertion: Insertion, now: UInt64) -> Acceptance {
    let bytes = insertion.blockBytes
    guard !isClosed, waitingBytes == 0 || waitingBytes + bytes <= Self.maximumBytes else {
      return .refused
    }
    waitingBytes += bytes
    return appendChange(.insert(insertion), now: now)
  }

  /// Queues a confirmation.
  mutating func confirmationWasAsked(_ confirmation: Confirmation, now: UInt64) -> Acceptance {
    appendNote(.confirm(confirmation), now: now)
  }

  /// Queues a note of absence.
  mutating func absenceWasNoted(_ note: NotedAbsence, now: UInt64) -> Acceptance {
    appendNote(.noteAbsence(note), now: now)
  }

  /// Queues a note of a colour.
  mutating func colorWasNoted(_ note: ColorNote, now: UInt64) -> Acceptance {
    appendNote(.noteColor(note), now: now)
  }

  /// Queues a list page.
  mutating func pageWasNoted(_ page: NotedPage, now: UInt64) -> Acceptance {
    let bytes = page.row.count
    guard waitingBytes == 0 || waitingBytes + bytes <= Self.maximumBytes else { return .refused }
    let acceptance = appendNote(.notePage(page), now: now)
    if acceptance != .refused { waitingBytes += bytes }
    return acceptance
  }

  /// Uses wait elsewhere from `now` on, and are to be written in time.
  mutating func usesBegan(now: UInt64) {
    if firstTouchAt == nil { firstTouchAt = now }
  }

  /// Notes uses, the earliest first: all that were made before whatever is asked for next.
  mutating func postersWereUsed(_ uses: [Touch]) {
    guard !isClosed else { return }
    for use in uses {
      let wasSeen = touches.value(for: use.key) ?? false
      touches.insert(use.isSeen || wasSeen, for: use.key, cost: 1)
    }
  }

  /// Queues dropping a damaged record, unless that waits already.
  mutating func recordWasFoundDamaged(_ key: CacheKey, sequence: UInt64) {
    guard !isClosed, damaged.insert(sequence).inserted else { return }
    append(.dropDamaged(key, sequence: sequence))
    isUrgent = true
  }

  /// Queues an operation that somebody waits for; returns `false` if the queue is closed.
  mutating func operationWasAsked(_ operation: Operation) -> Bool {
    guard !isClosed else { return false }
    append(operation)
    isUrgent = true
    return true
  }

  /// Accepts nothing more; what waits is due now.
  mutating func close() {
    isClosed = true
    isUrgent = true
  }

  /// Whether nothing waits.
  var isEmpty: Bool { operations.isEmpty && touches.count == 0 }

  /// What ``takeDueBatch(now:)`` found.
  enum Batch {
    case operations([Operation])
    /// Nothing waits, and nothing will.
    case end
  }

  /// The operations to carry out now, in order, or `nil` while nothing is due.
  mutating func takeDueBatch(now: UInt64) -> Batch? {
    if isClosed, isEmpty { return .end }
    guard isDue(now: now) else { return nil }
    moveTouches()
    var batch: [Operation] = []
    var bytes = 0
    var uses = 0
    var left = operations[...]
    taking: while let operation = left.first {
      switch operation {
      case .insert(let insertion):
        bytes += insertion.blockBytes + Self.indexBytes
        // A large one begins a batch of its own, because room is made for it before the batch: what
        // was asked for earlier has to be done by then.
        if !batch.isEmpty, insertion.isLarge || bytes > Self.batchBytes { break taking }
        waitingChanges -= 1
        waitingBytes -= insertion.blockBytes
      case .confirm, .noteAbsence, .noteColor:
        bytes += Self.indexBytes
        if !batch.isEmpty, bytes > Self.batchBytes { break taking }
        waitingChanges -= 1
        waitingNotes -= 1
      case .notePage(let page):
        bytes += page.row.count + Self.indexBytes
        if !batch.isEmpty, bytes > Self.batchBytes { break taking }
        waitingBytes -= page.row.count
        waitingChanges -= 1
        waitingNotes -= 1
      case .touch(let touches) where uses + touches.count > usesPerBatch:
        let fitting = max(usesPerBatch - uses, batch.isEmpty ? 1 : 0)
        if fitting > 0 { batch.append(.touch(Array(touches[..<fitting]))) }
        left[left.startIndex] = .touch(Array(touches[fitting...]))
        break taking
      case .touch(let touches):
        uses += touches.count
      case .dropDamaged, .edit, .barrier: break
      }
      batch.append(operation)
      left.removeFirst()
    }
    damaged = []
    operations = Array(left)
    // What is left had been due together with what is taken.
    isUrgent = !operations.isEmpty || isClosed
    firstChangeAt = nil
    firstTouchAt = nil
    return .operations(batch)
  }

  /// Whether something is to be carried out now.
  func isDue(now: UInt64) -> Bool {
    isUrgent || isFull || touches.count >= Self.dueTouches || deadline.map { $0 <= now } ?? false
  }

  /// When something will be due that is not yet; `nil` if nothing waits.
  var deadline: UInt64? {
    let change = firstChangeAt.map { $0 + Self.insertDelayNanoseconds }
    let touch = firstTouchAt.map { $0 + Self.touchDelayNanoseconds }
    return [change, touch].compactMap { $0 }.min()
  }

  /// Whether enough waits to be written without further delay.
  private var isFull: Bool {
    waitingBytes + waitingChanges * Self.indexBytes >= Self.dueBytes
  }

  private mutating func appendNote(_ operation: Operation, now: UInt64) -> Acceptance {
    guard !isClosed, waitingNotes < Self.maximumNotes else { return .refused }
    waitingNotes += 1
    return appendChange(operation, now: now)
  }

  private mutating func appendChange(_ operation: Operation, now: UInt64) -> Acceptance {
    append(operation)
    waitingChanges += 1
    let isFirst = firstChangeAt == nil
    if isFirst { firstChangeAt = now }
    return isFirst || isFull ? .queuedAndDue : .queued
  }

  private mutating func append(_ operation: Operation) {
    moveTouches()
    operations.append(operation)
  }

  private mutating func moveTouches() {
    guard touches.count > 0 else { return }
    operations.append(
      .touch(
        touches.keysByRecency.reversed().map { key in
          Touch(key: key, isSeen: touches.peek(key) ?? false)
        }))
    touches = Self.noTouches
  }
}
