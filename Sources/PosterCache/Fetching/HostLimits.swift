/// How much one host is asked to bear.
struct HostLimits: Hashable {
  /// Transfers at once.
  var connections: Int
  /// Requests started per second, or `nil` for no limit.
  var requestsPerSecond: Double?

  /// The host names whose operator documents limits, and those limits: TMDB's "rate limiting" page
  /// speaks of about 40 requests a second and 20 connections for an address.
  private static let documented: [String: HostLimits] = {
    let limits = HostLimits(connections: 20, requestsPerSecond: 40)
    return ["api.themoviedb.org": limits, "image.tmdb.org": limits]
  }()

  /// The limits of `host`: the configured ones, and where the operator documents limits at most so
  /// many connections and, unless a rate is configured, that rate.
  init(host: String, configuration: FetchConfiguration) {
    let documented = Self.documented[host]
    connections = min(configuration.connectionsPerHost, documented?.connections ?? .max)
    requestsPerSecond = configuration.requestsPerSecond ?? documented?.requestsPerSecond
  }

  init(connections: Int, requestsPerSecond: Double? = nil) {
    self.connections = connections
    self.requestsPerSecond = requestsPerSecond
  }
}

/// Says when the next request may start so that no window of time ever sees more than its share.
///
/// Exact, unlike a token bucket, which lets twice the rate pass in its first second: the times of
/// the last starts lie in a ring, and a new one must be a whole window later than the oldest.
struct RateLimiter {
  private let windowNanoseconds: UInt64
  private var starts: ContiguousArray<UInt64> = []
  private var oldest = 0
  private let capacity: Int

  /// - Parameter requestsPerSecond: more than 0. The window is one second, or as long as one
  ///   request takes where that is longer.
  init(requestsPerSecond rate: Double) {
    precondition(rate > 0, "rate \(rate)")
    capacity = Int(min(max(rate.rounded(.down), 1), 1024))
    windowNanoseconds = UInt64(min(Double(capacity) / rate, 1e9) * 1e9)
  }

  /// When the next request may start, in nanoseconds; a past time if it may start now.
  ///
  /// - Parameter leavingReserve: leave a quarter of what a window takes to others.
  func nextStart(leavingReserve: Bool = false) -> UInt64 {
    let usable = capacity - (leavingReserve ? capacity / 4 : 0)
    guard starts.count >= usable else { return 0 }
    // The one that must have left the window: `usable` starts before the next one.
    let index = starts.count < capacity ? starts.count - usable : oldest + capacity - usable
    return starts[index % capacity] + windowNanoseconds
  }

  /// Whether no start lies within the window any more.
  func isIdle(now: UInt64) -> Bool {
    starts.max().map { $0 + windowNanoseconds <= now } ?? true
  }

  /// A request was started at `now`.
  mutating func requestDidStart(now: UInt64) {
    if starts.count < capacity {
      starts.append(now)
    } else {
      starts[oldest] = now
      oldest = (oldest + 1) % capacity
    }
  }
}
