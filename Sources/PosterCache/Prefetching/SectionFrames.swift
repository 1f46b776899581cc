/// Where the sections stand in their common scroll.
struct SectionFrames: Sendable {
  /// Where a section begins, behind the space before it, and where it ends.
  struct Frame: Sendable {
    var start: Double
    var end: Double
  }

  private(set) var frames: [Frame] = []
  /// Where the last section ends.
  private(set) var end = 0.0
  /// The sections without impossible values: a section whose lengths are none has no items.
  let sections: [VisibleWindow.Section]

  init(_ sections: [VisibleWindow.Section] = []) {
    self.sections = sections.map(Self.possible)
    frames.reserveCapacity(sections.count)
    for section in self.sections {
      let start = end + section.spacingBefore
      end = start + Self.length(of: section)
      frames.append(Frame(start: start, end: end))
    }
  }

  subscript(section: Int) -> Frame { frames[section] }

  /// The sections that reach into `range`, the empty ones at its place included.
  func sections(in range: ClosedRange<Double>) -> Range<Int> {
    let first = frames.partitioningIndex { $0.end >= range.lowerBound }
    let end = frames.partitioningIndex { $0.start > range.upperBound }
    return first..<max(first, end)
  }

  /// Larger ones could not be reckoned with; there are none.
  private static let (mostItems, mostColumns, longest) = (1 << 40, 1 << 20, 1e9)

  private static func possible(_ section: VisibleWindow.Section) -> VisibleWindow.Section {
    var section = section
    let lengths: [Double]
    switch section.layout {
    case .grid(let columns, let rowLength):
      lengths = [rowLength]
      section.layout = .grid(
        columns: min(max(columns, 1), mostColumns), rowLength: min(rowLength, longest))
    case .row(let length, let itemLength, let viewLength):
      lengths = [length, itemLength, viewLength]
      section.layout = .row(
        length: min(length, longest), itemLength: min(itemLength, longest),
        viewLength: min(viewLength, VisibleWindow.longestView))
    }
    section.itemCount = min(max(section.itemCount, 0), mostItems)
    section.spacingBefore =
      section.spacingBefore.isFinite ? min(max(section.spacingBefore, 0), longest) : 0
    if !lengths.allSatisfy({ $0.isFinite && $0 > 0 }) {
      section = VisibleWindow.Section(.grid(columns: 1, rowLength: 1))
    }
    return section
  }

  private static func length(of section: VisibleWindow.Section) -> Double {
    switch section.layout {
    case .grid(let columns, let rowLength):
      Double((section.itemCount + columns - 1) / columns) * rowLength
    case .row(let length, _, _): length
    }
  }
}

extension Array {
  /// The index of the first element for which `isSecond` holds; those for which it does come last.
  func partitioningIndex(where isSecond: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isSecond(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
