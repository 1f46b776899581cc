import PosterCache

/// What is on a screen: sections below each other, seen through a viewport.
///
/// A cell's size includes the space around it. A grid has as many columns as fit; a row shows its items side
/// by side, as high as a cell. Offsets may lie beyond either end, as where a list bounces.
package struct ScreenLayout: Sendable, Hashable {
  /// A section's shape.
  package enum Shape: Sendable, Hashable {
    case grid(items: Int)
    case row(items: Int)
  }

  /// What can be seen at once, in points.
  package let viewWidth: Double
  package let viewHeight: Double
  /// A cell, in points.
  package let cellWidth: Double
  package let cellHeight: Double
  /// How many cells stand side by side in a grid: at least one.
  package let columns: Int
  /// As the planner takes them.
  package private(set) var sections: [VisibleWindow.Section]
  /// Where each section's first row begins.
  private var tops: [Double] = []
  /// How long all sections are together.
  package private(set) var contentLength = 0.0

  /// - Parameters:
  ///   - view: width and height of the viewport; both more than 0.
  ///   - cell: width and height of a cell; both more than 0.
  ///   - spacing: above each section, for its heading.
  package init(
    view: (width: Double, height: Double) = (390, 844),
    cell: (width: Double, height: Double) = (120, 180), sections: [Shape], spacing: Double = 0
  ) {
    precondition(view.width > 0 && view.height > 0, "a viewport of \(view)")
    precondition(cell.width > 0 && cell.height > 0, "a cell of \(cell)")
    (viewWidth, viewHeight) = view
    (cellWidth, cellHeight) = cell
    let columns = max(1, Int(view.width / cell.width))
    self.columns = columns
    self.sections = sections.map { shape in
      switch shape {
      case .grid(let items):
        VisibleWindow.Section(
          .grid(columns: columns, rowLength: cell.height), itemCount: items, spacingBefore: spacing)
      case .row(let items):
        VisibleWindow.Section(
          .row(length: cell.height, itemLength: cell.width, viewLength: view.width),
          itemCount: items, spacingBefore: spacing)
      }
    }
    place()
  }

  /// So many items are in `section` from now on, and whether there is another page to be asked for.
  package mutating func setItems(_ count: Int, canAskForPage: Bool = false, in section: Int) {
    sections[section].itemCount = count
    sections[section].canAskForPage = canAskForPage
    place()
  }

  /// The farthest that the sections can be scrolled.
  package var farthestOffset: Double { max(0, contentLength - viewHeight) }

  /// The farthest that a row can be scrolled.
  package func farthestOffset(of section: Int) -> Double {
    guard case .row(_, let itemLength, let viewLength) = sections[section].layout else { return 0 }
    return max(0, Double(sections[section].itemCount) * itemLength - viewLength)
  }

  /// The row at a place in the content, `nil` if there is a grid or nothing.
  package func row(at place: Double) -> Int? {
    sections.indices.first { index in
      guard case .row(let length, _, _) = sections[index].layout else { return false }
      return (tops[index]..<tops[index] + length).contains(place)
    }
  }

  /// How far below the content's begin a cell begins, and how long it is in that direction.
  package func extent(of cell: WindowCell) -> (top: Double, length: Double) {
    switch sections[cell.section].layout {
    case .grid(let columns, let rowLength):
      (tops[cell.section] + Double(cell.item / columns) * rowLength, rowLength)
    case .row(let length, _, _): (tops[cell.section], length)
    }
  }

  /// The items of each section of which at least a part can be seen.
  package func visibleItems(at offset: Double, rowOffsets: [Int: Double]) -> [Range<Int>] {
    sections.indices.map { index in
      let section = sections[index]
      let (low, high) = (offset - tops[index], offset + viewHeight - tops[index])
      switch section.layout {
      case .grid(let columns, let rowLength):
        return Self.items(
          from: low, to: high, each: rowLength, perLine: columns, count: section.itemCount)
      case .row(let length, let itemLength, let viewLength):
        guard low < length, high > 0 else { return 0..<0 }
        let start = rowOffsets[index] ?? 0
        return Self.items(
          from: start, to: start + viewLength, each: itemLength, perLine: 1,
          count: section.itemCount)
      }
    }
  }

  /// The items whose lines overlap the space between two places.
  private static func items(
    from low: Double, to high: Double, each length: Double, perLine: Int, count: Int
  ) -> Range<Int> {
    let lines = Double((count + perLine - 1) / perLine)
    // Cut off before they become integers: an offset may be any number.
    let first = Int(min(max((low / length).rounded(.down), 0), lines))
    let past = Int(min(max((high / length).rounded(.up), 0), lines))
    let start = min(first * perLine, count)
    return start..<max(start, min(past * perLine, count))
  }

  private mutating func place() {
    var top = 0.0
    tops = sections.map { section in
      top += section.spacingBefore
      let start = top
      switch section.layout {
      case .grid(let columns, let rowLength):
        top += Double((section.itemCount + columns - 1) / columns) * rowLength
      case .row(let length, _, _): top += length
      }
      return start
    }
    contentLength = top
  }
}
