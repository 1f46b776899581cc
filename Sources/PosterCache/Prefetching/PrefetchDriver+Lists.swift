/// Sections, items and pages.
extension PrefetchDriver {
  func appendSection(
    _ feed: some FeedSource, _ section: VisibleWindow.Section, loadsFirstPage: Bool
  ) -> Int {
    // Not under the lock: it is the program's.
    let hasPages = feed.hasNextPage
    return take { shared, _ in
      shared.contents.append(Content(feed: feed))
      shared.ledger.sectionWasAppended(
        section, hasPages: hasPages, loadsFirstPage: loadsFirstPage)
      return shared.contents.count - 1
    }
  }

  func replaceSection(_ section: Int, with feed: some FeedSource) {
    let hasPages = feed.hasNextPage
    take { shared, now -> Content? in
      guard shared.contents.indices.contains(section) else { return nil }
      let replaced = shared.contents[section]
      shared.contents[section] = Content(feed: feed)
      shared.forgetBindings { $0.section == section ? nil : $0 }
      shared.ledger.sectionWasReplaced(section, hasPages: hasPages, at: now)
      shared.tell(.items(section: section))
      // The program's feed is let go of outside the lock.
      return replaced
    }
  }

  func setItems(_ items: [FeedItem], in section: Int) {
    let blanks = items.map { request(for: $0) == nil }
    take { shared, now -> Content? in
      guard shared.contents.indices.contains(section) else { return nil }
      let replaced = shared.contents[section]
      let kept = zip(shared.contents[section].items, items).prefix { $0 == $1 }.count
      let isOther = kept < min(shared.contents[section].items.count, items.count)
      shared.contents[section] = Content(feed: FixedFeed([]), items: items)
      shared.forgetBindings { cell in
        cell.section == section && (isOther || cell.item >= items.count) ? nil : cell
      }
      shared.ledger.itemsDidChange(
        in: section, blanks: blanks, keptCount: kept, at: now)
      shared.tell(.items(section: section))
      return replaced
    }
  }

  func setLayout(
    _ layout: VisibleWindow.Layout, spacingBefore: Double, ofSection section: Int
  ) {
    take { shared, _ in
      shared.ledger.layoutDidChange(layout, spacingBefore: spacingBefore, of: section)
    }
  }

  func removeSection(_ section: Int) {
    take { shared, now -> Content? in
      guard shared.contents.indices.contains(section) else { return nil }
      let removed = shared.contents.remove(at: section)
      shared.forgetBindings { cell in
        if cell.section == section { return nil }
        return cell.section < section
          ? cell : WindowCell(section: cell.section - 1, item: cell.item)
      }
      shared.ledger.sectionWasRemoved(section, at: now)
      return removed
    }
  }

  func retryPage(of section: Int) {
    take { shared, _ in shared.ledger.retryWasWanted(of: section) }
  }

  var sectionCount: Int { read { $0.contents.count } }

  func items(in section: Int) -> [FeedItem] {
    read { $0.contents.indices.contains(section) ? $0.contents[section].items : [] }
  }

  func itemCount(in section: Int) -> Int { items(in: section).count }

  func item(at cell: WindowCell) -> FeedItem? {
    let items = items(in: cell.section)
    return items.indices.contains(cell.item) ? items[cell.item] : nil
  }

  func pages(of section: Int) -> Prefetcher.Pages {
    read { shared in
      guard shared.contents.indices.contains(section) else { return .ended }
      let pages = shared.ledger.sections[section].pages
      if pages.loading != nil { return .loading }
      if pages.hasFailed, let failure = shared.contents[section].failure { return .failed(failure) }
      return pages.hasEnded ? .ended : .idle
    }
  }

  func changes() -> AsyncStream<Prefetcher.Change> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Prefetcher.Change.self, bufferingPolicy: .bufferingNewest(1024))
    let number = write { shared in
      shared.lastSubscriber += 1
      shared.subscribers[shared.lastSubscriber] = continuation
      return shared.lastSubscriber
    }
    continuation.onTermination = { [weak self] _ in
      self?.write { $0.subscribers[number] = nil }
    }
    return stream
  }

  /// A page came, or could not be had.
  ///
  /// - Parameter feed: the list behind it.
  func pageDidEnd(
    _ number: Number, _ feed: any FeedSource, _ result: Result<FeedPage?, PosterError>
  ) {
    switch result {
    case .success(let page):
      let items = page?.items ?? []
      let blanks = items.map { request(for: $0) == nil }
      let hasMore = page != nil && feed.hasNextPage
      take { shared, _ in
        guard let section = shared.ledger.pageDidLoad(number, blanks: blanks, hasMore: hasMore)
        else { return }
        shared.contents[section].feed = feed
        shared.contents[section].items += items
        shared.contents[section].failure = nil
        if !items.isEmpty { shared.tell(.items(section: section)) }
        if shared.ledger.sections[section].pages.hasEnded { shared.tell(.end(section: section)) }
      }
    case .failure(let error):
      take { shared, now in
        guard let section = shared.ledger.pageDidFail(number, PageFailure(error), at: now)
        else { return }
        shared.contents[section].feed = feed
        shared.contents[section].failure = error
        shared.tell(.pageFailed(section: section, error))
      }
    }
  }

  func request(for item: FeedItem) -> PosterRequest? {
    item.request(size: configuration.size, on: configuration.images)
  }

  /// What to ask for a preview; `nil` if there are none.
  func preview(for item: FeedItem) -> PosterRequest? {
    configuration.previewSize.flatMap { item.request(size: $0, on: configuration.images) }
  }
}

extension PrefetchDriver.Shared {
  /// Has subscribers told of a change, after what has been decided before it.
  mutating func tell(_ change: Prefetcher.Change) {
    guard !subscribers.isEmpty else { return }
    outbox.append(.tell(change, Array(subscribers.values)))
  }

  /// Gives bindings other places; those that have none any more end.
  mutating func forgetBindings(_ rename: (WindowCell) -> WindowCell?) {
    bindings = bindings.compactMapValues { binding in
      guard let cell = rename(binding.cell) else { return nil }
      var binding = binding
      binding.cell = cell
      return binding
    }
  }
}
