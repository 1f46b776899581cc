import TestSupport

@testable import PosterCache

/// A ledger with everything around it that a prefetcher has, in plain lists: does what it is told, notes what
/// is wrong, and keeps by itself what it should have decided about wishes.
struct LedgerWorld {
  typealias Number = PrefetchLedger.Number

  private(set) var ledger: PrefetchLedger
  private(set) var now = 0.0
  private(set) var flaws: [String] = []
  /// Tickets on their way.
  private(set) var tickets: [Number: (ask: WindowAsk, priority: Priority)] = [:]
  /// Pages on their way.
  private(set) var pages: [Number: Int] = [:]
  private(set) var started: [(ask: WindowAsk, priority: Priority)] = []
  private(set) var pagesAsked: [Int] = []

  /// For each section, for each item whether it has no picture.
  private(set) var items: [[Bool]] = []
  /// Wishes that wait, in their order.
  private var waiting: [WindowCell] = []
  /// Wishes that are on their way.
  private var running: Set<WindowCell> = []
  /// Slots by the item that they show.
  private(set) var slots: [WindowCell: Int] = [:]
  private var ended: Set<Number> = []

  init(_ configuration: Prefetcher.Configuration = Prefetcher.Configuration()) {
    ledger = PrefetchLedger(configuration)
  }

  mutating func pass(_ seconds: Double) {
    now += seconds
    event { $0.timeDidPass(at: $1) }
  }

  // MARK: - Lists

  mutating func append(
    _ layout: VisibleWindow.Layout, hasPages: Bool = true, loadsFirstPage: Bool = true
  ) {
    items.append([])
    event { ledger, _ in
      ledger.sectionWasAppended(
        VisibleWindow.Section(layout), hasPages: hasPages, loadsFirstPage: loadsFirstPage)
    }
  }

  mutating func replace(_ section: Int) {
    forget { $0.section == section ? nil : $0 }
    if items.indices.contains(section) { items[section] = [] }
    event { $0.sectionWasReplaced(section, hasPages: true, at: $1) }
  }

  mutating func setItems(_ blanks: [Bool], in section: Int, kept: Int) {
    if items.indices.contains(section) {
      let isOther = kept < min(items[section].count, blanks.count)
      forget { cell in
        cell.section == section && (isOther || cell.item >= blanks.count) ? nil : cell
      }
      items[section] = blanks
    }
    event { $0.itemsDidChange(in: section, blanks: blanks, keptCount: kept, at: $1) }
  }

  mutating func remove(_ section: Int) {
    if items.indices.contains(section) {
      forget { cell in
        if cell.section == section { return nil }
        return cell.section < section
          ? cell : WindowCell(section: cell.section - 1, item: cell.item)
      }
      items.remove(at: section)
      for (number, place) in pages where place > section { pages[number] = place - 1 }
    }
    event { $0.sectionWasRemoved(section, at: $1) }
  }

  mutating func loadPage(_ number: Number, _ blanks: [Bool], hasMore: Bool) {
    let section = pages.removeValue(forKey: number)
    if let section { items[section] += blanks }
    let told = event { ledger, _ in
      ledger.pageDidLoad(number, blanks: blanks, hasMore: hasMore)
    }
    if told != section { flaws.append("page \(number) is told as of section \(told ?? -1)") }
  }

  mutating func failPage(_ number: Number, _ failure: PageFailure) {
    let section = pages.removeValue(forKey: number)
    let told = event { $0.pageDidFail(number, failure, at: $1) }
    if told != section { flaws.append("page \(number) is told as of section \(told ?? -1)") }
  }

  private mutating func forget(_ rename: (WindowCell) -> WindowCell?) {
    waiting = waiting.compactMap(rename)
    running = Set(running.compactMap(rename))
    slots = [WindowCell: Int](
      uniqueKeysWithValues: slots.compactMap { cell, count in rename(cell).map { ($0, count) } })
    tickets = tickets.compactMapValues { ticket in
      // Those that have no name any more are to be dropped.
      let cell = rename(ticket.ask.cell) ?? WindowCell(section: -1, item: 0)
      return (WindowAsk(cell, ticket.ask.rung), ticket.priority)
    }
  }

