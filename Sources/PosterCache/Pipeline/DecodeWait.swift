/// A task that waits for a poster to be decoded. Cancelling it ends the wait, whose decode goes on if
/// others want it or it has begun.
final class DecodeWait: Sendable {
  /// What came of it, and what the workers are to be told by being let go of.
  private struct Delivered {
    let outcome: DecodeOutcome
    let delivery: DecodeWorkers.Delivery?
  }

  private enum Phase {
    case pending
    case waiting(UnsafeContinuation<Delivered, Never>)
    case over(Delivered)
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
    let interest = workers.submit(order, mustHold: mustHold) { [weak self] outcome, delivery in
      self?.finish(Delivered(outcome: outcome, delivery: delivery))
    }
    state.withLock { $0.interest = interest }
  }

  /// What came of it. Call it once.
  func outcome() async -> DecodeOutcome {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let delivered = state.withLock { state -> Delivered? in
          guard case .over(let delivered) = state.phase else {
            state.phase = .waiting(continuation)
            return nil
          }
          state.phase = .taken
          return delivered
        }
        if let delivered { continuation.resume(returning: delivered) }
      }
    } onCancel: {
      // Completes as cancelled, unless it has completed.
      if let interest = state.withLock({ $0.interest }) { workers.drop(interest) }
    }.outcome
  }

  /// Called once, by the workers.
  private func finish(_ delivered: Delivered) {
    let continuation = state.withLock { state -> UnsafeContinuation<Delivered, Never>? in
      guard case .waiting(let continuation) = state.phase else {
        state.phase = .over(delivered)
        return nil
      }
      state.phase = .taken
      return continuation
    }
    continuation?.resume(returning: delivered)
  }
}

extension PosterError {
  /// What becomes of a decode that nobody waits for any more.
  static let decodeCancelled = PosterError(.cancelled, "the picture was not decoded: cancelled")
}
