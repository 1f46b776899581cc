import PosterCache

/// A slot of a replayed scroll, used again and again, that notes what it shows and when.
final class ScrollCell: Sendable {
  private let slot: PosterSlot
  private let watch: Watch

  init(_ pipeline: PosterPipeline, _ rendition: Rendition, _ recorder: ScrollRecorder) {
    let watch = Watch(recorder)
    self.watch = watch
    slot = PosterSlot(pipeline: pipeline, rendition: rendition) { watch.slotDidChange() }
    watch.watch(slot)
  }

  /// Shows the picture of an item from now on.
  func show(_ place: WindowCell, by prefetcher: Prefetcher, at seconds: Double) {
    watch.bind(to: place, at: seconds) { slot in
      prefetcher.bind(slot, at: place.indexPath)
    }
  }

  /// Shows nothing.
  func leave(_ prefetcher: Prefetcher, at seconds: Double) {
    watch.unbind(at: seconds)
    prefetcher.unbind(slot)
  }

  /// What knows the slot's place. Its lock is held while something is noted, so that nothing is noted for a
  /// place that the slot has left.
  private final class Watch: Sendable {
    private struct State {
      weak var slot: PosterSlot?
      var place: WindowCell?
      /// Whoever binds looks by itself what is shown then.
      var isBinding = false
    }

    private let recorder: ScrollRecorder
    private let state = Lock(State())

    init(_ recorder: ScrollRecorder) {
      self.recorder = recorder
    }

    func watch(_ slot: PosterSlot) {
      state.withLock { $0.slot = slot }
    }

    func bind(to place: WindowCell, at seconds: Double, _ body: (PosterSlot) -> Void) {
      let slot = state.withLock { state in
        state.place = place
        state.isBinding = true
        return state.slot
      }
      guard let slot else { return }
      body(slot)
      state.withLock { state in
        state.isBinding = false
        note(slot, in: place, at: seconds)
      }
    }

    func unbind(at seconds: Double) {
      state.withLock { state in
        if let place = state.place.take() { recorder.pictureDidVanish(from: place, at: seconds) }
      }
    }

    func slotDidChange() {
      state.withLock { state in
        guard !state.isBinding, let slot = state.slot, let place = state.place else { return }
        note(slot, in: place, at: nil)
      }
    }

    private func note(_ slot: PosterSlot, in place: WindowCell, at seconds: Double?) {
      if let failure = slot.failure { recorder.pictureDidFail(in: place, failure) }
      switch slot.state {
      case .image: recorder.pictureDidAppear(in: place, .full, at: seconds)
      case .placeholder(.preview): recorder.pictureDidAppear(in: place, .preview, at: seconds)
      case .empty, .placeholder, .failed: break
      }
    }
  }
}
