/// What has been measured of the way to a server.
public struct LinkFigures: Sendable, Hashable {
  /// From a request to the first byte of its answer where nothing queues, in seconds.
  public var firstByteSeconds: Double
  /// Body bytes per second.
  public var bytesPerSecond: Double
  /// Mean size of a picture in bytes.
  public var meanBytes: Double

  public init(firstByteSeconds: Double, bytesPerSecond: Double, meanBytes: Double) {
    self.firstByteSeconds = firstByteSeconds
    self.bytesPerSecond = bytesPerSecond
    self.meanBytes = meanBytes
  }

  /// What is assumed before anything has been measured: 80 ms, 20 Mbit/s, 40 KB.
  public static let assumed = LinkFigures(
    firstByteSeconds: 0.08, bytesPerSecond: 2_500_000, meanBytes: 40_000)

  /// The same with what is assumed in place of what is impossible, and nothing so large or small that it
  /// cannot be reckoned with.
  var possible: LinkFigures {
    func possible(_ value: Double, _ assumed: Double, _ range: ClosedRange<Double>) -> Double {
      value.isFinite && value > 0 ? min(max(value, range.lowerBound), range.upperBound) : assumed
    }
    let assumed = Self.assumed
    return LinkFigures(
      firstByteSeconds: possible(firstByteSeconds, assumed.firstByteSeconds, 1e-6...1e4),
      bytesPerSecond: possible(bytesPerSecond, assumed.bytesPerSecond, 1...1e12),
      meanBytes: possible(meanBytes, assumed.meanBytes, 1...1e9))
  }

  /// How many transfers keep the link busy: bandwidth x latency / mean size + 3, from 4 to 32.
  package var adaptiveSlots: Int {
    let bodies = bytesPerSecond * firstByteSeconds / max(meanBytes, 1)
    return max(4, min(32, Int(min(bodies, 1000).rounded(.up)) + 3))
  }
}
