import CLinux
import Synchronization

/// Uses of posters that the ``DiskQueue`` has not been told of, noted by many threads at once.
///
/// Every hit of the memory tier is a use for the disk tier, too. Under the queue's one lock, two threads that
/// look at posters were slower than one. Here each notes in a table of its own, and whoever holds the queue
/// takes all of them, in the order of their times, before anything else is asked of it: so uses and inserts keep
/// their order.
///
/// Safe to use from any thread. A use takes constant time and no lock that threads of other stripes take; a key
/// that is used again takes no more room. Each of the 16 stripes remembers the last ``stripeLimit`` keys; threads
/// share stripes in turn.
final class RecentUses: Sendable {
  /// Keys in a stripe; the oldest are forgotten where the disk cannot keep up.
  static let stripeLimit = DiskQueue.dueTouches
  private static let stripeCount = 16

  /// A key and when it was used.
  struct Use {
    let touch: DiskQueue.Touch
    let nanoseconds: UInt64
  }

  private final class Stripe: Sendable {
    /// By key the time of the last use, and in the lowest bit whether somebody asked to see the poster.
    let uses = Lock(Stripe.none)
    /// Keeps the locks of two stripes on lines of their own, which processors need not pass on.
    private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (
      0, 0, 0, 0, 0, 0, 0, 0
    )

    static var none: LRUTable<UInt64> { LRUTable(limit: stripeLimit) }
  }

  private let stripes = (0..<RecentUses.stripeCount).map { _ in Stripe() }
  /// A bit for each stripe that holds something.
  private let filled = Atomic<UInt32>(0)
  private let count = Atomic<Int>(0)
  private let isAnnounced = Atomic<Bool>(false)

  /// What whoever noted a use has to do.
  enum Demand {
    case nothing
    /// Tell the queue that uses wait from now on.
    case announce
    /// Have them taken: many wait.
    case hurry
  }

  /// Notes a use at `nanoseconds` of the monotonic clock.
  func note(_ key: CacheKey, isSeen: Bool, at nanoseconds: UInt64) -> Demand {
    let number = Int(postercache_thread_number()) % Self.stripeCount
    let isNew = stripes[number].uses.withLock { uses in
      let (before, known) = (uses.count, uses.value(for: key))
      let wasSeen = (known ?? 0) & 1 == 1
      uses.insert(nanoseconds << 1 | (isSeen || wasSeen ? 1 : 0), for: key, cost: 1)
      // With the lock held, so that whoever takes the bit finds the use.
      if before == 0 { filled.bitwiseOr(1 << UInt32(number), ordering: .sequentiallyConsistent) }
      return known == nil
    }
    if isNew, count.add(1, ordering: .relaxed).newValue == DiskQueue.dueTouches { return .hurry }
    // Read first: a line that is only read is every processor's at once.
    guard !isAnnounced.load(ordering: .sequentiallyConsistent) else { return .nothing }
    return isAnnounced.exchange(true, ordering: .acquiringAndReleasing) ? .nothing : .announce
  }

  /// Whether so many wait that they should be written without further delay.
  var areMany: Bool { count.load(ordering: .relaxed) >= DiskQueue.dueTouches }

  /// Whether nothing waits.
  var isEmpty: Bool { filled.load(ordering: .sequentiallyConsistent) == 0 }

  /// Has the next use announced again. Before uses are taken, so that none is left unannounced.
  ///
  /// Whoever notes a use writes ``filled`` and reads ``isAnnounced``; whoever takes writes ``isAnnounced`` and
  /// reads ``filled``. One of the two must see what the other wrote, which sequential consistency alone promises.
  func endAnnouncement() {
    isAnnounced.store(false, ordering: .sequentiallyConsistent)
  }

  /// All that wait, the earliest first; a key may be there for several threads.
  func take() -> [DiskQueue.Touch] {
    guard !isEmpty else { return [] }
    let filled = filled.exchange(0, ordering: .acquiringAndReleasing)
    count.store(0, ordering: .relaxed)
    var all: [Use] = []
    for number in 0..<Self.stripeCount where filled & 1 << UInt32(number) != 0 {
      let uses = stripes[number].uses.withLock { uses in
        defer { uses = Stripe.none }
        return uses
      }
      all += uses.keysByRecency.reversed().map { key in
        let value = uses.peek(key) ?? 0
        return Use(
          touch: DiskQueue.Touch(key: key, isSeen: value & 1 == 1), nanoseconds: value >> 1)
      }
    }
    // Within a stripe, too: two threads that share it may note what they read of the clock the other way round.
    all.sort { $0.nanoseconds < $1.nanoseconds }
    return all.map(\.touch)
  }
}
