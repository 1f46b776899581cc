import PosterCache

/// What a viewer saw of a scroll, and what it cost.
package struct ViewerReport: Sendable, Hashable {
  /// Cells that were visible at least once.
  package var cells = 0
  /// How often a cell became visible.
  package var visits = 0
  /// Visits that ended before anything was there.
  package var neverSeen = 0
  /// The time for which cells were visible, added up, and how much of it they were blank, or showed their
  /// preview only.
  package var visibleMilliseconds = 0.0
  package var blankMilliseconds = 0.0
  package var softMilliseconds = 0.0
  /// How much of the blank time was that of cells that were not there from the beginning, for which nothing
  /// could have been fetched ahead.
  package var laterBlankMilliseconds = 0.0
  /// From becoming visible to showing something, over all visits; those that ended blank count with their
  /// whole time.
  package var waitMilliseconds = Waits()
  /// Pictures that were fetched for cells that were not visible yet, and those whose cell became so.
  package var prefetched = 0
  package var used = 0
  /// Bytes that came, and those that came for cells that were never visible.
  package var receivedBytes = 0
  package var wastedBytes = 0
  /// Transfers that were let go of, by what they were doing.
  package var cancelled = FetchStatistics.Cancelled.none
  /// Connections that were closed with a transfer on them.
  package var reconnects = 0
  /// Pages that were asked for.
  package var pagesAsked = 0

  /// Quantiles, in milliseconds.
  package struct Waits: Sendable, Hashable {
    package var p50 = 0.0
    package var p95 = 0.0
    package var p99 = 0.0

    package init(p50: Double = 0, p95: Double = 0, p99: Double = 0) {
      self.p50 = p50
      self.p95 = p95
      self.p99 = p99
    }
  }

  package init() {}

  /// Blank time as a share of visible time; 0 if nothing was visible.
  package var blankRatio: Double { share(blankMilliseconds, of: visibleMilliseconds) }
  /// Time with the preview only as a share of visible time.
  package var softRatio: Double { share(softMilliseconds, of: visibleMilliseconds) }
  /// Wasted bytes as a share of all.
  package var wasteShare: Double { share(Double(wastedBytes), of: Double(receivedBytes)) }

  private func share(_ part: Double, of whole: Double) -> Double { whole > 0 ? part / whole : 0 }
}
