/// Decides what to load, what to prefetch in which order, what to cancel and when to ask for the next page,
/// from what is visible and how it moves.
///
/// A pure value: no clock, no lock, no transfer. Whoever drives it reports what happens, and does what
/// ``plan(at:link:)`` and ``takeNext()`` say. A plan is solved afresh each time, in these steps:
///
/// 1. ``WindowForecast`` predicts when each cell near the way of the scroll enters and leaves the screen.
/// 2. ``FetchSchedule`` orders them by entry, and leaves out what would arrive too late or would delay
///    others for too long.
/// 3. What does not fit into the budget is left out from the end.
///
/// All lengths are points, all times seconds of any one clock. A plan takes time in proportion to the cells
/// that it looks at, which are those near the window, however long the list is.
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

  private let configuration: Configuration
  private var outer = MotionTracker()
  private var viewLength = 0.0
  private var rows: [Int: MotionTracker] = [:]
  private var frames = SectionFrames()
  private var cells = CellTable()
  /// The last plan, in order.
  private var planned: [(ask: WindowAsk, isVisible: Bool)] = []
  private var nextPlanned = 0
  private var inFlightLimit = 0
  private var now = 0.0

  /// What was visible when the last plan was made.
  public private(set) var visibleCells: Set<WindowCell> = []

  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
  }

  /// The sections, from top to bottom. What is in flight for items that are gone is cancelled by the next
  /// plan.
  public var sections: [Section] = [] {
    didSet {
      frames = SectionFrames(sections)
      for index in oldValue.indices {
        let count = index < sections.count ? sections[index].itemCount : 0
        if count < oldValue[index].itemCount {
          cells.itemsWereRemoved(from: index, startingAt: count)
        }
      }
    }
  }

  // MARK: - Events

  /// The sections' scroll stands at `offset`, seen through `viewLength`, at the time `seconds`.
  public mutating func didScroll(to offset: Double, viewLength: Double, at seconds: Double) {
    outer.didMove(to: offset, at: seconds)
    if viewLength.isFinite { self.viewLength = max(viewLength, 0) }
  }

  /// A row stands at `offset` of its own scroll at the time `seconds`.
  public mutating func row(_ section: Int, didScrollTo offset: Double, at seconds: Double) {
    rows[section, default: MotionTracker()].didMove(to: offset, at: seconds)
  }

  /// Items without a picture, which are never asked for.
  public mutating func cellHasNoPicture(_ cell: WindowCell) {
    cells.cellHasNoPicture(cell)
  }

  /// A picture is there.
  ///
  /// - Parameter bytes: what it takes of the budget until it has been visible.
  public mutating func askDidFinish(_ ask: WindowAsk, bytes: Int, at seconds: Double) {
    now = max(now, seconds)
    cells.askDidFinish(ask, bytes: bytes)
  }

  /// A picture could not be had; it is not asked for again until the cell has left the window.
  public mutating func askDidFail(_ ask: WindowAsk) {
    cells.askDidFail(ask)
  }

  /// The items of `section` are other ones from now on.
  public mutating func sectionWasReplaced(_ section: Int) {
    cells.itemsWereRemoved(from: section, startingAt: 0)
    rows[section] = nil
  }

  // MARK: - Plans

  /// What to do now, given what is known of the link.
  public mutating func plan(at seconds: Double, link: LinkFigures?) -> WindowPlan {
    let link = link ?? .assumed
    var forecast = WindowForecast(configuration, aheadScreens: configuration.aheadScreens)
    let axis = AxisForecast(
      outer.motion(at: seconds), direction: outer.direction, viewLength: viewLength,
      contentLength: frames.end)
    let rows = rows
    forecast.addSections(
      sections, frames, outer: axis,
      inner: { index, section in
        guard case .row(_, let itemLength, let viewLength) = section.layout else { return nil }
        let row = rows[index] ?? MotionTracker()
        return AxisForecast(
          row.motion(at: seconds), direction: row.direction, viewLength: viewLength,
          contentLength: Double(section.itemCount) * itemLength)
      }, &cells)
    return plan(forecast, link: link, at: seconds)
  }

  private mutating func plan(
    _ forecast: WindowForecast, link: LinkFigures, at seconds: Double
  ) -> WindowPlan {
    now = max(now, seconds)
    var plan = WindowPlan()
    plan.nextPages = forecast.nextPages
    plan.examinedCount = forecast.examinedCount
    inFlightLimit = Self.inFlightLimit(link, isLadder: configuration.previewShare != nil)
    plan.inFlightLimit = inFlightLimit
    planned.removeAll(keepingCapacity: true)
    nextPlanned = 0
    var bytes = cells.unseenBytes
    for (cell, rung) in order(forecast.cells, link) {
      let ask = WindowAsk(cell.cell, rung)
      if cell.isVisible {
        plan.load.append(ask)
      } else {
        let share = rung == .full ? 1 : configuration.previewShare ?? 1
        bytes += Int(link.meanBytes * share)
        guard bytes <= configuration.byteBudget else { continue }
        plan.prefetch.append(ask)
      }
      planned.append((ask, cell.isVisible))
    }
    visibleCells = forecast.visible
    plan.cancel = cancel(link)
    if cells.count > 4 * forecast.examinedCount + 512 {
      cells.keep { forecast.kept[$0.section]?.contains($0.item) ?? false }
    }
    return plan
  }

  /// What to fetch, in order.
  private func order(
    _ cells: [WindowForecast.Cell], _ link: LinkFigures
  ) -> [(WindowForecast.Cell, WindowAsk.Rung)] {
    let service = link.meanBytes / link.bytesPerSecond
    func candidates(
      _ indices: some Sequence<Int>, _ service: Double
    ) -> [FetchSchedule.Candidate] {
      indices.map { index in
        let cell = cells[index]
        return FetchSchedule.Candidate(
          enter: cell.enter, leave: cell.leave, weight: cell.weight, service: service, index: index)
      }
    }
    guard let share = configuration.previewShare else {
      let all = candidates(cells.indices, service)
      return FetchSchedule.order(all, delay: link.firstByteSeconds).map { (cells[$0.index], .full) }
    }
    // Whose wanted size would come too late gets a preview first, if that comes in time.
    var finish = link.firstByteSeconds
    var late: [Int] = []
    for index in cells.indices.sorted(by: { (cells[$0].enter, $0) < (cells[$1].enter, $1) }) {
      finish += service
      if !cells[index].hasPreview, finish > cells[index].enter { late.append(index) }
    }
    let previews = FetchSchedule.order(
      candidates(late, service * share), delay: link.firstByteSeconds)
    let first = Set(previews.map(\.index))
    let others = FetchSchedule.order(
      candidates(cells.indices.lazy.filter { !first.contains($0) }, service),
      delay: link.firstByteSeconds + Double(previews.count) * service * share)
    return previews.map { (cells[$0.index], .preview) } + others.map { (cells[$0.index], .full) }
  }

  /// What was started, is not planned, and has not begun to arrive; and what is in flight for items that are
  /// gone.
  private mutating func cancel(_ link: LinkFigures) -> [WindowAsk] {
    var cancelled = cells.takeOrphans()
    guard !cells.inFlight.isEmpty else { return cancelled }
    let wanted = Set(planned.lazy.map(\.ask))
    for (ask, started) in cells.inFlight where !wanted.contains(ask) {
      guard !visibleCells.contains(ask.cell), now < started + link.firstByteSeconds else {
        continue
      }
      cancelled.append(ask)
    }
    for ask in cancelled { cells.askWasCancelled(ask) }
    return cancelled.sorted { ($0.cell, $0.rung) < ($1.cell, $1.rung) }
  }

  /// What keeps the link full, and three more that are about to be received.
  private static func inFlightLimit(_ link: LinkFigures, isLadder: Bool) -> Int {
    let mean = link.meanBytes * (isLadder ? 0.5 : 1)
    let pipe = link.bytesPerSecond * link.firstByteSeconds / mean
    return max(4, min(32, Int(pipe.rounded(.up)) + 3))
  }

  /// What to start next, by the last plan; `nil` if as much is in flight as should be, or nothing is left.
  /// What is returned counts as in flight until ``askDidFinish(_:bytes:at:)``, ``askDidFail(_:)`` or a plan's
  /// ``WindowPlan/cancel``.
  public mutating func takeNext() -> (ask: WindowAsk, isVisible: Bool)? {
    while nextPlanned < planned.count, cells.inFlight.count < inFlightLimit {
      let next = planned[nextPlanned]
      nextPlanned += 1
      if cells.askDidStart(next.ask, at: now) { return next }
    }
    return nil
  }

  /// What is in flight.
  public var inFlight: Set<WindowAsk> { Set(cells.inFlight.keys) }
}
