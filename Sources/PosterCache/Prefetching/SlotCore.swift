/// What a slot and those who wait for its states share. Decides with ``SlotMailbox``.
///
/// A slot is bound in one of two ways: ``bind(_:preview:placeholder:)`` asks the pipeline for the poster, and
/// ``bindDeferred(_:preview:placeholder:)`` leaves that to a prefetcher, which delivers. What comes first is
/// shown, whoever brings it.
final class SlotCore: Sendable {
  private struct Shared {
    var mailbox = SlotMailbox()
    /// What gets the poster of the current binding and its preview.
    var task: Task<Void, Never>?
    /// Whether that has been begun for the current binding.
    var isLoading = false
    var pins = Pins()
    var continuations: [UInt64: UnsafeContinuation<Void, Never>] = [:]
    var lastConsumer: UInt64 = 0

    mutating func takeContinuations(_ woken: [UInt64]) -> [UnsafeContinuation<Void, Never>] {
      woken.compactMap { continuations.removeValue(forKey: $0) }
    }
  }

  /// The names under which pixels are pinned for the current binding.
  private struct Pins {
    var picture: ImageKey?
    /// Until the picture is shown.
    var preview: ImageKey?
  }

  /// What a change leaves to be done once the lock is given back.
  private struct Aftermath {
    var woken: [UnsafeContinuation<Void, Never>] = []
    var task: Task<Void, Never>?
    /// Pins to be taken back.
    var pins = Pins()
    /// What was shown, which may be the last reference to many bytes.
    var shown: PosterSlot.State?
  }

  /// A binding as it stands when somebody has bound.
  private struct Binding {
    var generation: UInt64
    var hasPicture: Bool
    var hasPreview: Bool
    /// Whether whoever bound has to get the poster.
    var mustLoad: Bool
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

  var failure: PosterError? { shared.withLock { $0.mailbox.failure } }

  // MARK: - Binding

  /// Shows what is at hand of `request`, and gets the poster if it is not.
  func bind(_ request: PosterRequest, preview: PosterRequest?, placeholder: Bitmap?) {
    let (request, preview) = visible(request, preview)
    let binding = begin(request, preview: preview, placeholder, loading: true)
    guard binding.mustLoad else { return }
    load(request, preview: binding.hasPreview ? nil : preview, binding.generation)
  }

  /// Shows what is at hand of `request` and asks nobody for the rest: somebody else delivers that.
  ///
  /// Binding the same request again while its poster is shown or on its way, in whichever way it was bound
  /// before, changes nothing.
  ///
  /// - Returns: the number to deliver to, and whether the poster or a preview is shown already.
  func bindDeferred(
    _ request: PosterRequest, preview: PosterRequest?, placeholder: Bitmap?
  ) -> (generation: UInt64, hasPicture: Bool, hasPreview: Bool) {
    let (request, preview) = visible(request, preview)
    let binding = begin(request, preview: preview, placeholder, loading: false)
    return (binding.generation, binding.hasPicture, binding.hasPreview)
  }

  /// Takes what came of the poster of the binding `generation`. Ignored if that is over, or shows its poster.
  func deliver(_ result: Result<PosterImage, PosterError>, to generation: UInt64) {
    deliver { mailbox in
      switch result {
      case .success(let image): mailbox.pictureDidCome(image, for: generation)
      case .failure(let error): mailbox.pictureDidFail(error, for: generation)
      }
    }
  }

  /// Takes a preview of the binding `generation`. Ignored if that is over, or shows its poster or a preview.
  func deliverPreview(_ image: PosterImage, to generation: UInt64) {
    deliver { $0.previewDidCome(image, for: generation) }
  }

  func prepareForReuse() {
    let aftermath = shared.withLock { shared -> Aftermath? in
      if case .empty = shared.mailbox.state { return nil }
      return change(&shared, to: nil, .empty, Pins())
    }
    if let aftermath { finish(aftermath, hasChanged: true) }
  }

