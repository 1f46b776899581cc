/// What one finished transfer tells about the way to its host.
package struct TransferSample: Sendable, Hashable {
  /// Body bytes received by it.
  package var bytes: Int
  /// From the request to the first byte of the answer, in seconds; `nil` if none came.
  package var firstByteSeconds: Double?
  /// What all transfers of the host received while this one ran, in bytes per second.
  package var bytesPerSecond: Double
  /// Whether nothing else of the host was in flight when it started.
  package var isAlone: Bool

  package init(
    bytes: Int, firstByteSeconds: Double?, bytesPerSecond: Double, isAlone: Bool = false
  ) {
    self.bytes = bytes
    self.firstByteSeconds = firstByteSeconds
    self.bytesPerSecond = bytesPerSecond
    self.isAlone = isAlone
  }
}

/// The way to one host as its transfers have measured it: bandwidth, latency, size of a body.
///
/// After BBR (draft-cardwell-iccrg-bbr-congestion-control, section 4.1): the bandwidth is the highest
/// rate seen lately, as every measurement is at most the truth, and the latency the shortest time to a
/// first byte seen lately, as queues only add to it. One that was measured with nothing else in flight is
/// the truth and replaces what was known before.
package struct LinkEstimate: Sendable {
  private var rate = RecentMaximum(span: 10 * nanosecondsPerSecond)
  private var latency = Self.unknownLatency
  private static let unknownLatency = RecentMinimum(span: 30 * nanosecondsPerSecond)
  /// Mean size of a body in bytes, the last few counting most.
  package private(set) var meanBytes: Double?

  /// In bytes per second.
  package var bandwidth: Double? { rate.value }
  /// Time to the first byte where nothing queues, in seconds.
  package var latencySeconds: Double? { latency.value }

  /// All of it at once; `nil` before all of it has been measured.
  package var figures: LinkFigures? {
    guard let latencySeconds, let bandwidth, let meanBytes else { return nil }
    return LinkFigures(
      firstByteSeconds: latencySeconds, bytesPerSecond: bandwidth, meanBytes: meanBytes)
  }

  /// Bytes on their way where the link is just full: bandwidth x latency. `nil` before anything has
  /// been measured.
  package var pipeBytes: Double? {
    guard let bandwidth, let latencySeconds else { return nil }
    return bandwidth * latencySeconds
  }

  /// The same in bodies.
  package var pipeBodies: Double? {
    guard let pipeBytes, let meanBytes else { return nil }
    return pipeBytes / meanBytes
  }

  /// No bandwidth-delay product is taken for smaller: a server sends as much without waiting for an
  /// acknowledgement (RFC 6928, ten segments).
  private static let smallestPipeBytes = 14_600.0

  /// So many bodies must fit into the link for one that has not begun to be let finish.
  private static let bodiesHeld = 3.0

  package init() {}

  /// Whether a transfer of which `bytesLeft` are still to come is better finished than stopped: that is
  /// less than one bandwidth-delay product, so that the bytes are on their way already, and stopping it
  /// would cost a connection.
  ///
  /// - Parameter bytesLeft: `nil` for a transfer whose answer is still being waited for, and not for longer
  ///   than such an answer takes. It is let finish where the link holds several of the usual size: none of
  ///   it has come yet, and all of it has to pass.
  package func isNearlyDone(bytesLeft: Int?) -> Bool {
    let bytes =
      bytesLeft.map(Double.init) ?? meanBytes.map { Self.bodiesHeld * $0 } ?? .infinity
    return bytes <= max(pipeBytes ?? 0, Self.smallestPipeBytes)
  }

  /// A transfer finished.
  package mutating func transferDidFinish(_ sample: TransferSample, now: UInt64) {
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
