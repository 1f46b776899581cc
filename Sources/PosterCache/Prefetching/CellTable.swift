/// What a window knows of the pictures of its cells: which are on their way, which are there.
///
/// Cells far from the window are forgotten from time to time, so that it does not grow with the list.
struct CellTable: Sendable {
  enum Phase: UInt8, Sendable, Comparable {
    case wanted, inFlight, held, failed

    static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
  }

  /// What is known of a cell that something was done for.
  struct State: Sendable {
    var full = Phase.wanted
    var preview = Phase.wanted
    /// Bytes that are there and that nobody has seen.
    var unseenBytes = 0

    subscript(rung: WindowAsk.Rung) -> Phase {
      get { rung == .full ? full : preview }
      set { if rung == .full { full = newValue } else { preview = newValue } }
    }
  }

  /// What is in flight, and since when.
  private(set) var inFlight: [WindowAsk: Double] = [:]
  /// Bytes that are there and that nobody has seen.
  private(set) var unseenBytes = 0
  /// In flight for items that are not there any more.
  private var orphans: [WindowAsk] = []
  private var states: [WindowCell: State] = [:]
  private var failed: Set<WindowCell> = []
  private var withoutPicture: Set<WindowCell> = []

  /// No picture counts for more.
  private static let mostBytes = 1 << 40

  /// Cells about which something is known.
  var count: Int { states.count }

  /// What is known of `cell`; `nil` if it has no picture.
  func state(of cell: WindowCell) -> State? {
    if let state = states[cell] { return state }
    return withoutPicture.contains(cell) ? nil : State()
  }

  mutating func cellHasNoPicture(_ cell: WindowCell) {
    withoutPicture.insert(cell)
  }

  /// - Returns: `false` if it is on its way already, or there.
  mutating func askDidStart(_ ask: WindowAsk, at seconds: Double) -> Bool {
    guard states[ask.cell, default: State()][ask.rung] == .wanted else { return false }
    states[ask.cell, default: State()][ask.rung] = .inFlight
    inFlight[ask] = seconds
    return true
  }

  mutating func askDidFinish(_ ask: WindowAsk, bytes: Int) {
    inFlight[ask] = nil
    states[ask.cell, default: State()][ask.rung] = .held
    guard bytes > 0 else { return }
    let bytes = min(bytes, Self.mostBytes)
    states[ask.cell]?.unseenBytes += bytes
    unseenBytes += bytes
  }

  mutating func pictureWasLost(_ cell: WindowCell) {
    guard let state = states[cell], state.full == .held else { return }
    unseenBytes -= state.unseenBytes
    states[cell]?.unseenBytes = 0
    states[cell]?.full = .wanted
  }

  mutating func askDidFail(_ ask: WindowAsk) {
    inFlight[ask] = nil
    states[ask.cell, default: State()][ask.rung] = .failed
    failed.insert(ask.cell)
  }

  /// `ask` is not wanted any more.
  mutating func askWasCancelled(_ ask: WindowAsk) {
    guard inFlight.removeValue(forKey: ask) != nil else { return }
    states[ask.cell]?[ask.rung] = .wanted
  }

  /// Somebody sees `cell`.
  mutating func cellWasSeen(_ cell: WindowCell) {
    guard unseenBytes > 0, let bytes = states[cell]?.unseenBytes, bytes > 0 else { return }
    unseenBytes -= bytes
    states[cell]?.unseenBytes = 0
  }

  /// The items of `section` from `first` on are gone.
  mutating func itemsWereRemoved(from section: Int, startingAt first: Int) {
    let isGone = { (cell: WindowCell) in cell.section == section && cell.item >= first }
    for (cell, state) in states where isGone(cell) {
      unseenBytes -= state.unseenBytes
      states[cell] = nil
    }
    failed = failed.filter { !isGone($0) }
    withoutPicture = withoutPicture.filter { !isGone($0) }
    for ask in inFlight.keys where isGone(ask.cell) { orphans.append(ask) }
    inFlight = inFlight.filter { !isGone($0.key.cell) }
  }

  /// What is in flight for items that are gone, once.
  mutating func takeOrphans() -> [WindowAsk] {
    defer { orphans = [] }
    return orphans.sorted { ($0.cell, $0.rung) < ($1.cell, $1.rung) }
  }

  /// Forgets that cells have failed for which `isNear` does not hold.
  mutating func forgetFailed(exceptWhere isNear: (WindowCell) -> Bool) {
    for cell in failed where !isNear(cell) {
      failed.remove(cell)
      for rung in [WindowAsk.Rung.preview, .full] where states[cell]?[rung] == .failed {
        states[cell]?[rung] = .wanted
      }
    }
  }

  /// Forgets cells that are not on their way and for which `isKept` does not hold.
  mutating func forget(exceptWhere isKept: (WindowCell) -> Bool) {
    for (cell, state) in states where !isKept(cell) {
      if state.full == .inFlight || state.preview == .inFlight { continue }
      unseenBytes -= state.unseenBytes
      states[cell] = nil
    }
  }
}
