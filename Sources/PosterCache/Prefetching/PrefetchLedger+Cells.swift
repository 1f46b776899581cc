/// What a program says about single items: wishes, bound slots, and which are visible.
extension PrefetchLedger {
  // MARK: - Wishes

  /// The program wishes these items.
  mutating func itemsWereWished(_ cells: [WindowCell], at seconds: Double) {
    somethingWasReported()
    for cell in cells {
      guard let state = state(of: cell) else { continue }
      if cell.item == sections[cell.section].items.count - 1 {
        endIsNear(in: cell.section, at: seconds)
      }
      guard state.isDisjoint(with: [.blank, .loaded]) else { continue }
      if interests[WindowAsk(cell)] != nil {
        wishes.remove(cell)
        want(WindowAsk(cell), isVisible: false, .wished)
      } else {
        wishes.append(cell)
      }
    }
  }

  /// The program takes back what it wished.
  mutating func wishesWereTakenBack(_ cells: [WindowCell]) {
    for cell in cells {
      wishes.remove(cell)
      lose(.wished, of: WindowAsk(cell))
      // Whoever looks at the last item still wants what is behind it.
      if !hasPositions, bindings[cell] == nil, let count = itemCount(of: cell.section),
        cell.item == count - 1
      {
        sections[cell.section].pages.endIsFar()
      }
    }
  }

  // MARK: - Slots

  /// A slot shows an item from now on.
  ///
  /// - Parameter needsPicture: whether the picture is not at hand.
  mutating func slotWasBound(to cell: WindowCell, needsPicture: Bool, at seconds: Double) {
    guard let state = state(of: cell) else { return }
    somethingWasReported()
    bindings[cell, default: 0] += 1
    if !hasPositions, cell.item == sections[cell.section].items.count - 1 {
      endIsNear(in: cell.section, at: seconds)
    }
    guard !state.contains(.blank) else { return }
    if needsPicture {
      slotWaits(for: WindowAsk(cell))
    } else if interests[WindowAsk(cell)] == nil {
      sections[cell.section].items[cell.item] = .loaded
      wishes.remove(cell)
      window.askDidFinish(WindowAsk(cell), bytes: 0, at: seconds)
    }
  }

  /// A slot waits for what is not on its way, or has come in a form that it cannot use.
  mutating func slotWaits(for ask: WindowAsk) {
    guard let state = state(of: ask.cell), !state.contains(.blank), bindings[ask.cell] != nil
    else { return }
    let isVisible = hasPositions && window.visibleCells.contains(ask.cell)
    // Of what is visible the window decides, and of everything while the scroll only jumps about; but for
    // what has come or failed, it does not ask again.
    if hasPositions, window.isScrubbed, state.isEmpty { return }
    if ask.rung == .full, isVisible, state.isEmpty {
      mustPlan = true
    } else if !hasPositions || interests[ask]?.reasons.contains(.planned) != true {
      let isUrgent = isVisible || !hasPositions || state.contains(.loaded)
      want(ask, isVisible: isUrgent, .bound)
    }
  }

  /// A slot does not show an item any more.
  mutating func slotWasUnbound(from cell: WindowCell) {
    guard let count = bindings[cell] else { return }
    bindings[cell] = count > 1 ? count - 1 : nil
    guard count == 1 else { return }
    lose(.bound, of: WindowAsk(cell))
    lose(.bound, of: WindowAsk(cell, .preview))
  }

  // MARK: - Visible items

  /// These items are visible; where the scrolls stand follows from the layouts.
  mutating func visibleItemsDidChange(_ cells: [WindowCell], at seconds: Double) {
    var view: (start: Double, end: Double)?
    var firstItems: [Int: Int] = [:]
    for cell in cells where state(of: cell) != nil {
      let start: Double
      let length: Double
      switch window.sections[cell.section].layout {
      case .grid(let columns, let rowLength):
        start = window.start(of: cell.section) + Double(cell.item / max(columns, 1)) * rowLength
        length = rowLength
      case .row(let rowLength, _, _):
        start = window.start(of: cell.section)
        length = rowLength
        firstItems[cell.section] = min(firstItems[cell.section] ?? cell.item, cell.item)
      }
      view = (min(view?.start ?? start, start), max(view?.end ?? start, start + length))
    }
    guard let view else { return }
    for (section, item) in firstItems.sorted(by: { $0.key < $1.key }) {
      guard case .row(_, let itemLength, _) = window.sections[section].layout else { continue }
      let offset = Double(item) * itemLength
      if sections[section].rowOffset ?? 0 != offset {
        row(section, didScrollTo: offset, at: seconds)
      }
    }
    didScroll(to: view.start, viewLength: view.end - view.start, at: seconds)
  }

  private func itemCount(of section: Int) -> Int? {
    sections.indices.contains(section) ? sections[section].items.count : nil
  }
}
