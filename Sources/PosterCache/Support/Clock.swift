import FoundationEssentials
import Glibc

/// Where the library reads the time, so that tests can say what time it is.
public struct PosterClock: Sendable {
  /// The wall clock: only for freshness, never for order or time-outs.
  public var now: @Sendable () -> Date

  /// - Parameter now: called on any thread.
  public init(now: @escaping @Sendable () -> Date) {
    self.now = now
  }

  /// The system's wall clock.
  public static let system = PosterClock(now: { Date() })
}

/// Nanoseconds in a second.
package let nanosecondsPerSecond: UInt64 = 1_000_000_000

/// The monotonic clock in nanoseconds: for time-outs, back-off and rates.
package func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  // Never negative, but where somebody plays with the clock.
  return UInt64(max(0, time.tv_sec)) * nanosecondsPerSecond + UInt64(max(0, time.tv_nsec))
}
