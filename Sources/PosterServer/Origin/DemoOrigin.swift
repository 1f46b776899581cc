import PosterCache

/// An origin inside this process that answers like TMDB, like Spotify and with feeds, for demonstrations,
/// tests and benchmarks.
///
/// It serves over real HTTP on a port of this machine, the same answers on every machine:
/// - below `/3/` TMDB's configuration, trending lists, charts, related titles, search, discover and lists by
///   somebody, with TMDB's shapes, statuses and error bodies; any API key or bearer token is accepted, but one
///   must be given, see ``Configuration/requiresCredential``. `language=ko` gives Korean titles;
/// - below `/v1/` Spotify's featured playlists, new releases and recommendations, in the same way; any bearer
///   token is accepted;
/// - `/feeds/mixed.json`, `/feeds/feed.json` (a JSON Feed) and `/feeds/urls.txt`;
/// - `/t/p/{size}/{name}`: a distinct picture for each name of letters, digits, `-` and `_` that ends
///   in `.jpg` or `.png`, in the sizes that TMDB has of its kind, see ``DemoPoster``; and `/image/{hex}`, the
///   squares that Spotify's lists name.
///
/// Pictures are absent now and then, in every way in which they are absent from real lists. `/` lists all
/// paths; see ``requestCounts`` for what was asked.
///
/// Everything that a slow or broken server does can be ordered: latency, a shared bandwidth,
/// ``Fault``s, and gates that hold answers until a test has seen what it wants to see. Answers that
/// wait cost no thread. All methods may be called on any thread.
public final class DemoOrigin: Sendable {
  /// How an origin listens and behaves.
  public struct Configuration: Sendable {
    /// The address to listen on; default `127.0.0.1`.
    public var address = "127.0.0.1"
    /// The port to listen on; default 0, one that is free.
    public var port: UInt16 = 0
    /// The delay before the first byte of each answer; default 0.
    ///
    /// The first request on a connection is charged twice: once for the round trip that connecting
    /// would have taken.
    public var latencyMilliseconds = 0
    /// The bandwidth of the one link that the bodies of all answers share; default `nil`, unlimited.
    public var bytesPerSecond: Int? = nil
    /// Whether the API answers requests without an API key or a token with 401, as TMDB does;
    /// default `true`.
    public var requiresCredential = true
    /// What goes wrong from the start; default nothing.
    public var faults: [Fault] = []

    /// The defaults.
    public init() {}
  }

  /// The port it listens on.
  public let port: UInt16
  /// The address and port it listens on, such as `0.0.0.0:8484` or `[::]:8484`.
  public let listeningAddress: String
  /// The base address of the API: `http://127.0.0.1:PORT/3`, also where it listens on every address.
  public let api: PosterAddress
  /// The base address of the pictures: `http://127.0.0.1:PORT/t/p/`.
  public let images: PosterAddress

  private let traffic: OriginTraffic
  private let server: HTTPServer
  private let alarm: WorkerThread
  private let life = Monitor(Life.running)

  private enum Life {
    case running, ending, ended
  }

  /// Threads that serve; drawing a poster keeps one busy for some milliseconds.
  private static let threadCount = 2

  /// Starts an origin, which listens when this returns.
  ///
  /// - Throws: ``PosterError/Code/network`` if the port cannot be had, saying what to do;
  ///   ``PosterError/Code/invalidConfiguration`` for an address that is none, a negative latency or
  ///   a bandwidth below 1.
  public init(_ configuration: Configuration = .init()) throws(PosterError) {
    guard configuration.latencyMilliseconds >= 0 else {
      throw PosterError(.invalidConfiguration, "the latency must not be negative")
    }
    guard configuration.bytesPerSecond ?? 1 > 0 else {
      throw PosterError(.invalidConfiguration, "the bandwidth must be at least 1 byte a second")
    }
    let socket = try ListeningSocket(address: configuration.address, port: configuration.port)
    port = socket.port
    listeningAddress = "\(Self.bracketed(configuration.address)):\(socket.port)"
    let authority = "\(Self.reachableHost(configuration.address)):\(socket.port)"
    api = try PosterAddress("http://\(authority)/3")
    images = try PosterAddress("http://\(authority)/t/p/")
    let traffic = OriginTraffic(
      faults: configuration.faults, bytesPerSecond: configuration.bytesPerSecond)
    let site = DemoSite(
      authority: authority, requiresCredential: configuration.requiresCredential)
    let latency = UInt64(configuration.latencyMilliseconds) * 1_000_000
    server = try HTTPServer(on: socket, threads: Self.threadCount) { request in
      DemoExchange(request, site: site, traffic: traffic, latencyNanoseconds: latency).step
    }
    self.traffic = traffic
    alarm = WorkerThread(name: "demo-origin") { traffic.run() }
  }

  deinit {
    shutdown()
  }

  /// Stops listening, closes all connections, also those with held or stalled answers, and ends the
  /// threads. Returns when that is done; calling it again does nothing.
  public func shutdown() {
    let isFirst = life.wait(
      untilNanoseconds: { _ in nil },
      for: { (life: inout Life) -> Bool? in
        switch life {
        case .running:
          life = .ending
          return true
        case .ending: return nil
        case .ended: return false
        }
      })
    guard isFirst else { return }
    traffic.end()
    alarm.join()
    server.stop()
    life.withLock { $0 = .ended }
    life.signal()
  }

  // MARK: Counts

  /// How many requests have arrived, by decoded path without query, whatever became of them.
  public var requestCounts: [String: Int] { traffic.counts }

  /// How many requests have arrived for the paths that `pattern` names, such as `/3/configuration`
  /// or `/t/p/*`.
  public func requestCount(of pattern: PathPattern) -> Int { traffic.count(of: pattern) }

  /// How many connections have been opened, whether or not a request came on them.
  public var connectionCount: Int { server.connectionCount }

  /// How many requests have arrived on each connection, in the order in which these were opened; the
  /// last ones are missing where no request has come on them. For the first million connections.
  public var requestCountsByConnection: [Int] { traffic.connectionCounts }

  /// Returns once `count` requests in all have arrived for the paths that `pattern` names; also if
  /// the task is cancelled or the origin shut down.
  public func waitForRequests(_ count: Int, of pattern: PathPattern) async {
    await traffic.waitForRequests(count, of: pattern)
  }

  // MARK: Faults and gates

  /// Replaces all faults; their occurrences are counted from now on.
  public func setFaults(_ faults: [Fault]) { traffic.setFaults(faults) }

  /// Adds a fault behind the others.
  public func addFault(_ fault: Fault) { traffic.addFault(fault) }

  /// Holds the answers to all requests from now on for the paths that `pattern` names, until the
  /// gate is released. Where several gates match, the newest holds.
  ///
  /// - Parameter afterBytes: how much of the body is sent before; default `nil`: nothing, not even
  ///   the headers.
  public func hold(_ pattern: PathPattern, afterBytes: Int? = nil) -> Gate {
    let (id, before) = traffic.closeGate(for: pattern, afterBytes: afterBytes)
    return Gate(id: id, pattern: pattern, requestsBefore: before, traffic: traffic)
  }

  // MARK: -

  /// The host under which clients on this machine reach what listens on `address`, in brackets if
  /// it is an IPv6 address.
  private static func reachableHost(_ address: String) -> String {
    switch address {
    case "0.0.0.0": "127.0.0.1"
    case "::": "[::1]"
    default: bracketed(address)
    }
  }

  /// An address as it stands before a port (RFC 3986, section 3.2.2).
  private static func bracketed(_ address: String) -> String {
    address.contains(":") ? "[\(address)]" : address
  }
}
