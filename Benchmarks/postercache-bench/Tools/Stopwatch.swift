import Glibc

/// What one run took.
struct Sample: Codable, Sendable {
  /// Wall-clock seconds on the monotonic clock.
  var seconds: Double
  /// Processor seconds of all threads, in user mode and in the kernel.
  var processorSeconds: Double

  /// What one of so many took.
  static func / (sample: Sample, count: Double) -> Sample {
    Sample(
      seconds: sample.seconds / count, processorSeconds: sample.processorSeconds / count)
  }
}

/// Measures work that is done in this process.
struct Stopwatch {
  private let wall = Self.seconds(CLOCK_MONOTONIC)
  private let processor = Self.seconds(CLOCK_PROCESS_CPUTIME_ID)

  /// What has been taken since the stopwatch was made.
  func sample() -> Sample {
    Sample(
      seconds: Self.seconds(CLOCK_MONOTONIC) - wall,
      processorSeconds: Self.seconds(CLOCK_PROCESS_CPUTIME_ID) - processor)
  }

  private static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
