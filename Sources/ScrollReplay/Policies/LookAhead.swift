import PosterCache

/// Which cells a policy wants that knows nothing but the screen: the visible ones, and a fixed distance.
package enum LookAhead: Sendable, Hashable {
  /// What becomes visible is fetched, and let go of when it leaves: a cell without any prefetching.
  case none
  /// So many items beyond the visible ones in the direction of the last movement; after a reversal those on
  /// the other side are let go of (Glide's `ListPreloader`).
  case items(Int)
  /// So many screens in the direction of the last movement, and so many on the other side (Texture's
  /// preload range: 2.5 and 1.5).
  case screens(lead: Double, trail: Double)

  /// The cells beyond the visible ones, the most wanted first.
  func cells(of state: ScreenState) -> [WindowCell] {
    let sections: [WindowCell]
    switch self {
    case .none: return []
    case .items(let count): sections = state.cells(beyondEnd: state.isForward, count: count)
    case .screens(let lead, let trail):
      let view = state.layout.viewHeight
      sections =
        state.cells(beyondEnd: state.isForward, length: lead * view)
        + state.cells(beyondEnd: !state.isForward, length: trail * view)
    }
    let rows = state.visibleRows.flatMap { cells(ofRow: $0, of: state) }
    return state.rowsMoved.isEmpty ? sections + rows : rows + sections
  }

  private func cells(ofRow row: Int, of state: ScreenState) -> [WindowCell] {
    let isForward = !state.backwardRows.contains(row)
    switch self {
    case .none: return []
    case .items(let count): return state.cells(ofRow: row, beyondEnd: isForward, count: count)
    case .screens(let lead, let trail):
      let items = state.layout.viewWidth / state.layout.cellWidth
      return state.cells(ofRow: row, beyondEnd: isForward, count: Int(lead * items))
        + state.cells(ofRow: row, beyondEnd: !isForward, count: Int(trail * items))
    }
  }
}

/// The policy that wants what ``LookAhead`` says: visible cells first, and lets go of everything else.
///
/// Visible cells are fetched in the order in which they became visible, as cells do that fetch for
/// themselves; those of ``LookAhead/screens(lead:trail:)``, which are fetched for them, from top to bottom.
package struct LookAheadPolicy: ScrollPolicy {
  private let lookAhead: LookAhead
  private let slots: Int?

  private var state: ScreenState?
  /// Visible cells in the order in which they became so.
  private var appeared: [WindowCell] = []
  private var wanted: [WindowCell] = []
  /// Where ``wanted`` goes on with what has not been started.
  private var next = 0
  private var inFlight: Set<WindowCell> = []
  /// Cells whose picture is there, cannot be had, or does not exist.
  private var settled = CellMap(false)
  /// Whether the screen is another one than at the last plan.
  private var hasMoved = true
  private var limit = 4

  /// - Parameter slots: how many transfers at once; `nil` for as many as keep the link busy.
  package init(_ lookAhead: LookAhead, slots: Int? = nil) {
    self.lookAhead = lookAhead
    self.slots = slots
    if let slots { limit = slots }
  }

  package mutating func screenDidChange(to state: ScreenState) {
    let before = self.state
    self.state = state
    if before?.visible != state.visible || before?.isForward != state.isForward
      || before?.backwardRows != state.backwardRows || before?.rowsMoved != state.rowsMoved
      || before?.layout != state.layout
    {
      hasMoved = true
    }
    guard before?.visible != state.visible else { return }
    appeared.removeAll { !state.isVisible($0) }
    appeared += state.visibleCells.filter { before?.isVisible($0) != true }
  }

  package mutating func plan(at seconds: Double, link: LinkFigures?) -> WindowPlan {
    guard let state else { return WindowPlan() }
    if slots == nil { limit = (link ?? .assumed).adaptiveSlots }
    var plan = WindowPlan()
    plan.inFlightLimit = limit
    next = 0
    if hasMoved {
      hasMoved = false
      let visible: [WindowCell]
      if case .screens = lookAhead { visible = state.visibleCells } else { visible = appeared }
      wanted = visible + lookAhead.cells(of: state)
      plan.examinedCount = wanted.count
      if !inFlight.isEmpty {
        let dropped = inFlight.subtracting(wanted)
        plan.cancel = dropped.sorted().map { WindowAsk($0) }
        inFlight.subtract(dropped)
      }
    }
    wanted.removeAll { settled[$0] }
    for cell in wanted {
      if state.isVisible(cell) {
        plan.load.append(WindowAsk(cell))
      } else {
        plan.prefetch.append(WindowAsk(cell))
      }
    }
    return plan
  }

  package mutating func takeNext() -> (ask: WindowAsk, isVisible: Bool)? {
    while next < wanted.count, inFlight.count < limit, let state {
      let cell = wanted[next]
      next += 1
      if !settled[cell], inFlight.insert(cell).inserted {
        return (WindowAsk(cell), state.isVisible(cell))
      }
    }
    return nil
  }

  package mutating func askDidFinish(_ ask: WindowAsk, bytes: Int, at seconds: Double) {
    inFlight.remove(ask.cell)
    settled[ask.cell] = true
  }

  package mutating func askDidFail(_ ask: WindowAsk) {
    inFlight.remove(ask.cell)
    settled[ask.cell] = true
  }

  package mutating func cellHasNoPicture(_ cell: WindowCell) {
    settled[cell] = true
  }
}
