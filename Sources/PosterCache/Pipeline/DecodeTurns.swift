/// Lets a few at a time get posters that they hold in memory until they are decoded.
///
/// Others refer to posters only as far as ``DecodeQueue/maximumHeldBytes`` reaches, and look for them in
/// the tiers when their turn comes. Where these do not have them any more, this bounds how many are got
/// once more at the same time. Safe to use from any task.
final class DecodeTurns: Sendable {
  private struct Waiting {
    let number: Int
    let priority: Priority
    let continuation: UnsafeContinuation<Bool, Never>
  }

  private struct State {
    var free: Int
    var lastNumber = 0
    var waiting: [Waiting] = []
    /// Those that were cancelled before they waited.
    var cancelled: Set<Int> = []
  }

  /// How many at a time.
  static let count = 4

  private let state = Lock(State(free: count))

  /// Runs `body` once it is its turn: the most urgent first, the earliest of those.
  ///
  /// - Throws: ``PosterError/Code/cancelled`` if the task is cancelled while it waits, or what `body`
  ///   throws.
  func withTurn<Value: Sendable>(
    _ priority: Priority, _ body: () async throws(PosterError) -> Value
  ) async throws(PosterError) -> Value {
    guard await take(priority) else { throw .decodeCancelled }
    defer { give() }
    return try await body()
  }

  private func take(_ priority: Priority) async -> Bool {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    defer { state.withLock { _ = $0.cancelled.remove(number) } }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let answer = state.withLock { state -> Bool? in
          if state.cancelled.contains(number) { return false }
          if state.free > 0 {
            state.free -= 1
            return true
          }
          state.waiting.append(
            Waiting(number: number, priority: priority, continuation: continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let continuation = state.withLock { state -> UnsafeContinuation<Bool, Never>? in
        guard let place = state.waiting.firstIndex(where: { $0.number == number }) else {
          state.cancelled.insert(number)
          return nil
        }
        return state.waiting.remove(at: place).continuation
      }
      continuation?.resume(returning: false)
    }
  }

  private func give() {
    let continuation = state.withLock { state -> UnsafeContinuation<Bool, Never>? in
      let next = state.waiting.indices.min { left, right in
        let (left, right) = (state.waiting[left], state.waiting[right])
        return left.priority != right.priority
          ? left.priority > right.priority : left.number < right.number
      }
      guard let next else {
        state.free += 1
        return nil
      }
      return state.waiting.remove(at: next).continuation
    }
    continuation?.resume(returning: true)
  }
}
