import PosterCache
import ScrollReplay

/// What a replayed scroll came to.
struct ScrollOutcome: Sendable {
  /// Something that could not be had.
  struct Failure: Sendable {
    /// The poster's or the page's address, without credentials; `nil` for a page that has none.
    var address: PosterAddress?
    var error: PosterError
    /// What messages about the page's list begin with; `nil` for a poster.
    var source: String?
  }

  /// What was scrolled, and how, for the report.
  var options: Settings.Scroll
  /// The trace's name.
  var trace: String
  var report: ViewerReport
  var timeline: ScrollTimeline
  /// How long it took, in seconds.
  var seconds: Double
  /// Frames drawn; plans made in a simulation.
  var frames: Int
  /// Posters that came.
  var posters = 0
  /// Connections that were opened, and pages that were asked for; `nil` in a simulation, which has neither.
  var connections: Int?
  var pagesAsked: Int?
  /// Pages that came.
  var pages = 0
  var pageFailures: [Failure] = []
  /// Posters that could not be had, in the order of their cells.
  var posterFailures: [Failure] = []

  /// Everything that failed: pages, then posters.
  var failures: [Failure] { pageFailures + posterFailures }

  /// Whether the lists could not be had at all, so that there is nothing to report but why.
  var isUnavailable: Bool { pages == 0 && !pageFailures.isEmpty }

  /// How the command ends when nobody interrupted it.
  var exitStatus: CommandStatus {
    if pageFailures.contains(where: { $0.error.code == .unauthorized }) { return .refused }
    guard !failures.isEmpty else { return .success }
    if isUnavailable, let error = pageFailures.first?.error {
      // A file that cannot be read is a wrong word on the command line.
      let isUsage = error.code == .invalidConfiguration
      return error.isOutage ? .originDown : isUsage ? .usage : .failure
    }
    // One poster that came, or one failure of another kind, shows that the origin is there.
    let isDown =
      posters == 0 && !posterFailures.isEmpty && posterFailures.allSatisfy(\.error.isOutage)
    return isDown ? .originDown : .failure
  }
}
