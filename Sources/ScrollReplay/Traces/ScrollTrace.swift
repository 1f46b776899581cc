import PosterCache

/// How somebody scrolled: positions over time.
package struct ScrollTrace: Sendable, Hashable {
  /// Where the scroll stood at a time.
  package struct Sample: Sendable, Hashable {
    /// Seconds since the trace began.
    package var seconds: Double
    /// Offset of the sections' scroll, in points.
    package var offset: Double
    /// Offsets of the rows' own scrolls, by section; sections without an own scroll may be missing.
    package var rowOffsets: [Int: Double]

    package init(seconds: Double, offset: Double, rowOffsets: [Int: Double] = [:]) {
      self.seconds = seconds
      self.offset = offset
      self.rowOffsets = rowOffsets
    }
  }

  /// What it shows, for tables and plots.
  package var name: String
  /// In ascending order of time.
  package var samples: [Sample]

  package init(name: String, samples: [Sample]) {
    self.name = name
    self.samples = samples
  }
}
