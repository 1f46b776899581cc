import FoundationEssentials

/// Gets the pictures of lists on a screen: what is visible first, then what will be visible soon, and the
/// next page when the end comes near.
///
/// A program tells it what it shows (``appendSection(_:layout:spacingBefore:loadsFirstPage:)``), where its
/// scrolls stand (``didScroll(to:viewLength:)``, ``row(_:didScrollTo:)``, or ``visibleItemsDidChange(_:)``)
/// and which slot shows which item (``bind(_:at:placeholder:)``); ``changes`` tells when items have come.
/// What to load, in which order, what to let go and when to ask for a page follows from that, by
/// ``VisibleWindow``. ``prefetchItems(at:)`` names items beyond that, as UIKit does; programs without scroll
/// reports can live on it alone.
///
/// Requests share transfers with everybody else's on the same pipeline, and letting go of one disturbs nobody
/// else. Paths that are no item's are ignored everywhere. Decisions are made on the caller's thread under a
/// lock that is held for some 50 µs. Safe to use from any thread and task. Letting go of a prefetcher is
/// the same as ``stop()``.
public final class Prefetcher: PrefetchingDataSource, Sendable {
  let driver: PrefetchDriver

  /// A prefetcher without sections.
  public init(_ pipeline: PosterPipeline, _ configuration: Configuration = Configuration()) {
    driver = PrefetchDriver(pipeline, configuration, clock: .system)
  }

  /// The same with another clock.
  init(_ pipeline: PosterPipeline, _ configuration: Configuration, clock: PrefetchClock) {
    driver = PrefetchDriver(pipeline, configuration, clock: clock)
  }

  deinit { driver.end() }

  // MARK: - Sections

  /// Adds a section below the others.
  ///
  /// - Parameters:
  ///   - feed: where its items come from.
  ///   - layout: how its items stand.
  ///   - spacingBefore: space before its first row.
  ///   - loadsFirstPage: whether its first page is asked for at once (the default), or when its place comes
  ///     near.
  /// - Returns: its index.
  @discardableResult
  public func appendSection(
    _ feed: some FeedSource, layout: VisibleWindow.Layout, spacingBefore: Double = 0,
    loadsFirstPage: Bool = true
  ) -> Int {
    driver.appendSection(
      feed, VisibleWindow.Section(layout, spacingBefore: spacingBefore),
      loadsFirstPage: loadsFirstPage)
  }

  /// Gives a section another list. Its items are gone until the first page comes, which is asked for at once;
  /// an answer to what was asked before is thrown away. Cells must be bound anew.
  public func replaceSection(_ section: Int, with feed: some FeedSource) {
    driver.replaceSection(section, with: feed)
  }

  /// Gives a section these items in place of those that are there, and no further pages.
  ///
  /// Where the list only became longer or shorter, what is on its way for the items that stay goes on;
  /// otherwise cells must be bound anew.
  public func setItems(_ items: [FeedItem], in section: Int) {
    driver.setItems(items, in: section)
  }

  /// Says that the items of a section stand in another way from now on, after a rotation say.
  public func setLayout(
    _ layout: VisibleWindow.Layout, spacingBefore: Double = 0, ofSection section: Int
  ) {
    driver.setLayout(layout, spacingBefore: spacingBefore, ofSection: section)
  }

  /// Removes a section; those below move up by one index.
  public func removeSection(_ section: Int) {
    driver.removeSection(section)
  }

  /// How many sections there are.
  public var sectionCount: Int { driver.sectionCount }

  /// The items of a section that are there so far; none if there is no such section.
  public func items(in section: Int) -> [FeedItem] { driver.items(in: section) }

  /// How many items of a section are there so far.
  public func itemCount(in section: Int) -> Int { driver.itemCount(in: section) }

  /// The item at `indexPath`, `nil` if there is none.
  public func item(at indexPath: IndexPath) -> FeedItem? {
    WindowCell(indexPath).flatMap { driver.item(at: $0) }
  }

  /// How the pages of a section stand; ended if there is no such section.
  public func pages(of section: Int) -> Pages { driver.pages(of: section) }

  /// Asks for a section's next page now, if it could not be had before.
  public func retryPage(of section: Int) {
    driver.retryPage(of: section)
  }

  /// What happens to the lists from now on. Any number may iterate, each is told of everything; who does not
  /// take 1,024 changes in a row misses the oldest. Ends with the prefetcher.
  public var changes: AsyncStream<Change> { driver.changes() }

  // MARK: - Where it stands

  /// The sections' scroll stands at `offset`, seen through `viewLength`.
  public func didScroll(to offset: Double, viewLength: Double) {
    driver.didScroll(to: offset, viewLength: viewLength)
  }

  /// The row of `section` stands at `offset` of its own scroll.
  public func row(_ section: Int, didScrollTo offset: Double) {
    driver.row(section, didScrollTo: offset)
  }

  /// These items are visible now, in any order: for programs that do not know where their scrolls stand. The
  /// positions are derived from the layouts.
  public func visibleItemsDidChange(_ indexPaths: [IndexPath]) {
    driver.visibleItemsDidChange(indexPaths.compactMap(WindowCell.init))
  }

  // MARK: - Cells

  /// Has `slot` show the picture of the item at `indexPath` from now on.
  ///
  /// Pixels that are in memory are its state when this returns. Otherwise they come when the plan says so:
  /// for a cell that flies past, perhaps never. An item without a picture, or none, leaves the slot
  /// empty. Never waits.
  ///
  /// - Parameter placeholder: what to show meanwhile; the poster's average colour, if known, unless given.
  public func bind(_ slot: PosterSlot, at indexPath: IndexPath, placeholder: Bitmap? = nil) {
    driver.bind(slot, at: WindowCell(indexPath), placeholder: placeholder)
  }

  /// Empties `slot`, and lets go of what was on its way for it alone.
  public func unbind(_ slot: PosterSlot) {
    driver.unbind(slot)
  }

  // MARK: - Prefetching

  /// Gets the pictures of these items ready, in this order and after what the scrolls ask for.
  public func prefetchItems(at indexPaths: [IndexPath]) {
    driver.prefetch(indexPaths.compactMap(WindowCell.init))
  }

  /// Takes back what ``prefetchItems(at:)`` asked for. What is visible, what the scrolls ask for and what
  /// others ask for goes on.
  public func cancelPrefetchingForItems(at indexPaths: [IndexPath]) {
    driver.cancelPrefetching(indexPaths.compactMap(WindowCell.init))
  }

  /// Lets go of everything that is on its way at once, pages as well, and does nothing more until it is told
  /// something again: a position, a binding, an item to prefetch, a section.
  public func stop() {
    driver.stop()
  }

  /// What it did so far.
  public var statistics: Statistics { driver.statistics }

  /// Waits until nothing is on its way, not even what was let go of: for tests.
  func finish() async {
    await driver.finish()
  }
}
