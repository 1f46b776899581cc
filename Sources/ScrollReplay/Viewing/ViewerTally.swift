import PosterCache

/// Counts what a viewer saw, and what it cost: in real or virtual time, whoever reports.
///
/// Told what is visible when, which cells show a picture since when, and which bytes have come for which
/// cell. Times are seconds since any moment, in ascending order. A cell that shows its preview counts as
/// soft, one that shows nothing as blank; one without any picture does not count at all.
package struct ViewerTally: Sendable {
  /// Transfers that were let go of, by what they were doing.
  package var cancelled = FetchStatistics.Cancelled.none
  /// Connections that were closed with a transfer on them, so that another one had to be made.
  package var reconnects = 0
  /// Pages that were asked for.
  package var pagesAsked = 0

  private var cells = CellMap(Cell())
  private var visible: [Range<Int>] = []
  private var visibleSeconds = 0.0
  private var blankSeconds = 0.0
  private var softSeconds = 0.0
  private var laterBlankSeconds = 0.0
  /// Whether anything has been visible yet.
  private var hasBegun = false
  private var visits = 0
  private var neverSeen = 0
  /// Of each visit, in seconds.
  private var waits: [Double] = []

  private struct Cell: Sendable {
    var wasVisible = false
    var isVisible = false
    /// Whether it became visible as one of the first.
    var isOfFirstScreen = false
    var shows: Rungs = []
    var hasNoPicture = false
    /// When it became visible, and until when its time is counted.
    var enteredAt = 0.0
    var countedUntil = 0.0
    /// Whether it has shown something since it became visible.
    var isSeen = false
    var bytes = 0
    /// What was fetched for it while it was not visible, and what of that before it was visible.
    var prefetched: Rungs = []
    var used: Rungs = []
  }

  /// Some of a cell's pictures.
  private struct Rungs: OptionSet {
    let rawValue: UInt8
    static let preview = Rungs(rawValue: 1)
    static let full = Rungs(rawValue: 2)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ rung: WindowAsk.Rung) { self = rung == .full ? .full : .preview }

    var count: Int { rawValue.nonzeroBitCount }
  }

  package init() {}

  // MARK: - Events

  /// These items of each section are visible from now on.
  package mutating func screenDidChange(to ranges: [Range<Int>], at seconds: Double) {
    for section in 0..<max(ranges.count, visible.count) {
      let old = section < visible.count ? visible[section] : 0..<0
      let new = section < ranges.count ? ranges[section] : 0..<0
      guard old != new else { continue }
      for item in old where !new.contains(item) {
        leave(WindowCell(section: section, item: item), at: seconds)
      }
      for item in new where !old.contains(item) {
        enter(WindowCell(section: section, item: item), at: seconds)
      }
    }
    visible = ranges
    if !hasBegun { hasBegun = visible.contains { !$0.isEmpty } }
  }

  /// A cell can show a picture from now on; where it is not visible, from when it becomes so.
  package mutating func pictureDidAppear(
    in place: WindowCell, _ rung: WindowAsk.Rung, at seconds: Double
  ) {
    change(place) { cell, tally in
      tally.count(&cell, until: seconds)
      cell.shows.insert(Rungs(rung))
      tally.noteSight(of: &cell, at: seconds)
    }
  }

  /// A cell shows nothing any more, and has to get its picture again.
  package mutating func pictureDidVanish(from place: WindowCell, at seconds: Double) {
    change(place) { cell, tally in
      tally.count(&cell, until: seconds)
      cell.shows = []
    }
  }

  /// There is no picture for a cell.
  package mutating func cellHasNoPicture(_ place: WindowCell) {
    change(place) { cell, _ in cell.hasNoPicture = true }
  }

  /// A picture came for a cell.
  ///
  /// - Parameter isPrefetch: whether it was asked for while the cell was not visible.
  package mutating func pictureDidArrive(_ ask: WindowAsk, isPrefetch: Bool) {
    guard isPrefetch else { return }
    change(ask.cell) { cell, _ in
      cell.prefetched.insert(Rungs(ask.rung))
      if cell.isVisible { cell.used.insert(Rungs(ask.rung)) }
    }
  }

  /// So many bytes came for a cell, whether or not that made a picture.
  package mutating func bytesDidArrive(_ count: Int, for place: WindowCell) {
    change(place) { cell, _ in cell.bytes += count }
  }

  // MARK: - What it comes to

  /// Everything up to now, as if it ended here.
  package func report(at seconds: Double) -> ViewerReport {
    var tally = self
    tally.screenDidChange(to: [], at: seconds)
    var report = ViewerReport()
    report.visits = tally.visits
    report.neverSeen = tally.neverSeen
    report.visibleMilliseconds = tally.visibleSeconds * 1000
    report.blankMilliseconds = tally.blankSeconds * 1000
    report.laterBlankMilliseconds = tally.laterBlankSeconds * 1000
    report.softMilliseconds = tally.softSeconds * 1000
    let waits = tally.waits.sorted()
    report.waitMilliseconds = ViewerReport.Waits(
      p50: Self.quantile(waits, 0.5), p95: Self.quantile(waits, 0.95),
      p99: Self.quantile(waits, 0.99))
    for cell in tally.cells.values {
      if cell.wasVisible, !cell.hasNoPicture { report.cells += 1 }
      report.receivedBytes += cell.bytes
      if !cell.wasVisible { report.wastedBytes += cell.bytes }
      report.prefetched += cell.prefetched.count
      report.used += cell.used.count
    }
    report.cancelled = cancelled
    report.reconnects = reconnects
    report.pagesAsked = pagesAsked
    return report
  }

  /// The smallest value that is not below `share` of them all, in milliseconds (the nearest rank).
  private static func quantile(_ sorted: [Double], _ share: Double) -> Double {
    guard !sorted.isEmpty else { return 0 }
    let rank = Int((share * Double(sorted.count)).rounded(.up))
    return sorted[min(max(rank, 1), sorted.count) - 1] * 1000
  }

  // MARK: - Cells

  private mutating func enter(_ place: WindowCell, at seconds: Double) {
    change(place) { cell, tally in
      cell.isVisible = true
      cell.isOfFirstScreen = !tally.hasBegun
      cell.wasVisible = true
      cell.used = cell.prefetched
      cell.enteredAt = seconds
      cell.countedUntil = seconds
      cell.isSeen = false
      if !cell.hasNoPicture { tally.visits += 1 }
      tally.noteSight(of: &cell, at: seconds)
    }
  }

  private mutating func leave(_ place: WindowCell, at seconds: Double) {
    change(place) { cell, tally in
      tally.count(&cell, until: seconds)
      if !cell.isSeen, !cell.hasNoPicture {
        tally.neverSeen += 1
        tally.waits.append(seconds - cell.enteredAt)
      }
      cell.isVisible = false
    }
  }

  /// The first picture of a visit ends its wait.
  private mutating func noteSight(of cell: inout Cell, at seconds: Double) {
    guard cell.isVisible, !cell.isSeen, !cell.shows.isEmpty else { return }
    cell.isSeen = true
    waits.append(seconds - cell.enteredAt)
  }

  private mutating func count(_ cell: inout Cell, until seconds: Double) {
    guard cell.isVisible else { return }
    let time = seconds - cell.countedUntil
    cell.countedUntil = seconds
    guard !cell.hasNoPicture else { return }
    visibleSeconds += time
    if cell.shows.isEmpty {
      blankSeconds += time
      if !cell.isOfFirstScreen { laterBlankSeconds += time }
    } else if !cell.shows.contains(.full) {
      softSeconds += time
    }
  }

  private mutating func change(
    _ place: WindowCell, _ body: (inout Cell, inout ViewerTally) -> Void
  ) {
    var cell = cells[place]
    body(&cell, &self)
    cells[place] = cell
  }
}
