/// Decides what a prefetcher asks for and lets go of: ``VisibleWindow`` and the wishes of a program, turned
/// into interests that begin and end.
///
/// Without clock, lock, task or picture. Events come in by methods, then ``settle(at:link:)`` says what to do.
/// An *interest* is one picture of one item that is wanted, for one or more of three reasons: the window's
/// plan, a wish, a slot that is bound to the item. It lives as long as it has a reason and its picture
/// has not come. It holds a *ticket*, which is a request to the pipeline: started once, and ended once, by
/// its answer or by being dropped. An interest whose cell becomes visible gets a second, visible, ticket;
/// the first one is kept until the second has ended, so that the transfer that both share never has nobody.
///
/// Pictures that are begun are among the actions before those that are dropped, so that one that is wanted for
/// another reason from now on never loses its transfer.
struct PrefetchLedger {
  /// Names a ticket or a page; never used again.
  typealias Number = UInt64

  /// What is to be done.
  enum Action: Equatable {
    /// Ask for a picture.
    case start(Number, WindowAsk, Priority)
    /// Let go of a ticket; nobody wants to hear of it again.
    case drop(Number)
    /// Load a section's next page.
    case loadPage(Number, section: Int)
    /// Let go of a page; nobody wants to hear of it again.
    case dropPage(Number)
  }

  /// Why a picture is wanted.
  struct Reasons: OptionSet {
    let rawValue: UInt8
    /// The window asked for it.
    static let planned = Reasons(rawValue: 1)
    /// The program wished it.
    static let wished = Reasons(rawValue: 2)
    /// A slot waits for it, and the window does not decide.
    static let bound = Reasons(rawValue: 4)
  }

  /// A picture that is wanted.
  struct Interest {
    var reasons: Reasons
    /// Those that have not ended; the last one decides.
    var tickets: [Number]
    /// Whether the last ticket is a visible one.
    var isVisible: Bool
  }

  /// What is known of an item.
  struct ItemState: OptionSet {
    let rawValue: UInt8
    /// It has no picture.
    static let blank = ItemState(rawValue: 1)
    /// Its picture came.
    static let loaded = ItemState(rawValue: 2)
    /// Its picture could not be had when it was asked for last.
    static let failed = ItemState(rawValue: 4)
  }

  /// A section.
  struct Section {
    var items: [ItemState]
    var pages: PageProgress
    /// Where its row stands.
    var rowOffset: Double?
  }

  /// After the last report of a position, it rests.
  static let restSeconds = 0.12

  let wishLimit: Int
  var window: VisibleWindow
  var sections: [Section] = []
  var interests: [WindowAsk: Interest] = [:]
  var wishes = WishList()
  /// How many slots are bound to an item.
  var bindings: [WindowCell: Int] = [:]
  var statistics = Prefetcher.Statistics()
  /// The positions are known: the window decides.
  var hasPositions = false

  /// The window has news since the last plan.
  var mustPlan = false
  private(set) var asks: [Number: WindowAsk] = [:]
  private var starts: [Action] = []
  private var drops: [Action] = []
  private var pageDrops: [Action] = []
  private var lastNumber: Number = 0
  /// Nothing is planned until something is reported.
  private(set) var isStopped = false
  /// Something that was in flight has ended since the last plan.
  private var hasRoom = false
  /// When there will be news without an event.
  private var restsAt: Double?
  private var inFlightLimit = 0

  init(_ configuration: Prefetcher.Configuration) {
    var window = configuration.window
    window.previewShare =
      configuration.previewSize == nil ? nil : window.previewShare ?? 1.0 / 8
    self.window = VisibleWindow(window)
    wishLimit = max(configuration.wishLimit, 1)
  }

  /// The picture that a ticket stands for; `nil` if it has ended.
  func ask(of number: Number) -> WindowAsk? { asks[number] }

  /// What is known of an item; `nil` if there is none.
  func state(of cell: WindowCell) -> ItemState? {
    guard sections.indices.contains(cell.section),
      sections[cell.section].items.indices.contains(cell.item)
    else { return nil }
    return sections[cell.section].items[cell.item]
  }

  /// Whether the window decides what is prefetched.
  var isPlanning: Bool { hasPositions && !isStopped }

  /// When to call ``timeDidPass(at:)``; `nil` for never.
  var nextWake: Double? {
    guard !isStopped else { return nil }
    let retry = sections.lazy.compactMap(\.pages.retryAt).min()
    return [retry, restsAt].compactMap(\.self).min()
  }

  // MARK: - Positions

  mutating func didScroll(to offset: Double, viewLength: Double, at seconds: Double) {
    guard offset.isFinite, viewLength.isFinite, viewLength > 0 else { return }
    window.didScroll(to: offset, viewLength: viewLength, at: seconds)
    hasPositions = true
    positionDidChange(at: seconds)
  }

