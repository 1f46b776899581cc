/// What a slot shows now, and who waits for it to change.
///
/// A struct without lock, task or continuation. It holds the latest state alone: whoever waited is woken
/// without a value and takes what there is when it runs, so that no earlier state is ever on its way to
/// anybody. A binding is a generation; what comes of an earlier one is refused. States are counted, so
/// that each consumer is told of a state once, and of states that nobody saw never.
///
/// A binding climbs: what it was bound with, an error, a preview, the picture. What comes is shown if it
/// is higher than what is shown, in whatever order things come, so that nobody sees a step back.
struct SlotMailbox {
  /// What a consumer is told.
  enum Taking {
    /// The latest state and its number.
    case state(PosterSlot.State, version: UInt64)
    /// It is the one that the consumer knows: wait to be woken.
    case wait
    /// The slot is gone.
    case end
  }

  /// What is shown now.
  private(set) var state = PosterSlot.State.empty
  /// What is bound; `nil` if nothing is.
  private(set) var request: PosterRequest?
  /// Why the bound picture could not be had, if it could not.
  private(set) var failure: PosterError?
  /// The number of the binding; counts up.
  private(set) var generation: UInt64 = 0
  /// Nothing more is shown.
  private(set) var isClosed = false

  private var version: UInt64 = 1
  private var waiting: [UInt64] = []

  /// Whether `request` is bound and was not in vain so far.
  func isLive(_ request: PosterRequest) -> Bool {
    self.request == request && failure == nil
  }

  /// Whether the picture is shown.
  var hasPicture: Bool { if case .image = state { true } else { false } }

  /// Whether a preview is shown.
  var hasPreview: Bool { if case .placeholder(.preview) = state { true } else { false } }

  // MARK: - Bindings

  /// Begins a new binding, or the state of being bound to nothing.
  ///
  /// - Returns: those who are to be woken.
  mutating func slotWasBound(to request: PosterRequest?, _ state: PosterSlot.State) -> [UInt64] {
    guard !isClosed else { return [] }
    // What is bound again since its picture could not be had must not lose its preview.
    let keepsPreview: Bool =
      if case .placeholder = state { request == self.request && hasPreview } else { false }
    generation += 1
    self.request = request
    failure = if case .failed(let error) = state { error } else { nil }
    return keepsPreview ? [] : show(state)
  }

  /// Takes the picture of the binding `generation`.
  ///
  /// - Returns: those who are to be woken; `nil` if nothing changes, as that binding is over or has its
  ///   picture.
  mutating func pictureDidCome(_ image: PosterImage, for generation: UInt64) -> [UInt64]? {
    guard isCurrent(generation), !hasPicture else { return nil }
    failure = nil
    return show(.image(image))
  }

  /// Takes a preview of the binding `generation`.
  ///
  /// - Returns: those who are to be woken; `nil` if nothing changes, as that binding is over, or has its
  ///   picture or a preview.
  mutating func previewDidCome(_ image: PosterImage, for generation: UInt64) -> [UInt64]? {
    guard isCurrent(generation), !hasPicture, !hasPreview else { return nil }
    return show(.placeholder(.preview(image)))
  }

  /// Takes note that the picture of the binding `generation` cannot be had.
  ///
  /// - Returns: those who are to be woken; `nil` if nothing changes, as that binding is over, has its picture
  ///   or has failed before.
  mutating func pictureDidFail(_ error: PosterError, for generation: UInt64) -> [UInt64]? {
    guard isCurrent(generation), !hasPicture, failure == nil else { return nil }
    failure = error
    return hasPreview ? [] : show(.failed(error))
  }

  /// Shows nothing more.
  ///
  /// - Returns: those who are to be woken.
  mutating func slotDidEnd() -> [UInt64] {
    isClosed = true
    generation += 1
    request = nil
    failure = nil
    state = .empty
    defer { waiting = [] }
    return waiting
  }

  // MARK: - Consumers

  /// What is news to a consumer that knows the state numbered `known`.
  func look(_ known: UInt64) -> Taking {
    if isClosed { return .end }
    return version == known ? .wait : .state(state, version: version)
  }

  /// Has a consumer wait that knows the state numbered `known`; `false` if there is news for it.
  mutating func consumerDidAsk(_ consumer: UInt64, known: UInt64) -> Bool {
    guard case .wait = look(known) else { return false }
    waiting.append(consumer)
    return true
  }

  /// Notes that a consumer does not wait any more.
  mutating func consumerDidLeave(_ consumer: UInt64) {
    waiting.removeAll { $0 == consumer }
  }

  // MARK: - Private

  private func isCurrent(_ generation: UInt64) -> Bool {
    generation == self.generation && request != nil
  }

  private mutating func show(_ state: PosterSlot.State) -> [UInt64] {
    self.state = state
    version += 1
    defer { waiting = [] }
    return waiting
  }
}
