/// Where a prefetcher reads the time and waits for it, so that tests can say what time it is.
struct PrefetchClock: Sendable {
  /// Seconds of a clock that never goes back.
  var now: @Sendable () -> Double
  /// Returns at the given time, or before if the task is cancelled.
  var wait: @Sendable (Double) async -> Void

  /// The monotonic clock.
  static let system = PrefetchClock(
    now: { Double(monotonicNanoseconds()) / Double(nanosecondsPerSecond) },
    wait: { time in
      let seconds = time - Double(monotonicNanoseconds()) / Double(nanosecondsPerSecond)
      // Cancelling is a way to end the wait.
      if seconds > 0 { try? await Task.sleep(for: .seconds(seconds)) }
    })
}
