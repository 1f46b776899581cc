import PosterCache

/// What was on the screen during a scroll, cell by cell, and when pictures came.
///
/// Told what is visible when, which cells show a picture since when, and what was fetched. Times are seconds
/// from the beginning of the scroll, in ascending order.
struct ScrollTimeline: Sendable, Equatable {
  /// One time that a cell was visible.
  struct Showing: Sendable, Equatable {
    var begin: Double
    /// When it left the screen; infinite while it is on it.
    var end: Double
    /// When the first picture of it was on the screen, of whichever size; `nil` for never.
    var anyAt: Double?
    /// When the picture of the wanted size was on the screen; `nil` for never.
    var fullAt: Double?
  }

  /// What happened to a cell.
  struct Cell: Sendable, Equatable {
    /// In ascending order, without overlaps.
    var showings: [Showing] = []
    /// When the first picture of it had been fetched, visible or not; `nil` for never.
    var arrivedAt: Double?
    /// Whether there is no picture for it.
    var hasNoPicture = false
    /// The largest picture that it can show.
    fileprivate var shows: WindowAsk.Rung?

    init(showings: [Showing] = [], arrivedAt: Double? = nil, hasNoPicture: Bool = false) {
      self.showings = showings
      self.arrivedAt = arrivedAt
      self.hasNoPicture = hasNoPicture
    }
  }

  /// How long the scroll took.
  private(set) var seconds: Double
  /// What to call each section, from top to bottom.
  let sections: [String]
  /// Every cell that was visible or fetched, and those without a picture.
  private(set) var cells: [WindowCell: Cell]
  private var visible: [Range<Int>] = []

  /// - Parameter cells: what has happened so far.
  init(seconds: Double = 0, sections: [String], cells: [WindowCell: Cell] = [:]) {
    self.seconds = seconds
    self.sections = sections
    self.cells = cells
  }

  // MARK: - Events

  /// These items of each section are visible from now on.
  mutating func screenDidChange(to ranges: [Range<Int>], at seconds: Double) {
    for section in 0..<max(ranges.count, visible.count) {
      let old = section < visible.count ? visible[section] : 0..<0
      let new = section < ranges.count ? ranges[section] : 0..<0
      guard old != new else { continue }
      for item in old where !new.contains(item) {
        let place = WindowCell(section: section, item: item)
        if let last = cells[place]?.showings.indices.last {
          cells[place]?.showings[last].end = seconds
        }
      }
      for item in new where !old.contains(item) {
        let place = WindowCell(section: section, item: item)
        let shows = cells[place]?.shows
        cells[place, default: Cell()].showings.append(
          Showing(
            begin: seconds, end: .infinity, anyAt: shows == nil ? nil : seconds,
            fullAt: shows == .full ? seconds : nil))
      }
    }
    visible = ranges
  }

  /// A cell can show a picture from now on; where it is not visible, from when it becomes so.
  mutating func pictureDidAppear(
    in place: WindowCell, _ rung: WindowAsk.Rung, at seconds: Double
  ) {
    var cell = cells[place] ?? Cell()
    cell.shows = max(cell.shows ?? rung, rung)
    if let last = cell.showings.indices.last, cell.showings[last].end == .infinity {
      if cell.showings[last].anyAt == nil { cell.showings[last].anyAt = seconds }
      if rung == .full, cell.showings[last].fullAt == nil { cell.showings[last].fullAt = seconds }
    }
    cells[place] = cell
  }

  /// A cell, which is not visible, shows nothing any more, and has to get its picture again.
  mutating func pictureDidVanish(from place: WindowCell) {
    cells[place]?.shows = nil
  }

  /// There is no picture for a cell.
  mutating func cellHasNoPicture(_ place: WindowCell) {
    cells[place, default: Cell()].hasNoPicture = true
  }

  /// A picture was fetched for a cell.
  mutating func pictureDidArrive(for place: WindowCell, at seconds: Double) {
    if cells[place]?.arrivedAt == nil { cells[place, default: Cell()].arrivedAt = seconds }
  }

  /// It is over.
  mutating func didEnd(at seconds: Double) {
    screenDidChange(to: [], at: seconds)
    self.seconds = seconds
  }
}
