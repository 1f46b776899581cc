/// Lets so many at a time go on, the most urgent first.
///
/// The pipeline has two: one bounds how much prefetches that wait for their pixels may take up, whatever
/// their number; the other, how many posters are got once more and held in memory because no tier kept
/// them until they were decoded. Safe to use from any task; a turn takes constant time to give and take.
final class DecodeTurns: Sendable {
  private typealias Continuation = UnsafeContinuation<Bool, Never>

  private struct State {
    var free: Int
    var lastNumber = 0
    var waiting: [Int: Continuation] = [:]
    /// The numbers of those that wait, by priority, the earliest first; some wait no more.
    var lines = [Line](repeating: Line(), count: Priority.allCases.count)
    /// Those that were cancelled before they waited.
    var cancelled: Set<Int> = []

    mutating func next() -> Continuation? {
      for priority in Priority.allCases.sorted(by: >) {
        while let number = lines[priority.rawValue].removeFirst() {
          if let continuation = waiting.removeValue(forKey: number) { return continuation }
        }
      }
      return nil
    }
  }

  /// First in, first out.
  private struct Line {
    private var numbers: [Int] = []
    private var first = 0

    mutating func append(_ number: Int) { numbers.append(number) }

    mutating func removeFirst() -> Int? {
      guard first < numbers.count else { return nil }
      let number = numbers[first]
      first += 1
      // Each is moved once at most, in the mean.
      if first > numbers.count / 2 {
        numbers.removeFirst(first)
        first = 0
      }
      return number
    }
  }

  private let state: Lock<State>

  /// - Parameter count: how many at a time.
  init(count: Int) {
    state = Lock(State(free: count))
  }

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
          state.waiting[number] = continuation
          state.lines[priority.rawValue].append(number)
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let continuation = state.withLock { state -> Continuation? in
        let continuation = state.waiting.removeValue(forKey: number)
        if continuation == nil { state.cancelled.insert(number) }
        return continuation
      }
      continuation?.resume(returning: false)
    }
  }

  private func give() {
    let continuation = state.withLock { state -> Continuation? in
      let next = state.next()
      if next == nil { state.free += 1 }
      return next
    }
    continuation?.resume(returning: true)
  }
}
