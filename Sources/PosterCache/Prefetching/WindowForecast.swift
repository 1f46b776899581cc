/// The cells that are worth looking at for one plan, and when each is seen.
struct WindowForecast {
  /// A cell that has not got what it wants.
  struct Cell {
    var cell: WindowCell
    var enter: Double
    var leave: Double
    var weight: Double
    var isVisible: Bool
    /// A preview is there or cannot be had.
    var hasPreview: Bool
  }

  private(set) var cells: [Cell] = []
  /// Visible cells, those that have their picture included.
  private(set) var visible: Set<WindowCell> = []
  /// Sections whose next page is wanted.
  private(set) var nextPages: [Int] = []
  /// Cells looked at.
  private(set) var examinedCount = 0
  /// Items near the window, by section.
  private(set) var kept: [Int: Range<Int>] = [:]

  private let configuration: VisibleWindow.Configuration
  private let aheadScreens: Double
  /// Screens around what is looked at whose cells are not forgotten.
  private static let keptScreens = 6.0

  init(_ configuration: VisibleWindow.Configuration, aheadScreens: Double) {
    self.configuration = configuration
    self.aheadScreens = aheadScreens
  }

  /// Looks at the cells of all sections near the window.
  ///
  /// - Parameters:
  ///   - outer: the sections' common scroll.
  ///   - inner: the own scroll of a row.
  mutating func addSections(
    _ sections: [VisibleWindow.Section], _ frames: SectionFrames, outer: AxisForecast,
    inner: (Int, VisibleWindow.Section) -> AxisForecast?, _ table: inout CellTable
  ) {
    let range = outer.range(
      aheadScreens: aheadScreens, behindScreens: configuration.behindScreens)
    for index in frames.sections(in: range.widened(by: Self.keptScreens * outer.viewLength)) {
      let (section, frame) = (sections[index], frames[index])
      let isNear = frame.start <= range.upperBound && frame.end >= range.lowerBound
      switch section.layout {
      case .grid(let columns, let rowLength):
        let place = Place(
          section: index, start: frame.start, itemLength: rowLength, columns: columns)
        addGrid(place, section, range, outer, &table)
        if isNear { askForPage(section, index, outer, end: frame.end, lastLength: rowLength) }
      case .row(_, let itemLength, _):
        guard let inner = inner(index, section) else { continue }
        let band = outer.span(from: frame.start, to: frame.end)
        let place = Place(section: index, start: 0, itemLength: itemLength, columns: 1)
        addRow(place, section, inner, isNear ? band : nil, outer, &table)
        let end = Double(section.itemCount) * itemLength
        if isNear { askForPage(section, index, inner, end: end, lastLength: itemLength) }
      }
    }
  }

  /// Where a section's items stand along the scroll that moves them.
  private struct Place {
    var section: Int
    var start: Double
    var itemLength: Double
    var columns: Int

    /// The items that reach into `range`.
    func items(in range: ClosedRange<Double>, count: Int) -> Range<Int> {
      let rows = Double((count + columns - 1) / columns)
      let low = min(max((range.lowerBound - start) / itemLength, 0), rows).rounded(.down)
      let high = min(max((range.upperBound - start) / itemLength, 0), rows).rounded(.up)
      return min(Int(low) * columns, count)..<min(Int(high) * columns, count)
    }
  }

  private mutating func addGrid(
    _ place: Place, _ section: VisibleWindow.Section, _ range: ClosedRange<Double>,
    _ outer: AxisForecast, _ table: inout CellTable
  ) {
    let wide = range.widened(by: Self.keptScreens * outer.viewLength)
    kept[place.section] = place.items(in: wide, count: section.itemCount)
    let items = place.items(in: range, count: section.itemCount)
    var item = items.lowerBound
    while item < items.upperBound {
      let start = place.start + Double(item / place.columns) * place.itemLength
      let span = outer.span(from: start, to: start + place.itemLength)
      let leave = span.leave.isFinite ? span.leave : outer.restEnd(enter: span.enter)
      let end = min(item + place.columns, items.upperBound)
      while item < end {
        add(WindowCell(section: place.section, item: item), span, leave: leave, &table)
        item += 1
      }
    }
  }

  private mutating func addRow(
    _ place: Place, _ section: VisibleWindow.Section, _ inner: AxisForecast,
    _ band: AxisForecast.Span?, _ outer: AxisForecast, _ table: inout CellTable
  ) {
    let range = inner.range(
      aheadScreens: aheadScreens, behindScreens: configuration.behindScreens)
    let wide = range.widened(by: Self.keptScreens * inner.viewLength)
    kept[place.section] = place.items(in: wide, count: section.itemCount)
    guard let band else { return }
    for item in place.items(in: range, count: section.itemCount) {
      let start = Double(item) * place.itemLength
      var span = inner.span(from: start, to: start + place.itemLength)
      // Seen where and while both scrolls show it.
      let rest = max(
        inner.restEnd(enter: span.enter), outer.restEnd(enter: max(band.enter, span.enter)))
      span.enter = max(span.enter, band.enter)
      span.leave = min(span.leave, band.leave)
      span.weight *= band.weight
      span.isVisible = span.isVisible && band.isVisible
      let leave = span.leave.isFinite ? span.leave : rest
      guard leave > span.enter else { continue }
      add(WindowCell(section: place.section, item: item), span, leave: leave, &table)
    }
  }

  private mutating func add(
    _ cell: WindowCell, _ span: AxisForecast.Span, leave: Double, _ table: inout CellTable
  ) {
    examinedCount += 1
    if span.isVisible {
      visible.insert(cell)
      table.cellWasSeen(cell)
    }
    guard let state = table.state(of: cell), state.full < .held else { return }
    cells.append(
      Cell(
        cell: cell, enter: span.enter, leave: leave, weight: span.weight,
        isVisible: span.isVisible, hasPreview: state.preview >= .held))
  }

  /// Notes that the next page of a section is wanted if its end is near.
  private mutating func askForPage(
    _ section: VisibleWindow.Section, _ index: Int, _ axis: AxisForecast, end: Double,
    lastLength: Double
  ) {
    guard section.canAskForPage else { return }
    let isNear: Bool
    if section.itemCount == 0 {
      isNear = true
    } else if configuration.pageAheadScreens > 0 {
      let seen = max(axis.motion.position, axis.stop) + axis.viewLength
      isNear = end - seen <= configuration.pageAheadScreens * axis.viewLength
    } else {
      isNear = axis.isVisible(end - lastLength, .infinity, at: axis.motion.position)
    }
    if isNear { nextPages.append(index) }
  }
}

extension ClosedRange<Double> {
  fileprivate func widened(by length: Double) -> ClosedRange<Double> {
    lowerBound - length...upperBound + length
  }
}