  // MARK: - Positions, wishes, slots

  mutating func scroll(to offset: Double, viewLength: Double = 844) {
    event { $0.didScroll(to: offset, viewLength: viewLength, at: $1) }
  }

  mutating func row(_ section: Int, to offset: Double) {
    event { $0.row(section, didScrollTo: offset, at: $1) }
  }

  mutating func show(_ cells: [WindowCell]) {
    event { $0.visibleItemsDidChange(cells, at: $1) }
  }

  mutating func wish(_ cells: [WindowCell]) {
    for cell in cells {
      guard let state = ledger.state(of: cell), state.isEmpty || state == .failed else { continue }
      if tickets.values.contains(where: { $0.ask == WindowAsk(cell) }) {
        waiting.removeAll { $0 == cell }
        running.insert(cell)
      } else if !waiting.contains(cell) {
        waiting.append(cell)
      }
    }
    event { $0.itemsWereWished(cells, at: $1) }
  }

  mutating func takeBack(_ cells: [WindowCell]) {
    waiting.removeAll { cells.contains($0) }
    running.subtract(cells)
    event { ledger, _ in ledger.wishesWereTakenBack(cells) }
  }

  mutating func lose(_ cell: WindowCell) {
    event { ledger, _ in ledger.pictureWasLost(cell) }
  }

  mutating func bind(_ cell: WindowCell, needsPicture: Bool = true) {
    if let state = ledger.state(of: cell) {
      slots[cell, default: 0] += 1
      let isWanted = tickets.values.contains { $0.ask == WindowAsk(cell) }
      if !needsPicture, !isWanted, !state.contains(.blank) { waiting.removeAll { $0 == cell } }
    }
    event { $0.slotWasBound(to: cell, needsPicture: needsPicture, at: $1) }
  }

  mutating func unbind(_ cell: WindowCell) {
    if let count = slots[cell] { slots[cell] = count > 1 ? count - 1 : nil }
    event { ledger, _ in ledger.slotWasUnbound(from: cell) }
  }

  mutating func retry(_ section: Int) {
    event { ledger, _ in ledger.retryWasWanted(of: section) }
  }

  mutating func stop() {
    waiting = []
    running = []
    event { $0.didStop(at: $1) }
    if !tickets.isEmpty || !pages.isEmpty { flaws.append("something goes on after a stop") }
  }

  // MARK: - Tickets

  mutating func finish(_ number: Number) {
    if let ask = tickets[number]?.ask, ask.rung == .full, isLast(number) {
      waiting.removeAll { $0 == ask.cell }
    }
    end(number) { $0.ticketDidFinish(number, bytes: 40_000, at: $1) }
  }

  mutating func fail(_ number: Number) {
    end(number) { ledger, _ in ledger.ticketDidFail(number) }
  }

  private mutating func end(
    _ number: Number, _ event: (inout PrefetchLedger, Double) -> Void
  ) {
    let isLast = isLast(number)
    if let ask = tickets.removeValue(forKey: number)?.ask {
      ended.insert(number)
      if isLast, ask.rung == .full { running.remove(ask.cell) }
    }
    self.event(event)
  }

  /// Whether a ticket is the one that was started last of those for its picture: it decides.
  private func isLast(_ number: Number) -> Bool {
    guard let ask = tickets[number]?.ask else { return false }
    return !tickets.contains { $0.value.ask == ask && $0.key > number }
  }

  /// Lets everything on its way come, and what follows from that, up to a time long after.
  mutating func settleDown() {
    for _ in 0..<1000 {
      guard let number = tickets.keys.min() else { break }
      finish(number)
    }
    for _ in 0..<8 {
      pass(0.2)
      for number in tickets.keys.sorted() { finish(number) }
    }
  }

  // MARK: - Checking

  @discardableResult
  private mutating func event<Value>(_ body: (inout PrefetchLedger, Double) -> Value) -> Value {
    let value = body(&ledger, now)
    for action in ledger.settle(at: now, link: nil) { perform(action) }
    check()
    return value
  }

