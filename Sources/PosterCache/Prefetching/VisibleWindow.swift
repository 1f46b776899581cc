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
    public var aheadScreens = 2.0
    /// Screens on the other side.
    public var behindScreens = 0.25
    /// Bytes of pictures that are in flight or there and have not been visible yet, at most.
    public var byteBudget = 64 << 20
    /// Size of a preview as a share of the wanted size; `nil` (the default) for sources without one.
    public var previewShare: Double?
    /// The next page is asked for when the visible end is nearer to the end of the content than this
    /// many screens; 0 for when the last item is visible.
    public var pageAheadScreens = 1.0

    public init() {}

    /// The same without distances that are none.
    var possible: Configuration {
      func possible(_ screens: Double) -> Double { screens > 0 ? min(screens, 1000) : 0 }
      var configuration = self
      configuration.aheadScreens = possible(aheadScreens)
      configuration.behindScreens = possible(behindScreens)
      configuration.pageAheadScreens = possible(pageAheadScreens)
      configuration.previewShare = previewShare.flatMap { $0 > 0 ? min($0, 1) : nil }
      return configuration
    }
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

  private typealias Rung = WindowAsk.Rung

  private let configuration: Configuration
  private var outer = MotionTracker(habitualSpeed: Self.firstSpeed)
  private var viewLength = 0.0
  private var rows: [Int: MotionTracker] = [:]
  private var frames = SectionFrames()
  private var cells = CellTable()
  /// The last plan, in order.
  private var planned: [(ask: WindowAsk, isVisible: Bool)] = []
  private var nextPlanned = 0
  private var inFlightLimit = 0
  private var now = 0.0
  private var plansSinceForgetting = 0
  /// How many of the last pictures were previews: whoever measures the link does not tell them apart.
  private var previewFraction = 0.0

  /// How fast a scroll is expected to go before it has gone anywhere, in points per second.
  private static let firstSpeed = 4000.0
  /// The same for a row, which may never be touched.
  private static let firstRowSpeed = 100.0
  /// What is far away is forgotten at most every so many plans.
  private static let forgettingInterval = 16

  /// What takes the link longer, in seconds, is not let finish while something visible waits.
  private static let longestFinish = 0.25

  /// Nobody has a longer screen, and a plan costs what it shows.
  static let longestView = 100_000.0

  /// What was visible when the last plan was made.
  public private(set) var visibleCells: Set<WindowCell> = []
  /// Whether somebody dragged the knob of a scroll bar then, so that nothing was worth asking for.
  private(set) var isScrubbed = false

  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration.possible
  }

  /// The sections, from top to bottom. What is in flight for items that are gone is cancelled by the next
  /// plan.
  public var sections: [Section] = [] {
    didSet {
      frames = SectionFrames(sections)
      if sections.count < oldValue.count { rows = rows.filter { $0.key < sections.count } }
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
    if viewLength.isFinite { self.viewLength = min(max(viewLength, 0), Self.longestView) }
  }

  /// A row stands at `offset` of its own scroll at the time `seconds`. Ignored if there is no such section.
  public mutating func row(_ section: Int, didScrollTo offset: Double, at seconds: Double) {
    guard sections.indices.contains(section) else { return }
    rows[section, default: MotionTracker(habitualSpeed: Self.firstRowSpeed)]
      .didMove(to: offset, at: seconds)
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
    previewFraction += ((ask.rung == .preview ? 1 : 0) - previewFraction) / 8
    cells.askDidFinish(ask, bytes: bytes)
  }

  /// The picture of a cell is not at hand any more: it is asked for again where it is wanted.
  public mutating func pictureWasLost(_ cell: WindowCell) {
    cells.pictureWasLost(cell)
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
    let link = fullSize(link?.possible ?? .assumed)
    var forecast = WindowForecast(configuration, link)
    isScrubbed = outer.isScrubbing(at: seconds)
    guard viewLength > 0, !isScrubbed else {
      return plan(forecast, link: link, at: seconds)
    }
    let axis = AxisForecast(
      outer, at: seconds, viewLength: viewLength, contentLength: frames.end)
    let rows = rows
    forecast.addSections(
      frames, outer: axis, cellCount: visibleCells.isEmpty ? 12 : visibleCells.count,
      inner: { index, section in
        guard case .row(_, let itemLength, let viewLength) = section.layout else { return nil }
        return AxisForecast(
          rows[index] ?? MotionTracker(habitualSpeed: Self.firstRowSpeed), at: seconds,
          viewLength: viewLength, contentLength: Double(section.itemCount) * itemLength)
      }, &cells)
    return plan(forecast, link: link, at: seconds)
  }

  /// The link with the mean size of pictures of the wanted size, where what was measured are previews as well.
  private func fullSize(_ link: LinkFigures) -> LinkFigures {
    guard let share = configuration.previewShare else { return link }
    var link = link
    link.meanBytes /= 1 - previewFraction * (1 - min(max(share, 0.01), 1))
    return link
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
    visibleCells = forecast.visible
    var budget = Budget(limit: configuration.byteBudget, used: cells.unseenBytes)
    for (cell, rung) in order(forecast.cells, link) {
      let ask = WindowAsk(cell.cell, rung)
      if cell.isVisible {
        plan.load.append(ask)
      } else if budget.take(bytes(of: ask, link)) {
        plan.prefetch.append(ask)
      } else {
        continue
      }
      planned.append((ask, cell.isVisible))
    }
    plan.cancel = cancel(link, &budget)
    cells.forgetFailed { forecast.items[$0.section]?.near.contains($0.item) ?? false }
    plansSinceForgetting += 1
    let isMuch =
      cells.count > 4 * forecast.examinedCount + 512
      || 2 * cells.unseenBytes > configuration.byteBudget
    if isMuch, plansSinceForgetting >= Self.forgettingInterval {
      plansSinceForgetting = 0
      cells.forget { forecast.items[$0.section]?.kept.contains($0.item) ?? false }
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
      if !cells[index].isFar { finish += service }
      if cells[index].wantsPreview, cells[index].isFar || finish > cells[index].enter {
        late.append(index)
      }
    }
    let previews = FetchSchedule.order(
      candidates(late, service * share), delay: link.firstByteSeconds)
    let first = Set(previews.map(\.index))
    let others = FetchSchedule.order(
      candidates(cells.indices.lazy.filter { !first.contains($0) && !cells[$0].isFar }, service),
      delay: link.firstByteSeconds + Double(previews.count) * service * share)
    // Who looks at a cell waits for its own size; previews of what is far away can wait for that.
    let near = previews.filter { !cells[$0.index].isFar }.map { (cells[$0.index], Rung.preview) }
    let far = previews.filter { cells[$0.index].isFar }.map { (cells[$0.index], Rung.preview) }
    let visible = others.filter { cells[$0.index].isVisible }.map { (cells[$0.index], Rung.full) }
    let rest = others.filter { !cells[$0.index].isVisible }.map { (cells[$0.index], Rung.full) }
    return near + visible + far + rest
  }

  /// What was started and is not planned, unless it has begun to arrive and the budget has room for it; and
  /// what is in flight for items that are gone. On a slow link what has begun is in the way of what is
  /// visible for too long to be let finish.
  private mutating func cancel(_ link: LinkFigures, _ budget: inout Budget) -> [WindowAsk] {
    var cancelled = cells.takeOrphans()
    guard !cells.inFlight.isEmpty else { return cancelled }
    let wanted = Set(planned.lazy.map(\.ask))
    let isInTheWay =
      link.meanBytes / link.bytesPerSecond > Self.longestFinish
      && planned.contains { $0.isVisible && cells.inFlight[$0.ask] == nil }
    let others = cells.inFlight.filter {
      !wanted.contains($0.key) && !visibleCells.contains($0.key.cell)
    }
    for (ask, started) in others.sorted(by: {
      ($0.key.cell, $0.key.rung) < ($1.key.cell, $1.key.rung)
    }) {
      let hasBegun = now >= started + link.firstByteSeconds
      if hasBegun, !isInTheWay, budget.take(bytes(of: ask, link)) { continue }
      cells.askWasCancelled(ask)
      cancelled.append(ask)
    }
    return cancelled
  }

  /// What a picture is expected to take.
  private func bytes(of ask: WindowAsk, _ link: LinkFigures) -> Int {
    let bytes = link.meanBytes * (ask.rung == .full ? 1 : configuration.previewShare ?? 1)
    return Int(min(bytes, 1e12))
  }

  /// What may be spent on what nobody sees.
  private struct Budget {
    let limit: Int
    var used: Int

    /// - Returns: `false` if there is not so much left; then nothing is taken.
    mutating func take(_ bytes: Int) -> Bool {
      guard used + bytes <= limit else { return false }
      used += bytes
      return true
    }
  }

  /// How many pictures to have in flight. With a ladder about half of them are small.
  private static func inFlightLimit(_ link: LinkFigures, isLadder: Bool) -> Int {
    var link = link
    if isLadder { link.meanBytes /= 2 }
    return link.adaptiveSlots
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

  /// Where the first row of `section` begins in the sections' scroll.
  func start(of section: Int) -> Double { frames[section].start }

  /// What is in flight.
  public var inFlight: Set<WindowAsk> { Set(cells.inFlight.keys) }

  /// Whether the picture of a cell near the window is there in the wanted size.
  func holds(_ cell: WindowCell) -> Bool {
    cells.state(of: cell)?.full == .held
  }
}