  mutating func row(_ section: Int, didScrollTo offset: Double, at seconds: Double) {
    guard sections.indices.contains(section), offset.isFinite else { return }
    sections[section].rowOffset = offset
    window.row(section, didScrollTo: offset, at: seconds)
    positionDidChange(at: seconds)
  }

  private mutating func positionDidChange(at seconds: Double) {
    somethingWasReported()
    // What stands aside in a row says nothing of what is visible.
    guard hasPositions else { return }
    restsAt = seconds + Self.restSeconds
    mustPlan = true
  }

  /// Time went by: ``nextWake`` has come.
  mutating func timeDidPass(at seconds: Double) {
    if let time = restsAt, time <= seconds {
      restsAt = nil
      mustPlan = true
    }
    for section in sections.indices {
      guard let time = sections[section].pages.retryAt, time <= seconds else { continue }
      endIsNear(in: section, at: seconds)
    }
  }

  // MARK: - Tickets

  /// A ticket's picture came.
  mutating func ticketDidFinish(_ number: Number, bytes: Int, at seconds: Double) {
    guard let ask = asks[number] else { return }
    statistics.finished += 1
    guard ticketDidEnd(number, of: ask) else { return }
    // Pixels of what had come already take nothing of the budget, which is one of transfers.
    let isNews = ask.rung == .preview || state(of: ask.cell) != .loaded
    if ask.rung == .full {
      setState(of: ask.cell, .loaded)
      wishes.remove(ask.cell)
    }
    window.askDidFinish(ask, bytes: isNews ? bytes : 0, at: seconds)
  }

  /// A ticket's picture could not be had.
  mutating func ticketDidFail(_ number: Number) {
    guard let ask = asks[number] else { return }
    statistics.failed += 1
    guard ticketDidEnd(number, of: ask) else { return }
    if ask.rung == .full { setState(of: ask.cell, .failed) }
    window.askDidFail(ask)
  }

  /// - Returns: whether the interest ends with it.
  private mutating func ticketDidEnd(_ number: Number, of ask: WindowAsk) -> Bool {
    asks[number] = nil
    let isLast = interests[ask]?.tickets.last == number
    interests[ask]?.tickets.removeAll { $0 == number }
    guard isLast else { return false }
    drop(ask)
    hasRoom = true
    return true
  }

  /// What came for an item is not at hand any more: it may be wished again.
  mutating func pictureWasLost(_ cell: WindowCell) {
    guard state(of: cell) == .loaded else { return }
    sections[cell.section].items[cell.item] = []
    window.pictureWasLost(cell)
    mustPlan = true
  }

  private mutating func setState(of cell: WindowCell, _ state: ItemState) {
    guard self.state(of: cell) != nil else { return }
    sections[cell.section].items[cell.item] = state
  }

  // MARK: - Interests

  /// Begins an interest, or gives one another reason.
  mutating func want(_ ask: WindowAsk, isVisible: Bool, _ reason: Reasons) {
    guard interests[ask] != nil else {
      interests[ask] = Interest(reasons: reason, tickets: [], isVisible: false)
      return start(ask, isVisible ? .visible : .prefetch)
    }
    interests[ask]?.reasons.formUnion(reason)
    if isVisible, interests[ask]?.isVisible == false { start(ask, .visible) }
  }

  private mutating func start(_ ask: WindowAsk, _ priority: Priority) {
    let number = takeNumber()
    asks[number] = ask
    interests[ask]?.tickets.append(number)
    interests[ask]?.isVisible = priority == .visible
    statistics.asked += 1
    if priority == .visible { statistics.askedVisible += 1 }
    starts.append(.start(number, ask, priority))
  }

  /// Takes a reason from an interest, which ends if it was the last one.
  mutating func lose(_ reason: Reasons, of ask: WindowAsk) {
    interests[ask]?.reasons.subtract(reason)
    if interests[ask]?.reasons.isEmpty == true { drop(ask) }
  }

  /// Ends an interest and drops its tickets.
  mutating func drop(_ ask: WindowAsk) {
    guard let interest = interests.removeValue(forKey: ask) else { return }
    for number in interest.tickets {
      asks[number] = nil
      statistics.dropped += 1
      drops.append(.drop(number))
    }
  }

  /// Gives interests other names; those that have none any more end.
  mutating func renumberInterests(_ rename: (WindowCell) -> WindowCell?) {
    var renamed: [WindowAsk: Interest] = [:]
    for ask in interests.keys.sorted(by: Self.order) {
      guard let cell = rename(ask.cell) else {
        drop(ask)
        continue
      }
      let name = WindowAsk(cell, ask.rung)
      for number in interests[ask]?.tickets ?? [] { asks[number] = name }
      renamed[name] = interests[ask]
    }
    interests = renamed
  }

