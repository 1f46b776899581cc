/// What a slot shows now, and who waits for it to change.
///
/// A struct without lock, task or continuation. It holds the latest state alone: whoever waited is woken
/// without a value and takes what there is when it runs, so that no earlier state is ever on its way to
/// anybody. A binding is a generation; what comes of an earlier one is refused. States are counted, so
/// that each consumer is told of a state once, and of states that nobody saw never.
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
  /// The number of the binding; counts up.
  private(set) var generation: UInt64 = 0
  /// Nothing more is shown.
  private(set) var isClosed = false

  private var version: UInt64 = 1
  private var waiting: [UInt64] = []

  /// Whether `request` is bound and was not in vain so far.
  func isLive(_ request: PosterRequest) -> Bool {
    guard self.request == request else { return false }
    if case .failed = state { return false }
    return true
  }

  /// Begins a new binding, or the state of being bound to nothing.
  ///
  /// - Returns: those who are to be woken.
  mutating func slotWasBound(to request: PosterRequest?, _ state: PosterSlot.State) -> [UInt64] {
    guard !isClosed else { return [] }
    generation += 1
    self.request = request
    return show(state)
  }

  /// Takes what came of the binding `generation`.
  ///
  /// - Returns: those who are to be woken; `nil` if that binding is over.
  mutating func bindingDidEnd(
    _ generation: UInt64, _ result: Result<PosterImage, PosterError>
  ) -> [UInt64]? {
    guard generation == self.generation, !isClosed else { return nil }
    switch result {
    case .success(let image): return show(.image(image))
    case .failure(let error): return show(.failed(error))
    }
  }

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

  /// Shows nothing more.
  ///
  /// - Returns: those who are to be woken.
  mutating func slotDidEnd() -> [UInt64] {
    isClosed = true
    generation += 1
    request = nil
    state = .empty
    defer { waiting = [] }
    return waiting
  }

  private mutating func show(_ state: PosterSlot.State) -> [UInt64] {
    self.state = state
    version += 1
    defer { waiting = [] }
    return waiting
  }
}
