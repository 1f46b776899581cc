import Synchronization

/// What the writers of a ``SharedLRU`` keep: the order, and the table that readers look into.
///
/// Belongs to whoever holds the writer's lock. Readers go on meanwhile but for the moment in which the table
/// is changed.
struct LRUWriter<Key: LookupKey, Value: AnyObject> {
  typealias Uses = UnsafeMutablePointer<Atomic<UInt64>>
  typealias OwnStripe = Stripe<Key, Value>

  var order: EvictionOrder
  /// The same that stripes have: changed only while all of them are locked.
  private(set) var table: LookupTable<Key, Value>
  /// The stripes that have been looked into, in which uses are noted.
  private(set) var open: [OpenStripe] = []
  /// The key in each slot, stale in vacant ones.
  private(set) var keys: ContiguousArray<Key> = []
  /// The slots of each family.
  private(set) var families: [CacheKey: [Int32]] = [:]
  /// How often each key is pinned, whether it is there or not.
  var pins: [Key: Int] = [:]
  private var vacant: [Int32] = []
  /// The number of slots that stripes have room for.
  private var slotCapacity = 64

  /// A stripe, and where its uses are: readers may be changing the rest of what it holds.
  struct OpenStripe {
    let stripe: OwnStripe
    var uses: Uses
  }

  /// The most values that leave the table while readers wait.
  private static var removalsAtOnce: Int { 64 }

  init(limit: Int, table: LookupTable<Key, Value>) {
    order = EvictionOrder(limit: limit)
    self.table = table
  }

  /// Lets go of everything.
  func deallocate() {
    table.visit { $0.value?.release() }
    table.deallocate()
    for stripe in open { Self.deallocate(stripe.uses, slotCapacity) }
  }

  /// Has uses noted in a stripe from now on, unless they are already.
  mutating func open(_ stripe: OwnStripe) {
    guard !open.contains(where: { $0.stripe == stripe }) else { return }
    let uses = Self.allocate(slotCapacity)
    stripe.lock.pointee.lock()
    stripe.content.pointee.table = table
    stripe.content.pointee.uses = uses
    stripe.lock.pointee.unlock()
    open.append(OpenStripe(stripe: stripe, uses: uses))
  }

  // MARK: - Uses

  /// Whether somebody has seen what is in a slot.
  func isSeen(_ slot: Int32) -> Bool {
    order.isSeen(slot, latest: Self.latestUse(slot, open))
  }

  /// The last use that any stripe has noted.
  static func latestUse(_ slot: Int32, _ open: [OpenStripe]) -> EvictionOrder.Use {
    var time: UInt64 = 0
    var isSeen: UInt64 = 0
    for stripe in open {
      let use = stripe.uses[Int(slot)].load(ordering: .relaxed)
      time = max(time, use)
      isSeen |= use & 1
    }
    return EvictionOrder.Use(time: time & ~1, isSeen: isSeen == 1)
  }

  /// Has the order let go of what must go so that at most `cost` remains, and returns it.
  mutating func evict(to cost: Int) -> [Int32] {
    var leaving: [Int32] = []
    let open = open
    while order.totalCost > cost, let next = order.next({ Self.latestUse($0, open) }) {
      order.leave(next)
      leaving.append(next)
    }
    return leaving
  }

  // MARK: - Changes

  /// The slots of a family, which are no longer noted as its.
  mutating func takeFamily(_ family: CacheKey) -> [Int32] {
    families.removeValue(forKey: family) ?? []
  }

  /// All slots in use, which are no longer noted as any family's.
  mutating func takeAll() -> [Int32] {
    families = [:]
    var slots: [Int32] = []
    table.visit { slots.append($0.slot) }
    return slots
  }

  /// Takes the values in `slots`, which the order has let go of, out of the table.
  ///
  /// - Parameter released: gets them, to be let go of after all locks.
  mutating func remove(_ slots: [Int32], _ released: inout ContiguousArray<Value>) {
    var rest = slots[...]
    while !rest.isEmpty {
      let batch = rest.prefix(Self.removalsAtOnce)
      for slot in batch { leaveFamily(slot) }
      lockStripes()
      for slot in batch { released.append(table.remove(keys[Int(slot)]).takeRetainedValue()) }
      unlockStripes()
      vacant.append(contentsOf: batch)
      rest = rest.dropFirst(batch.count)
    }
  }

