/// Positions, wishes and slots.
extension PrefetchDriver {
  func didScroll(to offset: Double, viewLength: Double) {
    take { shared, now in
      shared.ledger.didScroll(to: offset, viewLength: viewLength, at: now)
    }
  }

  func row(_ section: Int, didScrollTo offset: Double) {
    take { shared, now in shared.ledger.row(section, didScrollTo: offset, at: now) }
  }

  func visibleItemsDidChange(_ cells: [WindowCell]) {
    take { shared, now in shared.ledger.visibleItemsDidChange(cells, at: now) }
  }

  func prefetch(_ cells: [WindowCell]) {
    take { shared, now in
      for cell in cells where shared.ledger.state(of: cell) == .loaded {
        if !isAtHand(cell, shared) { shared.ledger.pictureWasLost(cell) }
      }
      shared.ledger.itemsWereWished(cells, at: now)
    }
  }

  func cancelPrefetching(_ cells: [WindowCell]) {
    take { shared, _ in shared.ledger.wishesWereTakenBack(cells) }
  }

  func stop() {
    take { shared, now in shared.ledger.didStop(at: now) }
  }

  /// Nobody will report anything any more.
  func end() {
    stop()
    let subscribers = write { shared in
      defer { shared.subscribers = [:] }
      return Array(shared.subscribers.values)
    }
    for subscriber in subscribers { subscriber.finish() }
  }

  var statistics: Prefetcher.Statistics {
    read { shared in
      var statistics = shared.ledger.statistics
      statistics.inFlight = shared.ledger.asks.count
      statistics.pagesInFlight = shared.ledger.sections.count { $0.pages.loading != nil }
      return statistics
    }
  }

  // MARK: - Slots

  func bind(_ slot: PosterSlot, at cell: WindowCell?, placeholder: Bitmap?) {
    let core = slot.core
    // The list may change while the slot is bound.
    while let cell, let item = item(at: cell), let wanted = request(for: item) {
      let preview = preview(for: item)
      let (generation, hasPicture, hasPreview) = core.bindDeferred(
        wanted, preview: preview, placeholder: placeholder)
      let isDone = take { shared, now -> Bool in
        guard shared.item(at: cell) == item else { return false }
        let binding = Binding(
          slot: core, cell: cell, generation: generation, rendition: core.rendition,
          hasPicture: hasPicture, hasPreview: hasPreview)
        guard shared.slotWasBound(binding, at: now) else { return true }
        if !hasPicture, !hasPreview, let preview, pipeline.cachedPoster(for: preview) != nil {
          shared.ledger.slotWaits(for: WindowAsk(cell, .preview))
        }
        return true
      }
      if isDone { return }
    }
    unbind(slot)
  }

  func unbind(_ slot: PosterSlot) {
    slot.prepareForReuse()
    let id = ObjectIdentifier(slot.core)
    take { shared, _ in
      guard let binding = shared.bindings.removeValue(forKey: id) else { return }
      shared.ledger.slotWasUnbound(from: binding.cell)
    }
  }

  // MARK: - Tickets

  /// What to ask the pipeline for.
  func job(for ask: WindowAsk, _ priority: Priority, _ shared: borrowing Shared) -> PrefetchJob {
    guard let item = shared.item(at: ask.cell),
      var request = (ask.rung == .preview ? preview(for: item) : nil) ?? request(for: item)
    else {
      preconditionFailure("\(ask) was asked for, which has no picture")
    }
    request.priority = priority
    // Pixels for whoever waits for them; a slot needs them whatever is left behind otherwise.
    let rendition = shared.bindings.values.first { $0.waits(for: ask) }?.rendition
    let yield = rendition.map { .pixels($0) } ?? configuration.yield
    return PrefetchJob(
      request: request,
      yield: yield == .stored && priority == .visible ? .poster : yield)
  }

