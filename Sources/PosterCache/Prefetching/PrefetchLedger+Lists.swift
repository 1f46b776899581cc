/// Sections, their items and their pages.
extension PrefetchLedger {
  /// A section came below the others.
  mutating func sectionWasAppended(
    _ section: VisibleWindow.Section, hasPages: Bool, loadsFirstPage: Bool
  ) {
    somethingWasReported()
    var section = section
    section.itemCount = 0
    section.layout = usable(section.layout)
    section.spacingBefore = usable(section.spacingBefore)
    section.canAskForPage = hasPages
    window.sections.append(section)
    sections.append(Section(items: [], pages: PageProgress(hasPages: hasPages)))
    mustPlan = true
    if loadsFirstPage { endIsNear(in: sections.count - 1, at: 0) }
  }

  /// A section has another list, of which nothing is there yet.
  mutating func sectionWasReplaced(_ section: Int, hasPages: Bool, at seconds: Double) {
    guard sections.indices.contains(section) else { return }
    somethingWasReported()
    forget { $0.section == section ? nil : $0 }
    dropPage(of: section)
    sections[section].items = []
    sections[section].pages = PageProgress(hasPages: hasPages)
    window.sections[section].itemCount = 0
    sections[section].rowOffset = nil
    windowDidLose(section, at: seconds)
    pagesDidChange(in: section)
    endIsNear(in: section, at: seconds)
  }

  /// A section has these items from now on, and no further pages.
  ///
  /// - Parameters:
  ///   - blanks: for each item whether it has no picture.
  ///   - keptCount: how many of them are the first ones of those that were there before.
  mutating func itemsDidChange(
    in section: Int, blanks: [Bool], keptCount: Int, at seconds: Double
  ) {
    guard sections.indices.contains(section) else { return }
    somethingWasReported()
    let oldCount = sections[section].items.count
    let isOther = keptCount < min(oldCount, blanks.count)
    forget { cell in
      cell.section == section && (isOther || cell.item >= blanks.count) ? nil : cell
    }
    dropPage(of: section)
    sections[section].pages = PageProgress(hasPages: false)
    let kept = isOther ? 0 : min(keptCount, blanks.count)
    sections[section].items.removeSubrange(kept...)
    window.sections[section].itemCount = kept
    if isOther {
      sections[section].rowOffset = nil
      windowDidLose(section, at: seconds)
    }
    append(blanks[kept...], to: section)
    pagesDidChange(in: section)
  }

  /// A section is gone; those below have moved up.
  mutating func sectionWasRemoved(_ section: Int, at seconds: Double) {
    guard sections.indices.contains(section) else { return }
    somethingWasReported()
    dropPage(of: section)
    forget { cell in
      if cell.section == section { return nil }
      return cell.section < section
        ? cell : WindowCell(section: cell.section - 1, item: cell.item)
    }
    // What it has in flight there is in flight under another name from now on, if it still wants that.
    for ask in window.inFlight where ask.cell.section >= section { window.askDidFail(ask) }
    sections.remove(at: section)
    window.sections.remove(at: section)
    for section in section..<sections.count { windowDidLose(section, at: seconds) }
    mustPlan = true
  }

  /// The items of a section stand in another way.
  mutating func layoutDidChange(
    _ layout: VisibleWindow.Layout, spacingBefore: Double, of section: Int
  ) {
    guard sections.indices.contains(section) else { return }
    somethingWasReported()
    window.sections[section].layout = usable(layout)
    window.sections[section].spacingBefore = usable(spacingBefore)
    mustPlan = true
  }

  // MARK: - Pages

  /// A page came; returns the section that it belongs to, `nil` if nobody wants it any more.
  ///
  /// - Parameter blanks: for each of its items whether it has no picture.
  mutating func pageDidLoad(_ number: Number, blanks: [Bool], hasMore: Bool) -> Int? {
    guard let section = section(loading: number) else { return nil }
    statistics.pagesFinished += 1
    append(blanks[...], to: section)
    sections[section].pages.pageDidLoad(itemCount: blanks.count, hasMore: hasMore)
    pagesDidChange(in: section)
    if sections[section].pages.isStillWanted { loadPage(of: section) }
    return section
  }

  /// A page could not be had; returns the section that it belongs to, `nil` if nobody wants it any more.
  mutating func pageDidFail(_ number: Number, _ failure: PageFailure, at seconds: Double) -> Int? {
    guard let section = section(loading: number) else { return nil }
    statistics.pagesFailed += 1
    sections[section].pages.pageDidFail(failure, at: seconds)
    pagesDidChange(in: section)
    return section
  }

  /// Somebody wants a page that failed to be tried again.
  mutating func retryWasWanted(of section: Int) {
    guard sections.indices.contains(section) else { return }
    somethingWasReported()
    if sections[section].pages.retryWasWanted() { loadPage(of: section) }
  }

  /// The end of what is there is near.
  mutating func endIsNear(in section: Int, at seconds: Double) {
    if sections[section].pages.endIsNear(at: seconds) { loadPage(of: section) }
  }

  mutating func pagesDidChange(in section: Int) {
    window.sections[section].canAskForPage = sections[section].pages.canBeAsked
    mustPlan = true
  }

  private func section(loading number: Number) -> Int? {
    sections.firstIndex { $0.pages.loading == number }
  }

  // MARK: - Private

  private mutating func append(_ blanks: ArraySlice<Bool>, to section: Int) {
    let first = sections[section].items.count
    sections[section].items += blanks.map { $0 ? .blank : [] }
    window.sections[section].itemCount = sections[section].items.count
    for (offset, isBlank) in blanks.enumerated() where isBlank {
      window.cellHasNoPicture(WindowCell(section: section, item: first + offset))
    }
    mustPlan = true
  }

  /// Gives cells other names, and lets go of what is wanted for those that have none any more.
  private mutating func forget(_ rename: (WindowCell) -> WindowCell?) {
    renumberInterests(rename)
    wishes.renumber(rename)
    var renamed: [WindowCell: Int] = [:]
    for (cell, count) in bindings {
      if let cell = rename(cell) { renamed[cell] = count }
    }
    bindings = renamed
  }

  /// Has the window begin anew in a section, and tells it what is still true there.
  mutating func windowDidLose(_ section: Int, at seconds: Double) {
    for ask in window.inFlight where ask.cell.section == section { window.askDidFail(ask) }
    window.sectionWasReplaced(section)
    for (item, state) in sections[section].items.enumerated() where state.contains(.blank) {
      window.cellHasNoPicture(WindowCell(section: section, item: item))
    }
    if let offset = sections[section].rowOffset {
      window.row(section, didScrollTo: offset, at: seconds)
    }
    mustPlan = true
  }

  private func usable(_ spacing: Double) -> Double { spacing.isFinite ? max(spacing, 0) : 0 }

  /// A layout in which every item has a place.
  private func usable(_ layout: VisibleWindow.Layout) -> VisibleWindow.Layout {
    func length(_ length: Double) -> Double { length.isFinite ? max(length, 1) : 1 }
    switch layout {
    case .grid(let columns, let rowLength):
      return .grid(columns: max(columns, 1), rowLength: length(rowLength))
    case .row(let rowLength, let itemLength, let viewLength):
      return .row(
        length: length(rowLength), itemLength: length(itemLength),
        viewLength: length(viewLength))
    }
  }
}
