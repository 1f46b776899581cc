/// The items that a program named to be prefetched and that wait for their turn, in the order in which they
/// were named; each item once.
struct WishList {
  private var numbers: [WindowCell: UInt64] = [:]
  /// In order; entries whose number is not the item's are left over from wishes that were taken back.
  private var queue: [(number: UInt64, cell: WindowCell)] = []
  private var head = 0
  private var lastNumber: UInt64 = 0

  /// How many wait.
  var count: Int { numbers.count }

  func contains(_ cell: WindowCell) -> Bool { numbers[cell] != nil }

  /// Adds an item at the end; one that waits already keeps its place.
  mutating func append(_ cell: WindowCell) {
    guard numbers[cell] == nil else { return }
    lastNumber += 1
    numbers[cell] = lastNumber
    queue.append((lastNumber, cell))
  }

  /// Takes the first.
  mutating func popFirst() -> WindowCell? {
    while head < queue.count {
      let entry = queue[head]
      head += 1
      guard numbers[entry.cell] == entry.number else { continue }
      numbers[entry.cell] = nil
      compact()
      return entry.cell
    }
    compact()
    return nil
  }

  mutating func remove(_ cell: WindowCell) {
    guard numbers.removeValue(forKey: cell) != nil else { return }
    compact()
  }

  mutating func removeAll() {
    self = WishList()
  }

  /// Removes items and renames others.
  ///
  /// - Parameter rename: the item's new name, `nil` to remove it.
  mutating func renumber(_ rename: (WindowCell) -> WindowCell?) {
    let waiting = queue[head...].filter { numbers[$0.cell] == $0.number }
    removeAll()
    for entry in waiting {
      if let cell = rename(entry.cell) { append(cell) }
    }
  }

  /// Forgets what is left over once it is the greater part.
  private mutating func compact() {
    guard queue.count > 2 * numbers.count + 32 else { return }
    queue = queue[head...].filter { numbers[$0.cell] == $0.number }
    head = 0
  }
}
