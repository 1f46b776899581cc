/// What a window wants done now: see ``VisibleWindow/plan(at:link:)``.
public struct WindowPlan: Sendable, Equatable {
  /// Pictures for visible cells, the most urgent first; those in flight are among them, those that are
  /// there already are not.
  public var load: [WindowAsk] = []
  /// Pictures for cells that will be visible soon, the most urgent first, in the same way.
  public var prefetch: [WindowAsk] = []
  /// What was started and is not wanted any more. Never for a visible cell.
  public var cancel: [WindowAsk] = []
  /// Sections, in ascending order, whose next page is wanted now.
  public var nextPages: [Int] = []
  /// How many pictures should be in flight at once.
  public var inFlightLimit = 0
  /// Cells that were looked at to make this plan: what a plan costs.
  public var examinedCount = 0

  public init() {}
}
