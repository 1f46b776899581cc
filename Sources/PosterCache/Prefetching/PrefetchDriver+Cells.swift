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
    take { shared, _ in shared.ledger.didStop() }
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
    while true {
      let request = cell.flatMap { cell in read { $0.request(at: cell) } }
      guard let cell, let request else {
        slot.prepareForReuse()
        return unbind(core)
      }
      let (generation, hasPicture) = core.bindDeferred(
        request, preview: preview(of: request, at: cell), placeholder: placeholder)
      let isDone = take { shared, now -> Bool in
        guard shared.request(at: cell) == request else { return false }
        let id = ObjectIdentifier(core)
        if let old = shared.bindings[id] {
          // Another thread has bound it since.
          guard old.slot !== core || old.generation < generation else { return true }
          shared.ledger.slotWasUnbound(from: old.cell)
        }
        shared.bindings[id] = Binding(
          slot: core, cell: cell, generation: generation, rendition: core.rendition,
          isServed: hasPicture)
        shared.ledger.slotWasBound(to: cell, needsPicture: !hasPicture, at: now)
        return true
      }
      if isDone { return }
    }
  }

  func unbind(_ slot: PosterSlot) {
    slot.prepareForReuse()
    unbind(slot.core)
  }

  private func unbind(_ core: SlotCore) {
    take { shared, _ in
      guard let binding = shared.bindings.removeValue(forKey: ObjectIdentifier(core)) else {
        return
      }
      shared.ledger.slotWasUnbound(from: binding.cell)
    }
  }

  // MARK: - Tickets

  /// What to ask the pipeline for.
  func job(for ask: WindowAsk, _ priority: Priority, _ shared: borrowing Shared) -> PrefetchJob {
    guard var request = shared.request(at: ask.cell) else {
      preconditionFailure("\(ask) was asked for, which has no picture")
    }
    if ask.rung == .preview { request = preview(of: request, at: ask.cell, shared) ?? request }
    request.priority = priority
    // Pixels for whoever waits for them; a slot needs them whatever is left behind otherwise.
    let rendition = shared.bindings.values.first {
      $0.cell == ask.cell && !$0.isServed
    }?.rendition
    let yield = rendition.map { .pixels($0) } ?? configuration.yield
    return PrefetchJob(
      request: request,
      yield: yield == .stored && priority == .visible ? .poster : yield)
  }

  /// A ticket's answer is there.
  func ticketDidEnd(_ number: Number, _ result: Result<PrefetchJob.Yield, PosterError>) {
    let deliveries = take { shared, now -> [Delivery] in
      guard let ask = shared.ledger.ask(of: number) else { return [] }
      switch result {
      case .success(let yield):
        shared.ledger.ticketDidFinish(
          number, bytes: yield.bytes ?? Int(LinkFigures.assumed.meanBytes), at: now)
        return shared.deliver(yield, for: ask)
      case .failure(let error):
        shared.ledger.ticketDidFail(number)
        guard ask.rung == .full, shared.ledger.interests[ask] == nil else { return [] }
        return shared.deliver(error, to: ask.cell)
      }
    }
    for delivery in deliveries { delivery.perform() }
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