  /// A ticket's answer is there.
  func ticketDidEnd(_ number: Number, _ result: Result<PrefetchJob.Yield, PosterError>) {
    var arrival: (ask: WindowAsk, isPrefetch: Bool)?
    let usualBytes = Int((link() ?? .assumed).possible.meanBytes)
    let deliveries = take { shared, now -> [Delivery] in
      guard let ask = shared.ledger.ask(of: number) else { return [] }
      switch result {
      case .success(let yield):
        let interest = shared.ledger.interests[ask]
        // A second ticket is that of a cell that has become visible since it was asked for.
        arrival = (ask, interest.map { $0.tickets.count > 1 || !$0.isVisible } ?? false)
        shared.ledger.ticketDidFinish(number, bytes: yield.bytes ?? usualBytes, at: now)
        return shared.deliver(yield, for: ask)
      case .failure(let error):
        shared.ledger.ticketDidFail(number)
        guard ask.rung == .full, shared.ledger.interests[ask] == nil else { return [] }
        return shared.deliver(error, for: ask)
      }
    }
    if let arrival { configuration.onPicture?(arrival.ask, arrival.isPrefetch) }
    for delivery in deliveries { delivery.perform() }
  }

  /// Whether what a prefetch left behind of an item is still there.
  private func isAtHand(_ cell: WindowCell, _ shared: borrowing Shared) -> Bool {
    guard let item = shared.item(at: cell), var request = request(for: item) else { return true }
    request.priority = .prefetch
    switch configuration.yield {
    case .pixels(let rendition): return pipeline.cachedImage(for: request, as: rendition) != nil
    case .poster: return pipeline.cachedPoster(for: request) != nil
    case .stored: return true
    }
  }

  /// Something for a slot, to be handed over outside the lock.
  struct Delivery: Sendable {
    var slot: SlotCore
    var generation: UInt64
    var result: Result<PosterImage, PosterError>
    var isPreview = false

    func perform() {
      if isPreview, case .success(let image) = result {
        slot.deliverPreview(image, to: generation)
      } else {
        slot.deliver(result, to: generation)
      }
    }
  }
}

extension PrefetchDriver.Shared {
  func item(at cell: WindowCell) -> FeedItem? {
    guard contents.indices.contains(cell.section),
      contents[cell.section].items.indices.contains(cell.item)
    else { return nil }
    return contents[cell.section].items[cell.item]
  }

  /// Notes that a slot shows an item from now on; `false` if another thread has bound it since.
  mutating func slotWasBound(_ binding: PrefetchDriver.Binding, at seconds: Double) -> Bool {
    guard let slot = binding.slot else { return false }
    let id = ObjectIdentifier(slot)
    if let old = bindings[id] {
      guard old.generation <= binding.generation else { return false }
      ledger.slotWasUnbound(from: old.cell)
    }
    bindings[id] = binding
    ledger.slotWasBound(to: binding.cell, needsPicture: !binding.hasPicture, at: seconds)
    return true
  }

  /// What a picture that came means for the slots that wait for it; one that needs other pixels asks anew.
  mutating func deliver(
    _ yield: PrefetchJob.Yield, for ask: WindowAsk
  ) -> [PrefetchDriver.Delivery] {
    var deliveries: [PrefetchDriver.Delivery] = []
    for (id, binding) in bindings where binding.waits(for: ask) {
      guard let (image, rendition) = yield.image, rendition == binding.rendition,
        let slot = binding.slot
      else { continue }
      if ask.rung == .full {
        bindings[id]?.hasPicture = true
      } else {
        bindings[id]?.hasPreview = true
      }
      deliveries.append(
        PrefetchDriver.Delivery(
          slot: slot, generation: binding.generation, result: .success(image),
          isPreview: ask.rung == .preview))
    }
    if bindings.values.contains(where: { $0.waits(for: ask) }) { ledger.slotWaits(for: ask) }
    return deliveries
  }

  /// What a picture that could not be had means for the slots that wait for it.
  mutating func deliver(
    _ error: PosterError, for ask: WindowAsk
  ) -> [PrefetchDriver.Delivery] {
    var deliveries: [PrefetchDriver.Delivery] = []
    for binding in bindings.values where binding.waits(for: ask) {
      guard let slot = binding.slot else { continue }
      deliveries.append(
        PrefetchDriver.Delivery(
          slot: slot, generation: binding.generation, result: .failure(error)))
    }
    return deliveries
  }

  /// Lets go of what slots wait for that are gone.
  mutating func forgetLostSlots() {
    for (id, binding) in bindings where binding.slot == nil {
      bindings[id] = nil
      ledger.slotWasUnbound(from: binding.cell)
    }
  }
}
