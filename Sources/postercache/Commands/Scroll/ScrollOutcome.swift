import PosterCache
import ScrollReplay

/// What a replayed scroll came to.
struct ScrollOutcome: Sendable {
  /// Something that could not be had.
  struct Failure: Sendable {
    /// The poster's or the page's address, without credentials; `nil` for a page that has none.
    var address: PosterAddress?
    var error: PosterError
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

  /// How the command ends when nobody interrupted it.
  var exitStatus: CommandStatus {
    if pageFailures.contains(where: { $0.error.code == .unauthorized }) { return .refused }
    guard let first = failures.first else { return .success }
    if pages == 0, !options.isSimulated { return first.error.isOutage ? .originDown : .failure }
    // One poster that came, or one failure of another kind, shows that the origin is there.
    let isDown =
      posters == 0 && !posterFailures.isEmpty && posterFailures.allSatisfy(\.error.isOutage)
    return isDown ? .originDown : .failure
  }
}
