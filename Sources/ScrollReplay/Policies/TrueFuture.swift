import PosterCache

/// When which cell of a trace is visible: what an oracle knows.
package struct TrueFuture: Sendable {
  /// From when until when a cell is visible without a pause, in seconds.
  package struct Visit: Sendable, Hashable {
    package let cell: WindowCell
    package let enter: Double
    package let leave: Double
  }

  /// By the time of entering, then of leaving.
  package let visits: [Visit]

  package init(_ trace: ScrollTrace, layout: ScreenLayout) {
    var open: [WindowCell: Double] = [:]
    var visits: [Visit] = []
    var visible: [Range<Int>] = layout.sections.map { _ in 0..<0 }
    for sample in trace.samples {
      let now = layout.visibleItems(at: sample.offset, rowOffsets: sample.rowOffsets)
      for section in now.indices where now[section] != visible[section] {
        for item in visible[section] where !now[section].contains(item) {
          let cell = WindowCell(section: section, item: item)
          guard let enter = open.removeValue(forKey: cell) else { continue }
          visits.append(Visit(cell: cell, enter: enter, leave: sample.seconds))
        }
        for item in now[section] where !visible[section].contains(item) {
          open[WindowCell(section: section, item: item)] = sample.seconds
        }
      }
      visible = now
    }
    let end = trace.samples.last?.seconds ?? 0
    visits += open.map { Visit(cell: $0.key, enter: $0.value, leave: end) }
    self.visits = visits.sorted {
      ($0.enter, $0.leave, $0.cell) < ($1.enter, $1.leave, $1.cell)
    }
  }
}
