import FoundationEssentials
import PosterCache
import ScrollReplay

/// The screen of a replayed scroll: what is visible, and the slots that show it. Belongs to one thread, as a
/// screen does.
struct ScrollScreen {
  private let pipeline: PosterPipeline
  private let prefetcher: Prefetcher
  private let recorder: ScrollRecorder
  private let rendition: Rendition
  /// What prefetches where the prefetcher is not left to decide; `nil` where it is.
  private var lookAhead: LookAheadPolicy?

  private var motion: ScrollMotion
  private var layout: ScreenLayout
  private var state: ScreenState
  private var shown: [WindowCell: ScrollCell] = [:]
  private var spare: [ScrollCell] = []
  private var wished: Set<WindowCell> = []

  /// - Parameters:
  ///   - layout: what the prefetcher's sections look like; their items are those that it has.
  ///   - policy: what decides about prefetching.
  init(
    _ trace: ScrollTrace, layout: ScreenLayout, policy: PolicyName, rendition: Rendition,
    pipeline: PosterPipeline, prefetcher: Prefetcher, recorder: ScrollRecorder
  ) {
    self.pipeline = pipeline
    self.prefetcher = prefetcher
    self.recorder = recorder
    self.rendition = rendition
    self.layout = layout
    if case .lookAhead(let ahead) = policy { lookAhead = LookAheadPolicy(ahead) }
    motion = ScrollMotion(trace)
    state = ScreenState(layout)
  }

  /// Draws the screen as it stands at a time.
  mutating func draw(at seconds: Double) {
    takeItems()
    state.didScroll(to: motion.place(at: seconds, in: layout))
    if lookAhead == nil { reportPositions() }
    recorder.screenDidChange(to: state.visible, at: seconds)
    for (place, cell) in shown where !state.isVisible(place) {
      cell.leave(prefetcher, at: seconds)
      shown[place] = nil
      spare.append(cell)
    }
    for place in state.visibleCells where shown[place] == nil {
      let cell = spare.popLast() ?? ScrollCell(pipeline, rendition, recorder)
      shown[place] = cell
      cell.show(place, by: prefetcher, at: seconds)
    }
    prefetchAhead(at: seconds)
  }

  /// Takes note of what lists have become longer.
  private mutating func takeItems() {
    var hasChanged = false
    for section in layout.sections.indices {
      let count = layout.sections[section].itemCount
      guard prefetcher.itemCount(in: section) != count else { continue }
      let items = prefetcher.items(in: section)
      for item in items.indices.dropFirst(count) where items[item].artwork == nil {
        recorder.cellHasNoPicture(WindowCell(section: section, item: item))
      }
      layout.setItems(items.count, in: section)
      hasChanged = true
    }
    if hasChanged { state.layoutDidChange(to: layout) }
  }

  private func reportPositions() {
    for (row, offset) in state.rowOffsets.sorted(by: { $0.key < $1.key }) {
      prefetcher.row(row, didScrollTo: offset)
    }
    prefetcher.didScroll(to: state.offset, viewLength: layout.viewHeight)
  }

  /// Names to the prefetcher what the policy wants, and takes back what it does not want any more.
  private mutating func prefetchAhead(at seconds: Double) {
    guard lookAhead != nil else { return }
    lookAhead?.screenDidChange(to: state)
    let ahead = lookAhead?.plan(at: seconds, link: nil).prefetch.map(\.cell) ?? []
    let wanted = Set(ahead)
    let surplus = wished.subtracting(wanted).sorted()
    if !surplus.isEmpty {
      prefetcher.cancelPrefetchingForItems(at: surplus.map(\.indexPath))
    }
    let news = ahead.filter { !wished.contains($0) }
    if !news.isEmpty { prefetcher.prefetchItems(at: news.map(\.indexPath)) }
    wished = wanted
  }
}

extension WindowCell {
  /// The path of this place.
  var indexPath: IndexPath { IndexPath(item: item, section: section) }
}
