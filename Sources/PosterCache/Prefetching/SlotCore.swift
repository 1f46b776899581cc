/// What a slot and those who wait for its states share. Decides with ``SlotMailbox``.
final class SlotCore: Sendable {
  private struct Shared {
    var mailbox = SlotMailbox()
    /// What gets the poster of the current binding.
    var task: Task<Void, Never>?
    /// The name under which the pixels of the current binding are pinned.
    var pinned: ImageKey?
    var continuations: [UInt64: UnsafeContinuation<Void, Never>] = [:]
    var lastConsumer: UInt64 = 0

    mutating func takeContinuations(_ woken: [UInt64]) -> [UnsafeContinuation<Void, Never>] {
      woken.compactMap { continuations.removeValue(forKey: $0) }
    }
  }

  /// What a change leaves to be done once the lock is given back.
  private struct Aftermath {
    var woken: [UnsafeContinuation<Void, Never>] = []
    var task: Task<Void, Never>?
    var pinned: ImageKey?
    /// What was shown, which may be the last reference to many bytes.
    var shown: PosterSlot.State?
  }

  private let pipeline: PosterPipeline
  let rendition: Rendition
  private let onChange: (@Sendable () -> Void)?
  private let shared = Lock(Shared())

  init(pipeline: PosterPipeline, rendition: Rendition, onChange: (@Sendable () -> Void)?) {
    self.pipeline = pipeline
    self.rendition = rendition
    self.onChange = onChange
  }

  var state: PosterSlot.State { shared.withLock { $0.mailbox.state } }

  func bind(_ request: PosterRequest, placeholder: Bitmap?) {
    var request = request
    request.priority = .visible
    guard shared.withLock({ !$0.mailbox.isLive(request) && !$0.mailbox.isClosed }) else { return }
    guard !ForkGuard.isInChild else {
      let aftermath = shared.withLock { shared in
        change(&shared, to: request, .failed(ForkGuard.error), pinned: nil)
      }
      return finish(aftermath, hasChanged: true)
    }
    // Pinned before it is looked for, so that it stays from then on.
    let key = pipeline.imageKey(for: request, rendition)
    pipeline.bitmaps.pin(key)
    let image = pipeline.cachedImage(for: request, as: rendition)
    let state = image.map { .image($0) } ?? waitingState(request, placeholder)
    let (generation, aftermath) =
      shared.withLock { shared -> (UInt64, Aftermath)? in
        // Somebody else may have bound it since.
        guard !shared.mailbox.isLive(request), !shared.mailbox.isClosed else { return nil }
        let aftermath = change(&shared, to: request, state, pinned: key)
        return (shared.mailbox.generation, aftermath)
      } ?? (0, Aftermath(pinned: key))
    finish(aftermath, hasChanged: generation != 0)
    if generation != 0, image == nil { get(request, generation) }
  }

  /// Shows what is at hand of `request` and asks nobody for the rest: somebody else delivers that.
  func bindDeferred(
    _ request: PosterRequest, preview: PosterRequest?, placeholder: Bitmap?
  ) -> (generation: UInt64, hasPicture: Bool) {
    var request = request
    request.priority = .visible
    let key = pipeline.imageKey(for: request, rendition)
    pipeline.bitmaps.pin(key)
    let image = pipeline.cachedImage(for: request, as: rendition)
    let state = image.map { .image($0) } ?? waitingState(request, placeholder)
    let (generation, aftermath) = shared.withLock { shared in
      let aftermath = change(&shared, to: request, state, pinned: key)
      return (shared.mailbox.generation, aftermath)
    }
    finish(aftermath, hasChanged: true)
    return (generation, image != nil)
  }

  /// Takes what came of the poster of the binding `generation`.
  func deliver(_ result: Result<PosterImage, PosterError>, to generation: UInt64) {
    let aftermath = shared.withLock { shared -> Aftermath? in
      let shown = shared.mailbox.state
      guard let woken = shared.mailbox.bindingDidEnd(generation, result) else { return nil }
      return Aftermath(woken: shared.takeContinuations(woken), shown: shown)
    }
    if let aftermath { finish(aftermath, hasChanged: true) }
  }

  /// Takes a preview of the binding `generation`.
  func deliverPreview(_ image: PosterImage, to generation: UInt64) {}