  private mutating func perform(_ action: PrefetchLedger.Action) {
    switch action {
    case .start(let number, let ask, let priority):
      if ended.contains(number) || tickets[number] != nil { flaws.append("\(number) twice") }
      let isBlank =
        !items.indices.contains(ask.cell.section)
        || !items[ask.cell.section].indices.contains(ask.cell.item)
        || items[ask.cell.section][ask.cell.item]
      if isBlank { flaws.append("\(ask) is asked for, which is nothing") }
      for other in tickets.values where other.ask == ask {
        if priority != .visible || other.priority == .visible {
          flaws.append("\(ask) is asked for twice")
        }
      }
      tickets[number] = (ask, priority)
      started.append((ask, priority))
    case .drop(let number):
      if tickets.removeValue(forKey: number) == nil { flaws.append("\(number) is dropped twice") }
      ended.insert(number)
    case .loadPage(let number, let section):
      if pages.values.contains(section) { flaws.append("two pages of section \(section)") }
      pages[number] = section
      pagesAsked.append(section)
    case .dropPage(let number):
      if pages.removeValue(forKey: number) == nil { flaws.append("page \(number) dropped twice") }
    }
  }

  private mutating func check() {
    // Wishes start in their order while there is room; what the window has taken up has started, too.
    for cell in waiting {
      guard let reasons = ledger.interests[WindowAsk(cell)]?.reasons, reasons.contains(.wished)
      else { continue }
      let isFirst = waiting.prefix { $0 != cell }.allSatisfy { !ledger.wishes.contains($0) }
      if !isFirst, !reasons.contains(.planned) { flaws.append("\(cell) was not the first wish") }
      waiting.removeAll { $0 == cell }
      running.insert(cell)
    }
    let wished = Set(
      ledger.interests.filter { $0.value.reasons.contains(.wished) }.map(\.key.cell))
    if wished != running { flaws.append("wished \(wished) instead of \(running)") }
    if ledger.wishes.count != waiting.count || !waiting.allSatisfy(ledger.wishes.contains) {
      flaws.append("\(ledger.wishes.count) wishes wait instead of \(waiting)")
    }
    let hasRoom =
      !ledger.hasPositions || ledger.interests.count < 4 && ledger.window.inFlight.isEmpty
    if hasRoom, !ledger.isStopped, !waiting.isEmpty, running.count < ledger.wishLimit {
      flaws.append("\(waiting) wait for nothing")
    }

    if Set(tickets.values.map(\.ask)) != Set(ledger.interests.keys) {
      flaws.append("on its way: \(tickets), wanted: \(ledger.interests)")
    }
    for (ask, interest) in ledger.interests {
      let isPlanned = ledger.window.inFlight.contains(ask)
      if interest.reasons.contains(.planned) != isPlanned { flaws.append("\(ask) planned?") }
      if interest.reasons.isEmpty { flaws.append("\(ask) has no reason") }
      if interest.reasons.contains(.bound), slots[ask.cell] == nil {
        flaws.append("\(ask) is bound to nothing")
      }
      let isVisible = ledger.hasPositions && ledger.window.visibleCells.contains(ask.cell)
      if isVisible, !interest.isVisible { flaws.append("\(ask) is visible") }
    }
    if !ledger.window.inFlight.isSubset(of: ledger.interests.keys) {
      flaws.append("the window waits for what nobody asked for")
    }
    for (section, state) in ledger.sections.enumerated() {
      let loading = pages.filter { $0.value == section }.map(\.key)
      if [state.pages.loading].compactMap(\.self) != loading {
        flaws.append("pages \(loading) of section \(section)")
      }
      if state.items.count != items[section].count { flaws.append("items of section \(section)") }
    }
    let counts = ledger.statistics
    if counts.asked != counts.finished + counts.failed + counts.dropped + tickets.count {
      flaws.append("tickets do not come out even: \(counts)")
    }
    if counts.pagesAsked
      != counts.pagesFinished + counts.pagesFailed + counts.pagesDropped + pages.count
    {
      flaws.append("pages do not come out even: \(counts)")
    }
  }
}