  /// Any order that is always the same.
  private static func order(_ left: WindowAsk, _ right: WindowAsk) -> Bool {
    left.cell != right.cell ? left.cell < right.cell : left.rung < right.rung
  }

  // MARK: - Pages

  /// Asks for a section's next page.
  mutating func loadPage(of section: Int) {
    let number = takeNumber()
    sections[section].pages.pageWasAsked(number)
    statistics.pagesAsked += 1
    starts.append(.loadPage(number, section: section))
    pagesDidChange(in: section)
  }

  /// Lets go of the page on its way.
  mutating func dropPage(of section: Int) {
    guard let number = sections[section].pages.wasStopped() else { return }
    // Asked for by an event since the last settlement: nobody need know.
    let isAsked = starts.contains(.loadPage(number, section: section))
    starts.removeAll { $0 == .loadPage(number, section: section) }
    statistics.pagesDropped += 1
    if !isAsked { pageDrops.append(.dropPage(number)) }
    pagesDidChange(in: section)
  }

  // MARK: - Stopping

  /// Lets go of everything.
  mutating func didStop(at seconds: Double) {
    for ask in interests.keys.sorted(by: Self.order) { drop(ask) }
    wishes.removeAll()
    for section in sections.indices {
      dropPage(of: section)
      windowDidLose(section, at: seconds)
    }
    restsAt = nil
    isStopped = true
  }

  /// Whatever is reported after a stop begins everything anew.
  mutating func somethingWasReported() {
    guard isStopped else { return }
    isStopped = false
    mustPlan = true
  }

  // MARK: - Settling

  /// Plans if there is news, starts what may start, and returns what to do because of all events since the
  /// last call.
  mutating func settle(at seconds: Double, link: LinkFigures?) -> [Action] {
    if !isStopped {
      let hadNews = mustPlan
      if hadNews { plan(at: seconds, link: link) }
      startPlanned()
      // A plan reaches some seconds ahead; behind it there may be more.
      if !hadNews, hasRoom, hasPositions, window.inFlight.count < inFlightLimit {
        plan(at: seconds, link: link)
        startPlanned()
      }
      hasRoom = false
      settleInterests()
      startWishes()
    }
    defer { (pageDrops, starts, drops) = ([], [], []) }
    return pageDrops + starts + drops
  }

  private mutating func plan(at seconds: Double, link: LinkFigures?) {
    mustPlan = false
    guard hasPositions else { return }
    let plan = window.plan(at: seconds, link: link)
    inFlightLimit = plan.inFlightLimit
    var near = plan.nextPages[...]
    for section in sections.indices {
      if near.first == section {
        near.removeFirst()
        endIsNear(in: section, at: seconds)
      } else if sections[section].pages.canBeAsked {
        // While one is on its way, the window does not say where the end is.
        sections[section].pages.endIsFar()
      }
    }
  }

  private mutating func startPlanned() {
    while let (ask, isVisible) = window.takeNext() {
      guard let state = state(of: ask.cell), !state.contains(.blank) else {
        window.askDidFail(ask)
        continue
      }
      want(ask, isVisible: isVisible, .planned)
      // A wish that waited for its turn has got it.
      guard ask.rung == .full, wishes.contains(ask.cell) else { continue }
      wishes.remove(ask.cell)
      interests[ask]?.reasons.insert(.wished)
    }
  }

  /// What the window has given up has no reason in it any more; what has become visible gets a visible
  /// ticket.
  private mutating func settleInterests() {
    guard hasPositions else { return }
    let inFlight = window.inFlight
    for ask in interests.keys.sorted(by: Self.order) {
      if !inFlight.contains(ask) { lose(.planned, of: ask) }
      if interests[ask]?.isVisible == false, window.visibleCells.contains(ask.cell) {
        start(ask, .visible)
      }
    }
  }

  /// Starts wishes in their order, if the window leaves room for them.
  private mutating func startWishes() {
    var running = interests.values.count { $0.reasons.contains(.wished) }
    while running < wishLimit, hasRoomForWish, let cell = wishes.popFirst() {
      guard state(of: cell) != nil else { continue }
      want(WindowAsk(cell), isVisible: hasPositions && window.visibleCells.contains(cell), .wished)
      running += 1
    }
  }

  private var hasRoomForWish: Bool {
    !hasPositions || interests.count < max(inFlightLimit, 1)
  }

  private mutating func takeNumber() -> Number {
    lastNumber += 1
    return lastNumber
  }
}