  /// The slot is gone.
  func end() {
    let aftermath = shared.withLock { shared in
      var aftermath = Aftermath(task: shared.task.take(), pins: shared.pins)
      aftermath.shown = shared.mailbox.state
      aftermath.woken = shared.takeContinuations(shared.mailbox.slotDidEnd())
      shared.pins = Pins()
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

  // MARK: - Beginning

  private func visible(
    _ request: PosterRequest, _ preview: PosterRequest?
  ) -> (request: PosterRequest, preview: PosterRequest?) {
    var (request, preview) = (request, preview)
    request.priority = .visible
    preview?.priority = .visible
    return (request, preview == request ? nil : preview)
  }

  /// Begins a binding, unless it goes on with the one that is there.
  ///
  /// - Parameter isLoading: whether whoever binds is ready to get the poster.
  private func begin(
    _ request: PosterRequest, preview: PosterRequest?, _ placeholder: Bitmap?,
    loading isLoading: Bool
  ) -> Binding {
    let current = shared.withLock { goOn(&$0, request, loading: isLoading) }
    if let current { return current }
    var pins = Pins()
    let state: PosterSlot.State
    if ForkGuard.isInChild {
      state = .failed(ForkGuard.error)
    } else {
      // Pinned before it is looked for, so that it stays from then on.
      pins.picture = pin(request)
      if let image = pipeline.cachedImage(for: request, as: rendition) {
        state = .image(image)
      } else {
        pins.preview = preview.map { pin($0) }
        state = .placeholder(self.placeholder(for: request, preview, placeholder))
      }
    }
    let (binding, aftermath) = shared.withLock { shared -> (Binding, Aftermath?) in
      // Somebody else may have bound it since.
      if let current = goOn(&shared, request, loading: isLoading) { return (current, nil) }
      let aftermath = change(&shared, to: request, state, pins)
      let mailbox = shared.mailbox
      shared.isLoading = isLoading && !mailbox.hasPicture && mailbox.failure == nil
      let binding = Binding(
        generation: mailbox.generation, hasPicture: mailbox.hasPicture,
        hasPreview: mailbox.hasPreview, mustLoad: shared.isLoading)
      return (binding, aftermath)
    }
    if let aftermath {
      finish(aftermath, hasChanged: true)
    } else {
      finish(Aftermath(pins: pins), hasChanged: false)
    }
    return binding
  }

  /// The current binding if it is for `request` and was not in vain so far, or if nothing can be bound any
  /// more.
  private func goOn(
    _ shared: inout Shared, _ request: PosterRequest, loading isLoading: Bool
  ) -> Binding? {
    let mailbox = shared.mailbox
    guard mailbox.isLive(request) || mailbox.isClosed else { return nil }
    // Bound for somebody to deliver, and now by somebody who wants the slot to get it by itself.
    let mustLoad =
      isLoading && !shared.isLoading && !mailbox.hasPicture && !mailbox.isClosed
    if mustLoad { shared.isLoading = true }
    return Binding(
      generation: mailbox.generation, hasPicture: mailbox.hasPicture,
      hasPreview: mailbox.hasPreview, mustLoad: mustLoad)
  }

  private func pin(_ request: PosterRequest) -> ImageKey {
    let key = pipeline.imageKey(for: request, rendition)
    pipeline.bitmaps.pin(key)
    return key
  }

  private func placeholder(
    for request: PosterRequest, _ preview: PosterRequest?, _ bitmap: Bitmap?
  ) -> PosterSlot.Placeholder {
    if let preview, let image = pipeline.cachedImage(for: preview, as: rendition) {
      return .preview(image)
    }
    if let bitmap { return .bitmap(bitmap) }
    return pipeline.averageColor(for: request).map { .color($0) } ?? .blank
  }

  private func change(
    _ shared: inout Shared, to request: PosterRequest?, _ state: PosterSlot.State, _ pins: Pins
  ) -> Aftermath {
    var aftermath = Aftermath(task: shared.task.take(), pins: shared.pins)
    aftermath.shown = shared.mailbox.state
    aftermath.woken = shared.takeContinuations(shared.mailbox.slotWasBound(to: request, state))
    shared.isLoading = false
    shared.pins = pins
    return aftermath
  }

  // MARK: - Loading

  private func load(_ request: PosterRequest, preview: PosterRequest?, _ generation: UInt64) {
    let task = Task.detached(priority: .userInitiated) { [self] in
      // Begun here up to where it waits, so that its server is asked for the preview first.
      let previewTask = preview.flatMap { preview -> Task<Void, Never>? in
        guard !pipeline.isAtHand(request) else { return nil }
        return Task.immediate(priority: .userInitiated) {
          guard case .success(let image) = await image(for: preview) else { return }
          deliverPreview(image, to: generation)
        }
      }
      // Cancelled as soon as the picture is shown.
      await withTaskCancellationHandler {
        deliver(await image(for: request), to: generation)
        await previewTask?.value
      } onCancel: {
        previewTask?.cancel()
      }
    }
    let isOver = shared.withLock { shared in
      guard shared.mailbox.generation == generation, !shared.mailbox.hasPicture else { return true }
      // It may have ended already, which does not matter: cancelling it does nothing then.
      shared.task = task
      return false
    }
    if isOver { task.cancel() }
  }

  private func image(for request: PosterRequest) async -> Result<PosterImage, PosterError> {
    do throws(PosterError) {
      return .success(try await pipeline.image(for: request, as: rendition))
    } catch {
      return .failure(error)
    }
  }

  // MARK: - Delivering

  /// Has the mailbox take something with `take`, which says who is to be woken, and `nil` if nothing has
  /// changed.
  private func deliver(_ take: (inout SlotMailbox) -> [UInt64]?) {
    let aftermath = shared.withLock { shared -> Aftermath? in
      let shown = shared.mailbox.state
      guard let woken = take(&shared.mailbox) else { return nil }
      var aftermath = Aftermath(woken: shared.takeContinuations(woken), shown: shown)
      if shared.mailbox.hasPicture {
        aftermath.task = shared.task.take()
        aftermath.pins.preview = shared.pins.preview.take()
      }
      return aftermath
    }
    if let aftermath { finish(aftermath, hasChanged: true) }
  }

  private func finish(_ aftermath: Aftermath, hasChanged: Bool) {
    aftermath.task?.cancel()
    if !ForkGuard.isInChild {
      if let pinned = aftermath.pins.picture { pipeline.bitmaps.unpin(pinned) }
      if let pinned = aftermath.pins.preview { pipeline.bitmaps.unpin(pinned) }
    }
    for continuation in aftermath.woken { continuation.resume() }
    if hasChanged { onChange?() }
  }
}