  func prepareForReuse() {
    let aftermath = shared.withLock { shared -> Aftermath? in
      if case .empty = shared.mailbox.state { return nil }
      return change(&shared, to: nil, .empty, pinned: nil)
    }
    if let aftermath { finish(aftermath, hasChanged: true) }
  }

  /// The slot is gone.
  func end() {
    let aftermath = shared.withLock { shared in
      var aftermath = Aftermath(task: shared.task, pinned: shared.pinned)
      aftermath.shown = shared.mailbox.state
      aftermath.woken = shared.takeContinuations(shared.mailbox.slotDidEnd())
      shared.task = nil
      shared.pinned = nil
      return aftermath
    }
    finish(aftermath, hasChanged: false)
  }

  // MARK: - Consumers

  /// The latest state once it is another one than the one numbered `known`; `nil` at the end.
  ///
  /// Taken on the consumer's actor after the last suspension: nothing that happens there later can have
  /// happened before it.
  func next(
    _ known: inout UInt64, isolation actor: isolated (any Actor)?
  ) async -> PosterSlot.State? {
    let consumer = shared.withLock { shared in
      shared.lastConsumer += 1
      return shared.lastConsumer
    }
    while !Task.isCancelled {
      switch shared.withLock({ $0.mailbox.look(known) }) {
      case .state(let state, let version):
        known = version
        return state
      case .end: return nil
      case .wait: await wait(consumer, known, isolation: actor)
      }
    }
    return nil
  }

  /// Waits until the state may be another one than that numbered `known`, the slot has ended or the task
  /// is cancelled.
  private func wait(
    _ consumer: UInt64, _ known: UInt64, isolation actor: isolated (any Actor)?
  ) async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation(isolation: actor) { continuation in
        let mustWait = shared.withLock { shared in
          // A task that is cancelled from here on finds the continuation.
          guard !Task.isCancelled, shared.mailbox.consumerDidAsk(consumer, known: known) else {
            return false
          }
          shared.continuations[consumer] = continuation
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      let continuation = shared.withLock { shared in
        shared.mailbox.consumerDidLeave(consumer)
        return shared.continuations.removeValue(forKey: consumer)
      }
      continuation?.resume()
    }
  }

  // MARK: - Private

  private func waitingState(_ request: PosterRequest, _ placeholder: Bitmap?) -> PosterSlot.State {
    if let placeholder { return .placeholder(.bitmap(placeholder)) }
    return .placeholder(pipeline.averageColor(for: request).map { .color($0) } ?? .blank)
  }

  private func get(_ request: PosterRequest, _ generation: UInt64) {
    let task = Task.detached(priority: .userInitiated) { [self, pipeline, rendition] in
      let result: Result<PosterImage, PosterError>
      do throws(PosterError) {
        result = .success(try await pipeline.image(for: request, as: rendition))
      } catch {
        result = .failure(error)
      }
      let aftermath = shared.withLock { shared -> Aftermath? in
        let shown = shared.mailbox.state
        guard let woken = shared.mailbox.bindingDidEnd(generation, result) else { return nil }
        shared.task = nil
        return Aftermath(woken: shared.takeContinuations(woken), shown: shown)
      }
      if let aftermath { finish(aftermath, hasChanged: true) }
    }
    let isOver = shared.withLock { shared in
      guard shared.mailbox.generation == generation else { return true }
      // It may have ended already, which does not matter: cancelling it does nothing then.
      shared.task = task
      return false
    }
    if isOver { task.cancel() }
  }

  private func change(
    _ shared: inout Shared, to request: PosterRequest?, _ state: PosterSlot.State,
    pinned: ImageKey?
  ) -> Aftermath {
    var aftermath = Aftermath(task: shared.task, pinned: shared.pinned)
    aftermath.shown = shared.mailbox.state
    aftermath.woken = shared.takeContinuations(
      shared.mailbox.slotWasBound(to: request, state))
    shared.task = nil
    shared.pinned = pinned
    return aftermath
  }

  private func finish(_ aftermath: Aftermath, hasChanged: Bool) {
    aftermath.task?.cancel()
    if let pinned = aftermath.pinned, !ForkGuard.isInChild { pipeline.bitmaps.unpin(pinned) }
    for continuation in aftermath.woken { continuation.resume() }
    if hasChanged { onChange?() }
  }
}
