/// A binary heap: the smallest element first, insertion and removal in logarithmic time.
package struct Heap<Element: Comparable> {
  private var elements: ContiguousArray<Element> = []

  /// An empty heap.
  package init() {}

  /// The number of elements.
  package var count: Int { elements.count }

  /// The smallest element.
  package var first: Element? { elements.first }

  /// Adds `element`.
  package mutating func insert(_ element: Element) {
    elements.append(element)
    var child = elements.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard elements[child] < elements[parent] else { break }
      elements.swapAt(child, parent)
      child = parent
    }
  }

  /// Removes and returns the smallest element.
  @discardableResult
  package mutating func removeFirst() -> Element? {
    guard let last = elements.popLast() else { return nil }
    guard let first = elements.first else { return last }
    elements[0] = last
    sink(0)
    return first
  }

  /// Removes what `shouldBeRemoved` says, in linear time.
  package mutating func removeAll(where shouldBeRemoved: (Element) -> Bool) {
    elements.removeAll(where: shouldBeRemoved)
    for index in stride(from: elements.count / 2 - 1, through: 0, by: -1) { sink(index) }
  }

  private mutating func sink(_ start: Int) {
    var parent = start
    while true {
      var child = 2 * parent + 1
      guard child < elements.count else { return }
      if child + 1 < elements.count, elements[child + 1] < elements[child] { child += 1 }
      guard elements[child] < elements[parent] else { return }
      elements.swapAt(child, parent)
      parent = child
    }
  }
}
