import PosterCache

/// The moving window of the library.
package struct AdaptivePolicy: ScrollPolicy {
  private var window: VisibleWindow
  private let knownLink: LinkFigures?

  /// - Parameter knownLink: what the link is, for a plan that does not depend on what has been measured.
  package init(
    _ configuration: VisibleWindow.Configuration = VisibleWindow.Configuration(),
    knownLink: LinkFigures? = nil
  ) {
    window = VisibleWindow(configuration)
    self.knownLink = knownLink
  }

  package mutating func screenDidChange(to state: ScreenState) {
    if window.sections != state.layout.sections { window.sections = state.layout.sections }
    window.didScroll(
      to: state.offset, viewLength: state.layout.viewHeight, at: state.seconds)
    for (row, offset) in state.rowOffsets.sorted(by: { $0.key < $1.key }) {
      window.row(row, didScrollTo: offset, at: state.seconds)
    }
  }

  package mutating func plan(at seconds: Double, link: LinkFigures?) -> WindowPlan {
    window.plan(at: seconds, link: knownLink ?? link)
  }

  package mutating func takeNext() -> (ask: WindowAsk, isVisible: Bool)? { window.takeNext() }

  package mutating func askDidFinish(_ ask: WindowAsk, bytes: Int, at seconds: Double) {
    window.askDidFinish(ask, bytes: bytes, at: seconds)
  }

  package mutating func askDidFail(_ ask: WindowAsk) { window.askDidFail(ask) }

  package mutating func cellHasNoPicture(_ cell: WindowCell) { window.cellHasNoPicture(cell) }
}
