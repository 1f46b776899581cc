/// Values by key in memory of its own: open addressing with linear probing, at most half full, deletion
/// by shifting back.
///
/// A handle without a lock, copied freely: whoever owns the table deallocates it, and sees to it that
/// nobody looks anything up while it is changed. Key, value and slot number lie side by side, so that a
/// lookup mostly reads one cache line. Holds a strong reference to each value.
struct LookupTable<Key: LookupKey, Value: AnyObject> {
  /// A key with what is known under it.
  struct Entry {
    var key: Key
    /// `nil` in a vacant place.
    var value: Unmanaged<Value>?
    var slot: Int32
  }

  private let entries: UnsafeMutablePointer<Entry>
  private let mask: Int

  /// An empty table.
  ///
  /// - Parameter places: a power of two, twice as large as the count will be.
  init(places: Int) {
    precondition(places > 0 && places & (places - 1) == 0, "\(places) is no power of two")
    mask = places - 1
    // On cache lines of its own.
    entries = UnsafeMutableRawPointer.allocate(
      byteCount: places * MemoryLayout<Entry>.stride, alignment: 64
    ).bindMemory(to: Entry.self, capacity: places)
    entries.initialize(repeating: Entry(key: .filler, value: nil, slot: -1), count: places)
  }

  /// Gives the memory back; the values' references are no longer counted for.
  func deallocate() {
    entries.deinitialize(count: mask + 1)
    UnsafeMutableRawPointer(entries).deallocate()
  }

  /// The number of places.
  var places: Int { mask + 1 }

  /// What is known under `key`.
  @inline(__always)
  func find(_ key: Key) -> (value: Unmanaged<Value>, slot: Int32)? {
    var place = Int(truncatingIfNeeded: key.place) & mask
    while let value = entries[place].value {
      if entries[place].key == key { return (value, entries[place].slot) }
      place = (place + 1) & mask
    }
    return nil
  }

  /// Enters a key that is not in it.
  func insert(_ key: Key, _ value: Unmanaged<Value>, slot: Int32) {
    entries[position(of: key)] = Entry(key: key, value: value, slot: slot)
  }

  /// Puts another value in the place of the one for `key`, which is in it, and returns that.
  func replace(_ key: Key, by value: Unmanaged<Value>) -> Unmanaged<Value> {
    let place = position(of: key)
    guard let old = entries[place].value else { preconditionFailure("\(key) is not in the table") }
    entries[place].value = value
    return old
  }

  /// Takes out a key that is in it, and what has been pushed past its place moves back (Knuth, volume 3,
  /// 6.4, algorithm R).
  func remove(_ key: Key) -> Unmanaged<Value> {
    var hole = position(of: key)
    guard let removed = entries[hole].value else {
      preconditionFailure("\(key) is not in the table")
    }
    var place = hole
    while true {
      place = (place + 1) & mask
      guard entries[place].value != nil else { break }
      let home = Int(truncatingIfNeeded: entries[place].key.place) & mask
      if (place - home) & mask >= (place - hole) & mask {
        entries[hole] = entries[place]
        hole = place
      }
    }
    entries[hole].value = nil
    return removed
  }

  /// Calls `body` with every entry.
  func visit(_ body: (Entry) -> Void) {
    for place in 0...mask where entries[place].value != nil { body(entries[place]) }
  }

  /// Where `key` is, or the vacant place where it would be.
  private func position(of key: Key) -> Int {
    var place = Int(truncatingIfNeeded: key.place) & mask
    while entries[place].value != nil, entries[place].key != key { place = (place + 1) & mask }
    return place
  }
}
