import Glibc
import PosterCache
import Synchronization

/// The same work on several threads at once.
enum Threads {
  /// Runs `body` for every element of `parts`, each on a thread of its own unless there is only one,
  /// from a common start.
  ///
  /// Threads that were asleep may begin on one core and stay there for longer than the work takes. These are
  /// busy waiting for the start, for as long as the kernel needs to spread them.
  ///
  /// - Parameter body: returns something that depends on its work, or a negative number where that
  ///   went wrong.
  static func measure<Part: Sendable>(
    _ parts: [Part], _ body: @escaping @Sendable (Part) -> Int
  ) throws(BenchError) -> Sample {
    let outcome: [Int]
    let sample: Sample
    if parts.count == 1 {
      let stopwatch = Stopwatch()
      outcome = [body(parts[0])]
      sample = stopwatch.sample()
    } else {
      let state = Monitor((ready: 0, outcome: [Int]()))
      let start = Start()
      let threads = parts.map { part in
        WorkerThread(name: "bench-work") {
          state.withLock { $0.ready += 1 }
          state.signal()
          start.waitBusily()
          let result = body(part)
          state.withLock { $0.outcome.append(result) }
        }
      }
      state.wait(untilNanoseconds: { _ in nil }, for: { $0.ready == parts.count ? () : nil })
      usleep(spreadingMicroseconds)
      let stopwatch = Stopwatch()
      start.give()
      for thread in threads { thread.join() }
      sample = stopwatch.sample()
      outcome = state.withLock { $0.outcome }
    }
    guard outcome.allSatisfy({ $0 >= 0 }) else { throw BenchError("a poster was not found") }
    return sample
  }

  private static let spreadingMicroseconds: UInt32 = 30_000

  /// A common start.
  private final class Start: Sendable {
    private let isGiven = Atomic(false)

    func give() { isGiven.store(true, ordering: .releasing) }

    func waitBusily() {
      while !isGiven.load(ordering: .acquiring) {}
    }
  }
}
