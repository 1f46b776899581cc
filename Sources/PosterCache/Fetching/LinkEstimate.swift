/// What one finished transfer tells about the way to its host.
struct TransferSample: Hashable {
  /// Body bytes received by it.
  var bytes: Int
  /// From the request to the first byte of the answer, in seconds; `nil` if none came.
  var firstByteSeconds: Double?
  /// What all transfers of the host received while this one ran, in bytes per second.
  var bytesPerSecond: Double
  /// Whether nothing else of the host was in flight when it started.
  var isAlone = false
}

/// The way to one host as its transfers have measured it: bandwidth, latency, size of a body.
///
/// After BBR (draft-cardwell-iccrg-bbr-congestion-control, section 4.1): the bandwidth is the highest
/// rate seen lately, as every measurement is at most the truth, and the latency the shortest time to a
/// first byte seen lately, as queues only add to it. One that was measured with nothing else in flight is
/// the truth and replaces what was known before.
struct LinkEstimate {
  private var rate = RecentMaximum(span: 10 * nanosecondsPerSecond)
  private var latency = Self.unknownLatency
  private static let unknownLatency = RecentMinimum(span: 30 * nanosecondsPerSecond)
  /// Mean size of a body in bytes, the last few counting most.
  private(set) var meanBytes: Double?

  /// In bytes per second.
  var bandwidth: Double? { rate.value }
  /// Time to the first byte where nothing queues, in seconds.
  var latencySeconds: Double? { latency.value }

  /// Bytes on their way where the link is just full: bandwidth x latency. `nil` before anything has
  /// been measured.
  var pipeBytes: Double? {
    guard let bandwidth, let latencySeconds else { return nil }
    return bandwidth * latencySeconds
  }

  /// The same in bodies.
  var pipeBodies: Double? {
    guard let pipeBytes, let meanBytes else { return nil }
    return pipeBytes / meanBytes
  }

  /// A transfer finished.
  mutating func transferDidFinish(_ sample: TransferSample, now: UInt64) {
    if let seconds = sample.firstByteSeconds, seconds > 0 {
      if sample.isAlone { latency = Self.unknownLatency }
      latency.note(seconds, now: now)
    }
    // An answer without a body measures the latency alone.
    guard sample.bytes > 0 else { return }
    let bytes = Double(sample.bytes)
    meanBytes = meanBytes.map { $0 + (bytes - $0) / 8 } ?? bytes
    if sample.bytesPerSecond > 0 { rate.note(sample.bytesPerSecond, now: now) }
  }
}
