import PosterCache

/// The planner's scheduling with the true future instead of a prediction: as good as a plan can be that
/// fetches each cell in one size.
package struct OraclePolicy: ScrollPolicy {
  private let future: TrueFuture
  private let bytes: @Sendable (WindowCell) -> Int
  private let link: LinkFigures
  private let slots: Int?
  /// How far it looks, in seconds.
  private static let horizon = 6.0

  private var state: ScreenState?
  private var nextVisit = 0
  /// Visits that lie within the horizon, by the time of entering.
  private var near: [TrueFuture.Visit] = []
  private var wanted: [WindowCell] = []
  private var inFlight: Set<WindowCell> = []
  private var bytesLeft: [WindowCell: Double] = [:]
  private var settled = CellMap(false)
  /// In which plan a cell was looked at last.
  private var lookedAt = CellMap(0)
  private var plans = 0

  /// - Parameters:
  ///   - link: as it is, not as it is measured.
  ///   - slots: how many transfers at once; `nil` for as many as keep the link busy.
  ///   - bytes: how large a cell's picture is.
  package init(
    _ future: TrueFuture, link: LinkFigures, slots: Int? = nil,
    bytes: @escaping @Sendable (WindowCell) -> Int
  ) {
    self.future = future
    self.link = link
    self.slots = slots
    self.bytes = bytes
  }

  package var wantsProgress: Bool { true }

  package mutating func screenDidChange(to state: ScreenState) { self.state = state }

  package mutating func transfersDidProgress(_ bytesLeft: [(ask: WindowAsk, bytes: Double)]) {
    self.bytesLeft = [:]
    for (ask, bytes) in bytesLeft { self.bytesLeft[ask.cell] = bytes }
  }

  package mutating func plan(at seconds: Double, link _: LinkFigures?) -> WindowPlan {
    while nextVisit < future.visits.count,
      future.visits[nextVisit].enter < seconds + Self.horizon
    {
      near.append(future.visits[nextVisit])
      nextVisit += 1
    }
    near.removeAll { $0.leave <= seconds || settled[$0.cell] }
    plans += 1
    var candidates: [FetchSchedule.Candidate] = []
    var cells: [WindowCell] = []
    // Of several visits of a cell, the first one counts.
    for visit in near where lookedAt[visit.cell] != plans {
      lookedAt[visit.cell] = plans
      let left = bytesLeft[visit.cell] ?? Double(bytes(visit.cell))
      candidates.append(
        FetchSchedule.Candidate(
          enter: max(0, visit.enter - seconds), leave: visit.leave - seconds, weight: 1,
          service: left / link.bytesPerSecond, index: cells.count))
      cells.append(visit.cell)
    }
    wanted = FetchSchedule.order(candidates, delay: link.firstByteSeconds).map { cells[$0.index] }
    var plan = WindowPlan()
    plan.load = wanted.filter { state?.isVisible($0) == true }.map { WindowAsk($0) }
    plan.prefetch = wanted.filter { state?.isVisible($0) != true }.map { WindowAsk($0) }
    // What has been started is finished as long as anybody will look at it: stopping it would cost a
    // connection, which is more than the order gains.
    let dropped = inFlight.filter { lookedAt[$0] != plans }
    plan.cancel = dropped.sorted().map { WindowAsk($0) }
    plan.inFlightLimit = slots ?? link.adaptiveSlots
    plan.examinedCount = candidates.count
    inFlight.subtract(dropped)
    return plan
  }

  package mutating func takeNext() -> (ask: WindowAsk, isVisible: Bool)? {
    guard inFlight.count < slots ?? link.adaptiveSlots,
      let cell = wanted.first(where: { !settled[$0] && !inFlight.contains($0) })
    else { return nil }
    inFlight.insert(cell)
    return (WindowAsk(cell), state?.isVisible(cell) == true)
  }

  package mutating func askDidFinish(_ ask: WindowAsk, bytes: Int, at seconds: Double) {
    inFlight.remove(ask.cell)
    settled[ask.cell] = true
  }

  package mutating func askDidFail(_ ask: WindowAsk) {
    inFlight.remove(ask.cell)
    settled[ask.cell] = true
  }

  package mutating func cellHasNoPicture(_ cell: WindowCell) { settled[cell] = true }
}
