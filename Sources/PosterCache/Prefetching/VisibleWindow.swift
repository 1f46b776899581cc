/// Decides what to load, what to prefetch in which order, what to cancel and when to ask for the next page,
/// from what is visible and how it moves.
///
/// A pure value: no clock, no lock, no transfer. Whoever drives it reports what happens and does what
/// ``plan(at:link:)`` and ``takeNext()`` say.
public struct VisibleWindow: Sendable {
  /// How far it looks, and what it may spend.
  public struct Configuration: Sendable, Hashable {
    /// Screens past the predicted stop that are looked at, at most; fewer where the link is fast.
    public var aheadScreens = 1.5
    /// Screens on the other side.
    public var behindScreens = 0.5
    /// Bytes of pictures that are in flight or there and have not been visible yet, at most.
    public var byteBudget = 64 << 20
    /// Size of a preview as a share of the wanted size; `nil` (the default) for sources without one.
    public var previewShare: Double?
    /// The next page is asked for when the visible end is nearer to the end of the content than this
    /// many screens; 0 for when the last item is visible.
    public var pageAheadScreens = 1.0

    public init() {}
  }

  /// How the items of a section stand.
  public enum Layout: Sendable, Hashable {
    /// Rows of `columns` items, each row `rowLength` long, that scroll with the sections.
    case grid(columns: Int, rowLength: Double)
    /// One row of `length` in the direction of the sections, which scrolls sideways on its own: items of
    /// `itemLength`, seen through `viewLength`.
    case row(length: Double, itemLength: Double, viewLength: Double)
  }

  /// A section, as the program shows it.
  public struct Section: Sendable, Hashable {
    public var layout: Layout
    /// Items loaded so far.
    public var itemCount: Int
    /// Space before its first row: headers, margins.
    public var spacingBefore: Double
    /// Whether there is a next page that may be asked for now.
    public var canAskForPage: Bool

    public init(
      _ layout: Layout, itemCount: Int = 0, spacingBefore: Double = 0, canAskForPage: Bool = false
    ) {
      self.layout = layout
      self.itemCount = itemCount
      self.spacingBefore = spacingBefore
      self.canAskForPage = canAskForPage
    }
  }

  public init(_ configuration: Configuration = Configuration()) {}

  /// The sections, from top to bottom. What is in flight for items that are gone is cancelled by the next
  /// plan.
  public var sections: [Section] = []

  // MARK: - Events

  /// The sections' scroll stands at `offset`, seen through `viewLength`, at the time `seconds`.
  public mutating func didScroll(to offset: Double, viewLength: Double, at seconds: Double) {}

  /// A row stands at `offset` of its own scroll at the time `seconds`.
  public mutating func row(_ section: Int, didScrollTo offset: Double, at seconds: Double) {}

  /// Items without a picture, which are never asked for.
  public mutating func cellHasNoPicture(_ cell: WindowCell) {}

  /// A picture is there.
  public mutating func askDidFinish(_ ask: WindowAsk, bytes: Int, at seconds: Double) {}

  /// A picture could not be had; it is not asked for again until the cell has left the window.
  public mutating func askDidFail(_ ask: WindowAsk) {}

  /// The items of `section` are other ones from now on.
  public mutating func sectionWasReplaced(_ section: Int) {}

  // MARK: - Plans

  /// What to do now, given what is known of the link.
  public mutating func plan(at seconds: Double, link: LinkFigures?) -> WindowPlan { WindowPlan() }

  /// What to start next, by the last plan; `nil` if as much is in flight as should be, or nothing is left.
  /// What is returned counts as in flight until ``askDidFinish(_:bytes:at:)``, ``askDidFail(_:)`` or a plan's
  /// ``WindowPlan/cancel``.
  public mutating func takeNext() -> (ask: WindowAsk, isVisible: Bool)? { nil }

  /// What is in flight.
  public var inFlight: Set<WindowAsk> { [] }

  /// Whether a cell is visible, as of the last event.
  public func isVisible(_ cell: WindowCell) -> Bool { false }
}
