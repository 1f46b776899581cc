/// A task that waits for a poster to be decoded. Cancelling it ends the wait, whose decode goes on if
/// others want it or it has begun.
final class DecodeWait: Sendable {
  private enum Phase {
    case pending
    case waiting(UnsafeContinuation<DecodeOutcome, Never>)
    case over(DecodeOutcome)
    case taken
  }

  private struct State {
    var phase = Phase.pending
    var interest: DecodeQueue.Interest?
    var isCancelled = false
  }

  private let workers: DecodeWorkers
  private let state = Lock(State())

  /// Has `order` decoded.
  init(_ order: DecodeOrder, mustHold: Bool, by workers: DecodeWorkers) {
    self.workers = workers
    let interest = workers.submit(order, mustHold: mustHold) { [weak self] outcome in
      self?.finish(outcome)
    }
    state.withLock { $0.interest = interest }
  }

  /// What came of it. Call it once.
  func outcome() async -> DecodeOutcome {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let outcome = state.withLock { state -> DecodeOutcome? in
          guard case .over(let outcome) = state.phase else {
            state.phase = .waiting(continuation)
            return nil
          }
          state.phase = .taken
          return outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      // Completes as cancelled, unless it has completed.
      if let interest = state.withLock({ $0.interest }) { workers.drop(interest) }
    }
  }

  /// Called once, by the workers.
  private func finish(_ outcome: DecodeOutcome) {
    let continuation = state.withLock { state -> UnsafeContinuation<DecodeOutcome, Never>? in
      guard case .waiting(let continuation) = state.phase else {
        state.phase = .over(outcome)
        return nil
      }
      state.phase = .taken
      return continuation
    }
    continuation?.resume(returning: outcome)
  }
}

extension PosterError {
  /// What becomes of a decode that nobody waits for any more.
  static let decodeCancelled = PosterError(.cancelled, "the picture was not decoded: cancelled")
}
