import PosterCache

/// Decides what to fetch while somebody scrolls; as ``VisibleWindow`` is told and asked.
///
/// A pure value. Whoever drives it tells what happens, asks for a plan, lets go of what the plan cancels and
/// starts what ``takeNext()`` gives.
package protocol ScrollPolicy: Sendable {
  /// Whether it wants ``transfersDidProgress(_:)``.
  var wantsProgress: Bool { get }

  /// The screen stands so now.
  mutating func screenDidChange(to state: ScreenState)

  /// What is still to come of transfers in flight, in bytes.
  mutating func transfersDidProgress(_ bytesLeft: [(ask: WindowAsk, bytes: Double)])

  /// What to do now; see ``VisibleWindow/plan(at:link:)``.
  mutating func plan(at seconds: Double, link: LinkFigures?) -> WindowPlan

  /// What to start next; see ``VisibleWindow/takeNext()``.
  mutating func takeNext() -> (ask: WindowAsk, isVisible: Bool)?

  /// A picture is there.
  mutating func askDidFinish(_ ask: WindowAsk, bytes: Int, at seconds: Double)

  /// A picture could not be had.
  mutating func askDidFail(_ ask: WindowAsk)

  /// There is no picture for a cell.
  mutating func cellHasNoPicture(_ cell: WindowCell)
}

extension ScrollPolicy {
  package var wantsProgress: Bool { false }

  package mutating func transfersDidProgress(_ bytesLeft: [(ask: WindowAsk, bytes: Double)]) {}
}
