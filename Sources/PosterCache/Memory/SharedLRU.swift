import CLinux
import Synchronization

/// Values by key in exact order of use, bounded by the sum of their costs, for many threads at once.
///
/// Decides with ``EvictionOrder``. Moving a value to the front of a list on every hit would make two
/// threads slower than one, as each would wait for the lines that the other has just written. Here a
/// reader takes the lock of its own ``Stripe``, finds the value in a table that readers only read, and
/// notes in the stripe's own memory when it used which slot. Whoever inserts looks at these notes only for
/// the slots that seem to be the next to go. So one thread sees exact order of use; that between threads is
/// exact from one epoch to the next (``UseStamp``).
///
/// Safe to use from any thread. A hit takes constant time, takes no lock that threads of other stripes
/// take, and waits at most for a writer's change of the table: one value in, what it evicts out, at most
/// 64 of them at once; and for a copy of the stripe's notes each time that the most values so far double.
/// There are 16 stripes; threads share them in turn. Writers take turns. Inserting takes time
/// proportional to what it evicts, and a way down a heap for each slot that was used since it was asked
/// about last: at most one for each slot kept. Values are let go of after all locks.
final class SharedLRU<Key: LookupKey, Value: AnyObject & Sendable> {
  private typealias OwnStripe = Stripe<Key, Value>
  private typealias Writer = LRUWriter<Key, Value>

  private static var stripeCount: Int { 16 }
  private let stripes: UnsafeMutableRawPointer
  private let epoch: UnsafeMutablePointer<Atomic<UInt64>>
  private let writer: Lock<Writer>

  /// - Parameter limit: the largest sum of costs, at least 0.
  init(limit: Int) {
    let table = LookupTable<Key, Value>(places: 64)
    stripes = .allocate(
      byteCount: (Self.stripeCount + 1) * OwnStripe.byteCount, alignment: OwnStripe.byteCount)
    for number in 0..<Self.stripeCount {
      OwnStripe(stripes + number * OwnStripe.byteCount).initialize(table: table)
    }
    epoch = (stripes + Self.stripeCount * OwnStripe.byteCount)
      .bindMemory(to: Atomic<UInt64>.self, capacity: 1)
    epoch.initialize(to: Atomic(1))
    writer = Lock(Writer(limit: limit, table: table))
  }

  deinit {
    writer.withLock { $0.deallocate() }
    for number in 0..<Self.stripeCount { stripe(number).deinitialize() }
    epoch.deinitialize(count: 1)
    stripes.deallocate()
  }

  // MARK: - Looking

  /// The value for `key`, whose use is noted.
  @inline(__always)
  func value(for key: Key, isSeen: Bool) -> Value? {
    let stripe = stripe(Int(postercache_thread_number()) & (Self.stripeCount - 1))
    stripe.lock.pointee.lock()
    guard let uses = stripe.content.pointee.uses else {
      stripe.lock.pointee.unlock()
      return openAndLook(stripe, key, isSeen: isSeen)
    }
    guard let (found, slot) = stripe.content.pointee.table.find(key) else {
      stripe.lock.pointee.unlock()
      return nil
    }
    // Retained by hand: the compiler may move a retain of its own behind the unlocking, which releases
    // nothing as far as it can see, and a writer may let go of the value then.
    let held = found.retain()
    stripe.content.pointee.note(slot, isSeen: isSeen, in: uses, epoch: epoch.pointee)
    stripe.lock.pointee.unlock()
    return held.takeRetainedValue()
  }

  /// The value for `key`, without counting as use.
  func peek(_ key: Key) -> Value? {
    writer.withLock { $0.table.find(key)?.value.takeUnretainedValue() }
  }

  @inline(never)
  private func openAndLook(
    _ stripe: OwnStripe, _ key: Key, isSeen: Bool
  ) -> Value? {
    writer.withLock { $0.open(stripe) }
    return value(for: key, isSeen: isSeen)
  }

  // MARK: - Changing

  /// Keeps `value` as the most recently used, in the place of an earlier one for `key`, and evicts what no
  /// longer fits.
  ///
  /// - Parameter condition: whether to do so, given the earlier one. Called with the writer's lock held.
  /// - Returns: whether it is kept. Where `condition` holds and it is not, the earlier one is gone all the
  ///   same, and nothing else.
  @discardableResult
  func insert(
    _ value: Value, for key: Key, cost: Int, isSeen: Bool,
    if condition: (Value?) -> Bool = { _ in true }
  ) -> Bool {
    let (isKept, released) = writer.withLock { writer in
      var released = ContiguousArray<Value>()
      let known = writer.table.find(key)
      guard condition(known?.value.takeUnretainedValue()) else { return (false, released) }
      var use = EvictionOrder.Use(time: nextTime(), isSeen: isSeen)
      if let known {
        use.isSeen = isSeen || writer.isSeen(known.slot)
        writer.order.leave(known.slot)
      }
      guard writer.order.admits(cost) else {
        if let known { writer.remove([known.slot], &released) }
        return (false, released)
      }
      writer.remove(writer.evict(to: writer.order.limit - cost), &released)
      let slot: Int32
      if let known {
        // In its place, so that no reader misses it meanwhile.
        slot = known.slot
        released.append(writer.replace(slot, by: value))
      } else {
        slot = writer.enter(value, for: key)
      }
      writer.order.enter(slot, cost: cost, use, isPinned: writer.pins[key] != nil)
      return (true, released)
    }
    // Only now, after the lock, is what was evicted let go of.
    withExtendedLifetime(released) {}
    return isKept
  }

