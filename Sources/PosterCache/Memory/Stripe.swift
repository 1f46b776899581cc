import Synchronization

/// What some of the threads that look into a ``SharedLRU`` share: a lock, where the table is, and when they
/// used what.
///
/// A handle of memory that lies on cache lines of its own, and so does what it points to: a hit writes nothing
/// that threads of another stripe write or read, but what it is asked for. Lock and content are two things in
/// it, since nobody else may have access to what is being changed, and others try the lock meanwhile.
struct Stripe<Key: LookupKey, Value: AnyObject>: Equatable {
  private let block: UnsafeMutableRawPointer

  /// Two cache lines: processors fetch them in pairs.
  static var byteCount: Int { 128 }
  private static var contentOffset: Int { 8 }

  /// The stripe in `block`, of ``byteCount`` bytes.
  init(_ block: UnsafeMutableRawPointer) {
    self.block = block
  }

  /// Held by readers while they look, and by a writer that has all of them while it changes the table.
  var lock: UnsafeMutablePointer<SpinLock> { block.assumingMemoryBound(to: SpinLock.self) }

  /// What the lock is for.
  var content: UnsafeMutablePointer<Content> {
    (block + Self.contentOffset).assumingMemoryBound(to: Content.self)
  }

  /// Makes the stripe that its memory is to hold.
  func initialize(table: LookupTable<Key, Value>) {
    precondition(MemoryLayout<SpinLock>.size <= Self.contentOffset)
    precondition(Self.contentOffset + MemoryLayout<Content>.size <= Self.byteCount)
    block.bindMemory(to: SpinLock.self, capacity: 1).initialize(to: SpinLock())
    (block + Self.contentOffset).bindMemory(to: Content.self, capacity: 1)
      .initialize(to: Content(table: table))
  }

  /// Ends it; the memory remains.
  func deinitialize() {
    content.deinitialize(count: 1)
    lock.deinitialize(count: 1)
  }

  /// Where the table is, and when these threads used what.
  struct Content {
    /// The same in every stripe.
    var table: LookupTable<Key, Value>
    /// The last use of each slot by these threads, one word each as ``UseStamp`` has it; `nil` before the
    /// first. Written with the lock held, read by writers without it.
    var uses: UnsafeMutablePointer<Atomic<UInt64>>?
    /// The last use of any slot.
    private var lastUse: UInt64 = 0

    init(table: LookupTable<Key, Value>) {
      self.table = table
    }

    /// Notes a use. Called with the lock held.
    @inline(__always)
    mutating func note(
      _ slot: Int32, isSeen: Bool, in uses: UnsafeMutablePointer<Atomic<UInt64>>,
      epoch: borrowing Atomic<UInt64>
    ) {
      let use = max(lastUse, epoch.load(ordering: .relaxed) << UseStamp.epochShift) &+ 2
      lastUse = use
      if use & UseStamp.countMask == UseStamp.longestEpoch {
        epoch.wrappingAdd(1, ordering: .relaxed)
      }
      // Nobody else writes: no exchange is needed. Once seen remains seen.
      let before = uses[Int(slot)].load(ordering: .relaxed)
      uses[Int(slot)].store(use | (before & 1) | (isSeen ? 1 : 0), ordering: .relaxed)
    }
  }
}

/// A use as one word: the epoch, the number of the use in it, and in the lowest bit whether somebody has
/// seen what was used.
///
/// A new epoch begins with every entry, every unpinning, and each time that a stripe has noted 1,024 uses
/// in one. Uses of one thread follow each other exactly, and so do those of all threads in different
/// epochs; how those of different threads in one epoch are ordered is left open.
enum UseStamp {
  static let epochShift: UInt64 = 20
  static let countMask: UInt64 = (1 << epochShift) - 2
  /// The number of uses, shifted by one.
  static let longestEpoch: UInt64 = 2048
}
