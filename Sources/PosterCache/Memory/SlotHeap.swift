/// Numbered slots by their last use: the one used longest ago is found at once, any other by its number.
///
/// A heap of four children a node, which is flatter and reads fewer cache lines than one of two. Every
/// change takes time proportional to the logarithm of the count; entering what was used last of all takes
/// constant time.
struct SlotHeap: Sendable {
  /// A slot and its last use.
  struct Element: Sendable {
    let slot: Int32
    let use: UInt64
  }

  private var elements: ContiguousArray<Element> = []
  /// Where each slot is in `elements`; of no meaning for those that are not in it.
  private var positions: ContiguousArray<Int32> = []

  /// The number of slots in it.
  var count: Int { elements.count }

  /// The slot used longest ago.
  var first: Element? { elements.first }

  /// All in no particular order.
  var all: ContiguousArray<Element> { elements }

  /// Enters a slot that is not in it.
  mutating func insert(_ slot: Int32, use: UInt64) {
    while positions.count <= Int(slot) { positions.append(-1) }
    let element = Element(slot: slot, use: use)
    elements.append(element)
    rise(element, from: elements.count - 1)
  }

  /// Takes out a slot that is in it, and returns its last use.
  @discardableResult
  mutating func remove(_ slot: Int32) -> UInt64 {
    let hole = Int(positions[Int(slot)])
    let removed = elements[hole]
    precondition(removed.slot == slot, "slot \(slot) is not in the heap")
    let last = elements.removeLast()
    if hole < elements.count {
      if last.use < removed.use { rise(last, from: hole) } else { sink(last, from: hole) }
    }
    return removed.use
  }

  /// Notes a later use of the first slot.
  mutating func renewFirst(use: UInt64) {
    let slot = elements[0].slot
    sink(Element(slot: slot, use: use), from: 0)
  }

  private mutating func rise(_ element: Element, from start: Int) {
    var place = start
    while place > 0 {
      let parent = (place - 1) / 4
      guard element.use < elements[parent].use else { break }
      put(elements[parent], at: place)
      place = parent
    }
    put(element, at: place)
  }

  private mutating func sink(_ element: Element, from start: Int) {
    var place = start
    while true {
      let firstChild = place * 4 + 1
      guard firstChild < elements.count else { break }
      var least = firstChild
      for child in firstChild + 1..<max(firstChild + 1, min(firstChild + 4, elements.count))
      where elements[child].use < elements[least].use {
        least = child
      }
      guard elements[least].use < element.use else { break }
      put(elements[least], at: place)
      place = least
    }
    put(element, at: place)
  }

  private mutating func put(_ element: Element, at place: Int) {
    elements[place] = element
    positions[Int(element.slot)] = Int32(truncatingIfNeeded: place)
  }
}
