import PosterCache
import ScrollReplay

extension Settings {
  /// What `scroll` replays, and against what.
  struct Scroll: Sendable {
    /// The lists, from top to bottom: rows that scroll sideways, then the grid.
    var sections: [Section]
    /// The lists of ``sections``, how many pages and posters of each at most, and how and where they are
    /// asked for.
    var listing: Listing
    var trace: Trace
    /// How long to scroll, in seconds; `nil` for all of the trace.
    var seconds: Double?
    /// What is seen at once, in points.
    var viewport: PixelSize
    /// A cell with the space that belongs to it, in points, of which each is one pixel.
    var cell: PixelSize
    var policy: PolicyName
    /// The small size that comes first where the wanted one would be too late.
    var preview: PosterSize?
    /// The embedded origin's link; `nil` where the servers are somebody's own.
    var link: Link?
    /// Whether nothing is transferred and no time passes.
    var isSimulated: Bool
    /// The file that the timeline is drawn into.
    var plot: String?
    /// The cache directory, if one was named; else a fresh one for this run alone.
    var cacheDirectory: String?

    /// A list and how it is shown.
    struct Section: Sendable, Equatable {
      var list: ListSelection
      /// Whether it is one row that scrolls sideways, or else a grid.
      var isRow: Bool
    }

    /// Where the movements come from.
    enum Trace: Sendable, Equatable {
      case file(String)
      case seed(UInt64, TraceKind)
    }

    /// How slow the embedded origin is made.
    struct Link: Sendable, Equatable {
      var latencyMilliseconds = 80
      /// `nil` for no limit.
      var bytesPerSecond: Int? = 2_500_000
    }

    /// The longest scroll that is replayed, in seconds.
    static let maximumSeconds = 600.0
  }
}

/// The rows that `--rows` knows.
enum RowName: String, CaseIterable, Sendable {
  case similar, recommendations
}
