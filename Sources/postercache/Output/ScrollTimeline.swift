import PosterCache

/// What was on the screen during a scroll, cell by cell, and when pictures came.
struct ScrollTimeline: Sendable, Equatable {
  /// One time that a cell was visible; in seconds from the beginning of the scroll.
  struct Showing: Sendable, Equatable {
    var begin: Double
    /// When it left the screen; the end of the scroll if it did not.
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
  }

  /// How long the scroll took, in seconds.
  var seconds: Double
  /// What to call each section, from top to bottom.
  var sections: [String]
  /// Every cell that was visible or fetched.
  var cells: [WindowCell: Cell]
}
