import PosterCache

/// How a screen stands at a moment, and which way it went last.
package struct ScreenState: Sendable {
  /// What is on it.
  package var layout: ScreenLayout
  /// When it came to stand so.
  package private(set) var seconds = 0.0
  /// Where the sections' scroll stands.
  package private(set) var offset = 0.0
  /// Where the rows' scrolls stand.
  package private(set) var rowOffsets: [Int: Double] = [:]
  /// The visible items of each section.
  package private(set) var visible: [Range<Int>]
  /// Whether the sections moved towards their end last.
  package private(set) var isForward = true
  /// Rows that moved towards their begin last.
  package private(set) var backwardRows: Set<Int> = []
  /// Rows that moved after the sections did, the last one first.
  package private(set) var rowsMoved: [Int] = []

  package init(_ layout: ScreenLayout) {
    self.layout = layout
    visible = layout.visibleItems(at: 0, rowOffsets: [:])
  }

  /// It was scrolled.
  package mutating func didScroll(to sample: ScrollTrace.Sample) {
    seconds = sample.seconds
    if sample.offset != offset {
      isForward = sample.offset > offset
      rowsMoved = []
    }
    for (row, place) in sample.rowOffsets {
      let before = rowOffsets[row] ?? 0
      guard place != before else { continue }
      if place > before { backwardRows.remove(row) } else { backwardRows.insert(row) }
      if rowsMoved.first != row {
        rowsMoved.removeAll { $0 == row }
        rowsMoved.insert(row, at: 0)
      }
    }
    offset = sample.offset
    rowOffsets = sample.rowOffsets
    visible = layout.visibleItems(at: offset, rowOffsets: rowOffsets)
  }

  /// Items have come or gone.
  package mutating func layoutDidChange(to layout: ScreenLayout) {
    self.layout = layout
    visible = layout.visibleItems(at: offset, rowOffsets: rowOffsets)
  }

  /// Whether a cell can be seen.
  package func isVisible(_ cell: WindowCell) -> Bool {
    visible.indices.contains(cell.section) && visible[cell.section].contains(cell.item)
  }

  /// The visible cells, from top to bottom.
  package var visibleCells: [WindowCell] {
    visible.enumerated().flatMap { section, items in
      items.map { WindowCell(section: section, item: $0) }
    }
  }

  // MARK: - What lies beyond

  /// Cells beyond the visible ones in the direction of the sections, the nearest first: at most `count` of
  /// them, and at most `length` points.
  ///
  /// A row counts as a whole, with the items that it shows.
  package func cells(
    beyondEnd isForward: Bool, length: Double = .infinity, count: Int = .max
  ) -> [WindowCell] {
    var cells: [WindowCell] = []
    var left = length
    let order =
      isForward ? Array(layout.sections.indices) : Array(layout.sections.indices.reversed())
    for section in order {
      guard cells.count < count, left > 0 else { break }
      let info = layout.sections[section]
      switch info.layout {
      case .grid(let columns, let rowLength):
        let share = rowLength / Double(columns)
        let room = min(left / share, Double(info.itemCount)).rounded(.down)
        let number = min(Int(room), count - cells.count)
        let items = rest(of: section, isForward)
        if isForward {
          cells += items.prefix(number).map { WindowCell(section: section, item: $0) }
        } else {
          cells += items.suffix(number).reversed().map { WindowCell(section: section, item: $0) }
        }
        left -= Double(min(number, items.count)) * share
      case .row(let rowLength, let itemLength, let viewLength):
        guard visible[section].isEmpty, isBeyond(section, isForward), rowLength <= left else {
          continue
        }
        left -= rowLength
        let start = rowOffsets[section] ?? 0
        let first = Int(min(max((start / itemLength).rounded(.down), 0), Double(info.itemCount)))
        let past = Int(
          min(
            max(((start + viewLength) / itemLength).rounded(.up), Double(first)),
            Double(info.itemCount)))
        cells += (first..<past).prefix(count - cells.count).map {
          WindowCell(section: section, item: $0)
        }
      }
    }
    return cells
  }

  /// Items beyond the visible ones of a visible row, the nearest first: at most `count` of them.
  package func cells(ofRow section: Int, beyondEnd isForward: Bool, count: Int) -> [WindowCell] {
    let (items, all) = (visible[section], layout.sections[section].itemCount)
    if isForward {
      return (items.upperBound..<all).prefix(count).map { WindowCell(section: section, item: $0) }
    }
    return (0..<items.lowerBound).suffix(count).reversed().map {
      WindowCell(section: section, item: $0)
    }
  }

  /// Visible rows, those that were moved last first.
  package var visibleRows: [Int] {
    let rows = visible.indices.filter { section in
      guard case .row = layout.sections[section].layout else { return false }
      return !visible[section].isEmpty
    }
    return rowsMoved.filter(rows.contains) + rows.filter { !rowsMoved.contains($0) }
  }

  /// The items of a grid that lie beyond the screen.
  private func rest(of section: Int, _ isForward: Bool) -> Range<Int> {
    let (items, count) = (visible[section], layout.sections[section].itemCount)
    if items.isEmpty { return isBeyond(section, isForward) ? 0..<count : 0..<0 }
    return isForward ? items.upperBound..<count : 0..<items.lowerBound
  }

  /// Whether a section of which nothing is visible lies in a direction.
  private func isBeyond(_ section: Int, _ isForward: Bool) -> Bool {
    guard layout.sections[section].itemCount > 0 else { return false }
    let (top, length) = layout.extent(of: WindowCell(section: section, item: 0))
    return isForward ? top >= offset + layout.viewHeight : top + length <= offset
  }
}
