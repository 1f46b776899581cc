/// How many transfers that nobody looks at yet may be in flight to one host.
///
/// With too few the link idles between them, with too many a visible poster waits behind their bytes.
/// The link is just full with as many as one bandwidth-delay product holds, and one more that is being
/// received (Kleinrock's operating point). Below that number the measured rate grows with the number in
/// flight, and the limit computed from it with the rate, until both stand still there.
///
/// A queue that is always there would be taken for latency, and feed itself. So when no answer has begun as
/// soon for a while as one that was alone on the link, the window shrinks to one for a moment, until
/// something is alone again (as BBR's ProbeRTT).
///
/// The number is kept up while visible posters are on their way: they take the place of the next prefetches.
/// A connection that was idle has a small congestion window again at the server's end (RFC 5681, section
/// 4.1), which costs a round trip, so that fewer busy connections serve everybody better than more that idle
/// now and then. For the same reason a visible poster waits for a busy one where prefetching fills the link:
/// another one would bring nothing earlier, and hold up all. But that ends once none has become free for
/// longer than it should take.
package struct PrefetchWindow: Sendable {
  /// Who decides.
  package enum Policy: Hashable, Sendable {
    /// Measurement. Of the bandwidth-delay product `share` is used; 1 is just full.
    case adaptive(share: Double)
    /// At most so many.
    case fixed(Int)
    /// Every connection may be used.
    case unlimited
  }

  /// In flight before anything is known of a link: enough to measure it.
  static let initialCount = 4
  /// Where nothing visible and no prefetch was wanted for so long, nobody is looking: all connections
  /// may be used.
  static let attentionSpan = 60 * nanosecondsPerSecond
  /// How long the latency is believed without being seen again, and how long the window stays at one in
  /// order to measure it.
  static let probeInterval = 10 * nanosecondsPerSecond
  static let longestProbe = nanosecondsPerSecond
  /// Nobody waits for longer than this while no connection becomes free.
  static let longestPatienceSeconds = 1.0

  private let policy: Policy
  package private(set) var link = LinkEstimate()
  /// Transfers wanted as visible at once.
  private var visiblePeak = RecentMaximum(span: 30 * nanosecondsPerSecond)
  /// Until when somebody may be looking.
  private(set) var watchedUntil: UInt64 = 0

  /// When the latency was measured or confirmed last, or tried to be.
  private var probedAt: UInt64?
  /// Time to the first byte of the last transfer that was alone, in seconds.
  private var provenLatency: Double?

  package init(_ policy: Policy) {
    self.policy = policy
  }

  /// Somebody wants something of `priority`, and `visible` transfers are wanted as visible now.
  package mutating func requestWasMade(_ priority: Priority, visible: Int, now: UInt64) {
    guard priority > .background else { return }
    // What was measured before a pause still holds; prefetching that goes on has to measure anew.
    if now >= watchedUntil { probedAt = now }
    watchedUntil = now + Self.attentionSpan
    if visible > 0 { visiblePeak.note(Double(visible), now: now) }
  }

  /// A transfer finished.
  package mutating func transferDidFinish(_ sample: TransferSample, now: UInt64) {
    link.transferDidFinish(sample, now: now)
    guard let last = probedAt else { return }
    if sample.isAlone, let seconds = sample.firstByteSeconds { provenLatency = seconds }
    let isProven = provenLatency.map { sample.firstByteSeconds ?? .infinity <= 1.1 * $0 } ?? false
    if isProven || now >= last + Self.probeInterval + Self.longestProbe { probedAt = now }
  }

  /// How many transfers of any kind may be in flight for one more to start that nobody waits for.
  ///
  /// - Parameters:
  ///   - connections: transfers at once.
  ///   - visible: how many transfers are in flight that somebody waits for.
  package func limit(connections: Int, visible: Int, now: UInt64) -> Int {
    switch policy {
    case .unlimited: return connections
    case .fixed(let count): return visible + count
    case .adaptive(let share):
      guard now < watchedUntil else { return connections }
      let reserve = min(Int(visiblePeak.value ?? 1), connections / 4)
      let slots = connections - reserve
      guard let pipe = link.pipeBodies else { return min(Self.initialCount, slots) }
      if probeEnd(now: now) != nil { return visible > 0 ? 0 : 1 }
      // One more is being received. A tenth more than a whole number is measurement noise.
      let full = min(share * pipe, Double(connections)) + 0.9
      return min(slots, Int(full.rounded(.up)))
    }
  }

  /// Until when the window stays at one, if it does now so that the latency can be measured. A transfer
  /// that stalls meanwhile must not hold up the others for longer.
  package func probeEnd(now: UInt64) -> UInt64? {
    guard case .adaptive = policy, link.pipeBodies != nil, now < watchedUntil, let probedAt else {
      return nil
    }
    let start = probedAt + Self.probeInterval
    let end = start + Self.longestProbe
    return (start..<end).contains(now) ? end : nil
  }

  /// How long a visible poster waits for one of the busy connections while none becomes free, in
  /// nanoseconds: a round trip, or the time that two bodies take to pass where that is longer.
  package var patience: UInt64 {
    guard case .adaptive = policy, let latency = link.latencySeconds,
      let bandwidth = link.bandwidth, let bytes = link.meanBytes
    else { return 0 }
    let seconds = min(max(latency, 2 * bytes / bandwidth), Self.longestPatienceSeconds)
    return UInt64(seconds * Double(nanosecondsPerSecond))
  }
}
