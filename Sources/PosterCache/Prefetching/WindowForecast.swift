/// The cells that are worth looking at for one plan, and when each is seen.
struct WindowForecast {
  /// A cell that has not got what it wants.
  struct Cell {
    var cell: WindowCell
    var enter: Double
    var leave: Double
    var weight: Double
    var isVisible: Bool
    /// A preview would do something for it: there is none yet, and it can be had.
    var wantsPreview: Bool
    /// It is too far away for more than a preview.
    var isFar: Bool
  }

  private(set) var cells: [Cell] = []
  /// Visible cells, those that have their picture included.
  private(set) var visible: Set<WindowCell> = []
  /// Sections whose next page is wanted.
  private(set) var nextPages: [Int] = []
  /// Cells looked at.
  private(set) var examinedCount = 0
  /// Items that were looked at, and those that are not far from them, by section.
  private(set) var items: [Int: (near: Range<Int>, kept: Range<Int>)] = [:]

  private let configuration: VisibleWindow.Configuration
  private let lookAhead: LookAhead
  /// A rest lasts at least so many seconds: several times as long as a picture takes. Where that is longer
  /// than rests last on the average, nothing would come in time, and nothing would ever be fetched.
  private let leastRest: Double
  /// Screens around what is looked at whose cells are not forgotten.
  private static let keptScreens = 6.0

  init(_ configuration: VisibleWindow.Configuration, _ link: LinkFigures) {
    self.configuration = configuration
    lookAhead = LookAhead(link: link, mostScreens: configuration.aheadScreens)
    leastRest = 3 * (link.firstByteSeconds + link.meanBytes / link.bytesPerSecond)
  }

  /// Looks at the cells of all sections near the window.
  ///
  /// - Parameters:
  ///   - outer: the sections' common scroll.
  ///   - cellCount: cells on a screen.
  ///   - inner: the own scroll of a row.
  mutating func addSections(
    _ frames: SectionFrames, outer: AxisForecast, cellCount: Int,
    inner: (Int, VisibleWindow.Section) -> AxisForecast?, _ table: inout CellTable
  ) {
    let reach = reach(of: outer, cells: Double(cellCount))
    for index in frames.sections(in: reach.kept) {
      let (section, frame) = (frames.sections[index], frames[index])
      let isNear = frame.start <= reach.near.upperBound && frame.end >= reach.near.lowerBound
      switch section.layout {
      case .grid(let columns, let rowLength):
        let place = Place(
          section: index, start: frame.start, itemLength: rowLength, columns: columns)
        addGrid(place, section, reach, outer, &table)
        if isNear { askForPage(section, index, outer, end: frame.end, lastLength: rowLength) }
      case .row(_, let itemLength, _):
        guard let inner = inner(index, section) else { continue }
        let isSeen = frame.start <= reach.far.upperBound && frame.end >= reach.far.lowerBound
        let band = Band(span: outer.span(from: frame.start, to: frame.end), isFar: !isNear)
        let place = Place(section: index, start: 0, itemLength: itemLength, columns: 1)
        addRow(place, section, inner, isSeen ? band : nil, outer, &table)
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

  /// What is looked at along one scroll.
  private struct Reach {
    /// For pictures of the wanted size.
    var near: ClosedRange<Double>
    /// For previews; the same without a ladder.
    var far: ClosedRange<Double>
    /// Where nothing is forgotten.
    var kept: ClosedRange<Double>
  }

  /// The place of a row in the sections' scroll.
  private struct Band {
    var span: AxisForecast.Span
    var isFar: Bool
  }

  private func reach(of axis: AxisForecast, cells: Double) -> Reach {
    let speed = axis.habitualSpeed / axis.viewLength
    let near = axis.range(
      aheadScreens: lookAhead.screens(speed: speed, cells: cells),
      behindScreens: configuration.behindScreens)
    var far = near
    if configuration.previewShare != nil {
      let screens = lookAhead.previewScreens(speed: speed)
      far = axis.range(aheadScreens: screens, behindScreens: screens)
      far = min(near.lowerBound, far.lowerBound)...max(near.upperBound, far.upperBound)
    }
    let margin = Self.keptScreens * axis.viewLength
    return Reach(
      near: near, far: far, kept: far.lowerBound - margin...far.upperBound + margin)
  }

  private mutating func addGrid(
    _ place: Place, _ section: VisibleWindow.Section, _ reach: Reach, _ outer: AxisForecast,
    _ table: inout CellTable
  ) {
    let (near, far) = note(place, section, reach)
    var item = far.lowerBound
    while item < far.upperBound {
      let start = place.start + Double(item / place.columns) * place.itemLength
      let span = outer.span(from: start, to: start + place.itemLength)
      let rest = outer.restEnd(enter: span.enter)
      let leave = span.leave.isFinite ? span.leave : max(rest, span.enter + leastRest)
      let end = min(item + place.columns, far.upperBound)
      while item < end {
        let cell = WindowCell(section: place.section, item: item)
        add(cell, span, leave: leave, isFar: !near.contains(item), &table)
        item += 1
      }
    }
  }

  private mutating func addRow(
    _ place: Place, _ section: VisibleWindow.Section, _ inner: AxisForecast, _ band: Band?,
    _ outer: AxisForecast, _ table: inout CellTable
  ) {
    let reach = reach(of: inner, cells: inner.viewLength / place.itemLength)
    let (near, far) = note(place, section, reach, isLooked: band != nil)
    guard let band else { return }
    for item in far {
      let start = Double(item) * place.itemLength
      var span = inner.span(from: start, to: start + place.itemLength)
      // What lies aside is not looked at before its row is seen.
      guard span.isVisible || band.span.isVisible else { continue }
      // Seen where and while both scrolls show it.
      let rest = max(
        inner.restEnd(enter: span.enter),
        outer.restEnd(enter: max(band.span.enter, span.enter)))
      span.enter = max(span.enter, band.span.enter)
      span.leave = min(span.leave, band.span.leave)
      span.weight *= band.span.weight
      span.isVisible = span.isVisible && band.span.isVisible
      let leave = span.leave.isFinite ? span.leave : max(rest, span.enter + leastRest)
      guard leave > span.enter else { continue }
      let isFar = band.isFar || !near.contains(item)
      add(WindowCell(section: place.section, item: item), span, leave: leave, isFar: isFar, &table)
    }
  }

  /// Notes which items of a section are looked at and which are kept.
  private mutating func note(
    _ place: Place, _ section: VisibleWindow.Section, _ reach: Reach, isLooked: Bool = true
  ) -> (near: Range<Int>, far: Range<Int>) {
    let far = isLooked ? place.items(in: reach.far, count: section.itemCount) : 0..<0
    items[place.section] = (far, place.items(in: reach.kept, count: section.itemCount))
    return (place.items(in: reach.near, count: section.itemCount), far)
  }

  private mutating func add(
    _ cell: WindowCell, _ span: AxisForecast.Span, leave: Double, isFar: Bool,
    _ table: inout CellTable
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
        isVisible: span.isVisible,
        wantsPreview: configuration.previewShare != nil && state.preview < .held, isFar: isFar))
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