  /// Whether a value of a family is kept.
  func holds(family: CacheKey) -> Bool {
    writer.withLock { !($0.families[family] ?? []).isEmpty }
  }

  /// Puts what `renewed` makes of them in the place of all values of a family, which remain what they were
  /// to the order, and forgets those of which it makes nothing. Called with the writer's lock held.
  func renew(family: CacheKey, _ renewed: (Value) -> Value?) {
    let released = writer.withLock { writer in
      var released = ContiguousArray<Value>()
      var leaving: [Int32] = []
      for slot in writer.families[family] ?? [] {
        guard let value = writer.value(in: slot) else { continue }
        if let renewed = renewed(value) {
          if renewed !== value { released.append(writer.replace(slot, by: renewed)) }
        } else {
          leaving.append(slot)
        }
      }
      for slot in leaving { writer.order.leave(slot) }
      writer.remove(leaving, &released)
      return released
    }
    withExtendedLifetime(released) {}
  }

  /// Forgets the value for `key`, pinned or not.
  ///
  /// - Parameter condition: whether to do so, given the value. Called with the writer's lock held.
  func remove(_ key: Key, if condition: (Value) -> Bool = { _ in true }) {
    remove { writer in
      guard let known = writer.table.find(key), condition(known.value.takeUnretainedValue()) else {
        return []
      }
      return [known.slot]
    }
  }

  /// Forgets all values of a family, pinned or not.
  func remove(family: CacheKey) {
    remove { $0.takeFamily(family) }
  }

  /// Forgets everything, pinned or not. Pins remain for what comes later.
  func removeAll() {
    remove { $0.takeAll() }
  }

  /// Evicts until the sum of costs is at most `cost`, or only pinned values are left.
  func trim(to cost: Int) {
    let released = writer.withLock { writer in
      var released = ContiguousArray<Value>()
      writer.remove(writer.evict(to: cost), &released)
      return released
    }
    withExtendedLifetime(released) {}
  }

  /// Keeps what is kept under `key`, now or later, from being evicted until ``unpin(_:)`` has been called as
  /// often as this; it counts as seen.
  func pin(_ key: Key) {
    writer.withLock { writer in
      let count = writer.pins[key, default: 0] + 1
      writer.pins[key] = count
      if count == 1, let known = writer.table.find(key) { writer.order.pin(known.slot) }
    }
  }

  /// Takes one pin back; the last makes the value the most recently used. One that was never made is a
  /// programming error.
  func unpin(_ key: Key) {
    writer.withLock { writer in
      guard let count = writer.pins[key] else { preconditionFailure("\(key) is not pinned") }
      writer.pins[key] = count == 1 ? nil : count - 1
      if count == 1, let known = writer.table.find(key) {
        writer.order.unpin(known.slot, time: nextTime())
      }
    }
  }

  // MARK: - Figures

  /// What is kept now: the sum of costs, that of what is pinned, and how many.
  var totals: (cost: Int, pinnedCost: Int, count: Int) {
    writer.withLock { ($0.order.totalCost, $0.order.pinnedCost, $0.order.count) }
  }

  /// The keys of what may go in the order in which it would; takes time proportional to their number and its
  /// logarithm.
  var keysByEviction: [Key] {
    writer.withLock { writer in
      writer.order.order { Writer.latestUse($0, writer.open) }.map { writer.keys[Int($0)] }
    }
  }

  // MARK: - Private

  private func stripe(_ number: Int) -> OwnStripe {
    OwnStripe(stripes + number * OwnStripe.byteCount)
  }

  /// Begins an epoch and returns its first moment, later than all uses that this thread has noted.
  private func nextTime() -> UInt64 {
    epoch.pointee.wrappingAdd(1, ordering: .relaxed).newValue << UseStamp.epochShift
  }

  private func remove(_ slots: (inout Writer) -> [Int32]) {
    let released = writer.withLock { writer in
      var released = ContiguousArray<Value>()
      let leaving = slots(&writer)
      for slot in leaving { writer.order.leave(slot) }
      writer.remove(leaving, &released)
      return released
    }
    withExtendedLifetime(released) {}
  }
}

// What its pointers lead to is read and written with a stripe's lock held, or with the writer's, as said at
// each; the rest never changes.
extension SharedLRU: @unchecked Sendable {}
