/// Which pictures their servers are being asked about while callers use them already: each once.
///
/// Safe to use from any thread.
final class Revalidations: Sendable {
  private struct State {
    var keys: Set<CacheKey> = []
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Lock(State())

  /// Whether `key` is not among them yet; from now on it is.
  func begin(_ key: CacheKey) -> Bool {
    state.withLock { $0.keys.insert(key).inserted }
  }

  /// The one of `key` is over.
  func end(_ key: CacheKey) {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.keys.remove(key)
      guard state.keys.isEmpty else { return [] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits until there are none.
  func finish() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if !state.keys.isEmpty { state.waiting.append(continuation) }
        return state.keys.isEmpty
      }
      if isIdle { continuation.resume() }
    }
  }
}