  /// Enters a value that is not in the table, and returns its slot, for the order.
  mutating func enter(_ value: Value, for key: Key) -> Int32 {
    let slot = takeSlot(for: key)
    if (order.count + 1) * 2 > table.places { growTable() }
    if let family = key.family { families[family, default: []].append(slot) }
    let held = Unmanaged.passRetained(value)
    lockStripes()
    // What was noted about the slot was about another value.
    for stripe in open { stripe.uses[Int(slot)].store(0, ordering: .relaxed) }
    table.insert(key, held, slot: slot)
    unlockStripes()
    return slot
  }

  /// Puts another value in the place of the one in `slot`, which is returned to be let go of after all locks.
  func replace(_ slot: Int32, by value: Value) -> Value {
    let held = Unmanaged.passRetained(value)
    lockStripes()
    let old = table.replace(keys[Int(slot)], by: held)
    unlockStripes()
    return old.takeRetainedValue()
  }

  /// The value in `slot`.
  func value(in slot: Int32) -> Value? {
    table.find(keys[Int(slot)])?.value.takeUnretainedValue()
  }

  // MARK: - Private

  private func lockStripes() {
    for stripe in open { stripe.stripe.lock.pointee.lock() }
  }

  private func unlockStripes() {
    for stripe in open { stripe.stripe.lock.pointee.unlock() }
  }

  private mutating func takeSlot(for key: Key) -> Int32 {
    if let slot = vacant.popLast() {
      keys[Int(slot)] = key
      return slot
    }
    if keys.count == slotCapacity { growUses() }
    keys.append(key)
    return Int32(keys.count - 1)
  }

  private mutating func leaveFamily(_ slot: Int32) {
    guard let family = keys[Int(slot)].family, var slots = families.removeValue(forKey: family)
    else { return }
    slots.removeAll { $0 == slot }
    if !slots.isEmpty { families[family] = slots }
  }

  /// Readers go on while the larger table is filled: only writers change the smaller one.
  private mutating func growTable() {
    let smaller = table
    let larger = LookupTable<Key, Value>(places: smaller.places * 2)
    smaller.visit { entry in
      if let value = entry.value { larger.insert(entry.key, value, slot: entry.slot) }
    }
    lockStripes()
    table = larger
    for stripe in open { stripe.stripe.content.pointee.table = larger }
    unlockStripes()
    smaller.deallocate()
  }

  /// Makes room for twice as many slots in one stripe after the other.
  private mutating func growUses() {
    for index in open.indices {
      let (stripe, smaller) = (open[index].stripe, open[index].uses)
      let larger = Self.allocate(slotCapacity * 2)
      stripe.lock.pointee.lock()
      for slot in 0..<slotCapacity {
        larger[slot].store(smaller[slot].load(ordering: .relaxed), ordering: .relaxed)
      }
      stripe.content.pointee.uses = larger
      stripe.lock.pointee.unlock()
      open[index].uses = larger
      Self.deallocate(smaller, slotCapacity)
    }
    slotCapacity *= 2
  }

  /// On cache lines of their own.
  private static func allocate(_ count: Int) -> Uses {
    let uses = UnsafeMutableRawPointer.allocate(
      byteCount: count * MemoryLayout<Atomic<UInt64>>.stride, alignment: 128
    ).bindMemory(to: Atomic<UInt64>.self, capacity: count)
    for slot in 0..<count { (uses + slot).initialize(to: Atomic(0)) }
    return uses
  }

  private static func deallocate(_ uses: Uses, _ count: Int) {
    uses.deinitialize(count: count)
    UnsafeMutableRawPointer(uses).deallocate()
  }
}

// Its pointers are the holder's of the writer's lock, which passes from thread to thread.
extension LRUWriter: @unchecked Sendable {}
