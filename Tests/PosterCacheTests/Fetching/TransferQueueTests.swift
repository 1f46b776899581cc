import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct TransferQueueTests {
  private static let second = nanosecondsPerSecond

  @Test func `tickets for one address share one transfer`() throws {
    var queue = TransferQueue(configuration())
    #expect(try queue.make("/a", 1) == [.start(0)])
    #expect(try queue.make("/a", 2) == [])
    #expect(queue.finish(0, now: 1) == [.complete([ticket(1), ticket(2)], .finished)])
    #expect(try queue.make("/a", 3, now: 2) == [.start(0)])
  }

  @Test func `a page and a picture at one address are two transfers, as are two credentials`()
    throws
  {
    var queue = TransferQueue(configuration())
    let kinds: [FetchRequest.Kind] = [
      .picture, .page(nil), .page(.apiKey("a")), .page(.apiKey("b")), .page(.bearerToken("a")),
    ]
    for (index, kind) in kinds.enumerated() {
      #expect(try queue.make("/a", index, kind: kind) == [.start(index)])
    }
    #expect(try queue.make("/a", 9, kind: .page(.apiKey("b"))) == [])
  }

  @Test func `first come, first served within a priority, and the higher priority first`() throws {
    var queue = TransferQueue(configuration(connections: 1))
    _ = try queue.make("/running", 1)
    _ = try queue.make("/background", 2, .background)
    _ = try queue.make("/prefetch-1", 3, .prefetch)
    _ = try queue.make("/prefetch-2", 4, .prefetch)
    _ = try queue.make("/visible", 5, .visible)
    #expect(
      queue.drain() == ["/running", "/visible", "/prefetch-1", "/prefetch-2", "/background"])
  }

  @Test func `a visible ticket lifts a queued prefetch, and dropping it lowers it again`() throws {
    var queue = TransferQueue(configuration(connections: 1))
    _ = try queue.make("/running", 1)
    _ = try queue.make("/a", 2, .prefetch)
    _ = try queue.make("/b", 3, .prefetch)
    _ = try queue.make("/b", 4, .visible)
    var other = queue
    #expect(queue.drain() == ["/running", "/b", "/a"])
    #expect(
      other.ticketWasDropped(ticket(4), now: 0) == [.complete([ticket(4)], .cancelled)])
    #expect(other.drain() == ["/running", "/a", "/b"])
  }

  @Test func `one host's limit does not hold up another host`() throws {
    var queue = TransferQueue(configuration(connections: 1))
    #expect(try queue.make("/1", 1) == [.start(0)])
    #expect(try queue.make("/2", 2) == [])
    #expect(try queue.make("/3", 3, host: "other.test") == [.start(2)])
    #expect(queue.finish(0, now: 0) == [.start(1), .complete([ticket(1)], .finished)])
  }

  @Test func `all hosts together stay within the limit of transfers`() throws {
    var queue = TransferQueue(configuration(), maximumTransfers: 2)
    #expect(try queue.make("/", 1, host: "a.test") == [.start(0)])
    #expect(try queue.make("/", 2, host: "b.test") == [.start(1)])
    #expect(try queue.make("/", 3, .prefetch, host: "c.test") == [])
    #expect(try queue.make("/", 4, .visible, host: "d.test") == [])
    #expect(queue.finish(0, now: 0) == [.start(3), .complete([ticket(1)], .finished)])
    #expect(queue.finish(1, now: 0) == [.start(2), .complete([ticket(2)], .finished)])
  }

  @Test func `a transfer that is nearly done goes on for nobody, and serves who asks meanwhile`()
    throws
  {
    var queue = TransferQueue(configuration(connections: 1))
    _ = try queue.make("/a", 1)
    #expect(
      queue.ticketWasDropped(ticket(1), now: 0) { _, _ in true } == [
        .prioritize(0, .background), .complete([ticket(1)], .cancelled),
      ])
    var other = queue
    #expect(queue.finish(0, now: 1) == [.complete([], .finished)])
    #expect(try other.make("/a", 2) == [.prioritize(0, .visible)])
    #expect(other.nextWake.map { other.timeDidPass(now: $0) } == [])
    #expect(other.finish(0, now: 1) == [.complete([ticket(2)], .finished)])
    #expect(queue.cancellations == TransferQueue.Cancellations(finishing: 1))
  }

  @Test func `one that stalls instead is stopped, and one that fails is not tried again`() throws {
    var queue = TransferQueue(configuration(connections: 1))
    _ = try queue.make("/a", 1)
    _ = try queue.make("/b", 2)
    _ = queue.ticketWasDropped(ticket(1), now: 0) { _, _ in true }
    var other = queue
    let deadline = try #require(queue.nextWake)
    #expect(deadline == TransferQueue.longestFinish)
    #expect(queue.timeDidPass(now: deadline - 1) == [])
    #expect(queue.timeDidPass(now: deadline) == [.abort(0), .start(1)])
    #expect(queue.cancellations == TransferQueue.Cancellations(stopped: 1))
    #expect(
      other.transferDidFinish(0, .retriable(retryAfter: nil), now: 1, jitter: 0) == [
        .start(1), .complete([], .finished),
      ])
  }

  @Test func `a running transfer is as urgent as its best ticket`() throws {
    var queue = TransferQueue(configuration())
    _ = try queue.make("/a", 1, .background)
    #expect(try queue.make("/a", 2, .prefetch) == [.prioritize(0, .prefetch)])
    #expect(try queue.make("/a", 3, .visible) == [.prioritize(0, .visible)])
    #expect(try queue.make("/a", 4, .background) == [])
    #expect(
      queue.ticketWasDropped(ticket(3), now: 0) == [
        .prioritize(0, .prefetch), .complete([ticket(3)], .cancelled),
      ])
    #expect(queue.priority(of: 0) == .prefetch)
  }

  @Test func `a prefetch that has become visible makes room in the window`() throws {
    var limits = configuration(connections: 4)
    limits.prefetchWindow = .fixed(1)
    var queue = TransferQueue(limits)
    #expect(try queue.make("/a", 1, .prefetch) == [.start(0)])
    #expect(try queue.make("/b", 2, .prefetch) == [])
    #expect(try queue.make("/a", 3, .visible) == [.prioritize(0, .visible), .start(1)])
    #expect(try queue.make("/c", 4, .prefetch) == [])
    #expect(try queue.make("/d", 5, .visible) == [.start(3)])
  }

  @Test func `an eighth of all transfers is left to visible ones`() throws {
    var limits = configuration(connections: 100)
    limits.prefetchWindow = .unlimited
    var queue = TransferQueue(limits, maximumTransfers: 16)
    for number in 0..<14 {
      #expect(try queue.make("/\(number)", number, .prefetch) == [.start(number)])
    }
    #expect(try queue.make("/14", 14, .prefetch) == [])
    #expect(try queue.make("/15", 15, .visible) == [.start(15)])
  }

  @Test func `a quarter of the request rate is left to visible ones`() throws {
    var limits = configuration(connections: 100)
    limits.requestsPerSecond = 8
    limits.prefetchWindow = .unlimited
    var queue = TransferQueue(limits)
    for number in 0..<6 {
      #expect(try queue.make("/\(number)", number, .prefetch) == [.start(number)])
    }
    #expect(try queue.make("/6", 6, .prefetch) == [])
    #expect(try queue.make("/7", 7, .visible) == [.start(7)])
    #expect(try queue.make("/8", 8, .visible) == [.start(8)])
    #expect(try queue.make("/9", 9, .visible) == [])
  }

  @Test func `the last dropped ticket stops a running transfer`() throws {
    var queue = TransferQueue(configuration(connections: 1))
    _ = try queue.make("/a", 1)
    _ = try queue.make("/a", 2)
    _ = try queue.make("/b", 3)
    #expect(queue.ticketWasDropped(ticket(1), now: 0) == [.complete([ticket(1)], .cancelled)])
    #expect(
      queue.ticketWasDropped(ticket(2), now: 0) == [
        .abort(0), .start(1), .complete([ticket(2)], .cancelled),
      ])
    #expect(queue.ticketWasDropped(ticket(2), now: 0) == [])
  }

  @Test func `a dropped ticket takes a queued transfer with it`() throws {
    var queue = TransferQueue(configuration(connections: 1))
    _ = try queue.make("/a", 1)
    _ = try queue.make("/b", 2)
    #expect(queue.ticketWasDropped(ticket(2), now: 0) == [.complete([ticket(2)], .cancelled)])
    #expect(queue.finish(0, now: 0) == [.complete([ticket(1)], .finished)])
  }

  @Test func `a failure is tried again after a back-off that doubles, three times in all`() throws {
    var queue = TransferQueue(configuration())
    _ = try queue.make("/a", 1)
    #expect(queue.fail(0, now: 0, jitter: 0.5) == [])
    let first = Self.second * 3 / 16
    #expect(queue.nextWake == first)
    #expect(queue.timeDidPass(now: first - 1) == [])
    #expect(queue.timeDidPass(now: first) == [.start(0)])
    #expect(queue.fail(0, now: first, jitter: 0) == [])
    let second = first + Self.second / 4
    #expect(queue.nextWake == second)
    #expect(queue.timeDidPass(now: second) == [.start(0)])
    #expect(queue.fail(0, now: second) == [.complete([ticket(1)], .finished)])
    #expect(queue.retryCount == 2)
    #expect(queue.nextWake == nil)
  }

  @Test func `what has to be asked for otherwise is asked for at once, and that is no try`() throws
  {
    var limits = configuration(connections: 1)
    limits.tries = 1
    var queue = TransferQueue(limits)
    _ = try queue.make("/a", 1)
    _ = try queue.make("/b", 2)
    #expect(queue.restart(0) == [.start(0)])
    #expect(queue.retryCount == 0)
    #expect(queue.restart(0) == [.start(0)])
    #expect(queue.fail(0, now: 0) == [.start(1), .complete([ticket(1)], .finished)])
    // Nobody wants it any more.
    _ = queue.ticketWasDropped(ticket(2), now: 0) { _, _ in true }
    #expect(queue.restart(1) == [.complete([], .finished)])
  }

  @Test func `a queued transfer asks as strictly as the strictest of those who want it`() throws {
    var queue = TransferQueue(configuration(connections: 1))
    _ = try queue.make("/running", 1)
    var request = FetchRequest(try PosterAddress("http://images.test/a"))
    request.isRefresh = true
    _ = try queue.make("/a", 2)
    #expect(queue.requestWasMade(request, ticket: ticket(3), now: 0) == [])
    #expect(queue.request(of: 1).isRefresh)
    _ = try queue.make("/a", 4)
    #expect(queue.request(of: 1).isRefresh)
  }

  @Test func `a Retry-After holds the whole host, and no other`() throws {
    var queue = TransferQueue(configuration(connections: 1))
    _ = try queue.make("/a", 1)
    _ = try queue.make("/b", 2)
    #expect(queue.fail(0, now: 0, retryAfter: 5) == [])
    #expect(try queue.make("/c", 3, host: "other.test") == [.start(2)])
    // The back-off is over sooner and changes nothing.
    #expect(queue.nextWake == Self.second / 8)
    #expect(queue.timeDidPass(now: Self.second / 8) == [])
    #expect(queue.nextWake == 5 * Self.second)
    #expect(queue.timeDidPass(now: 5 * Self.second - 1) == [])
    #expect(queue.timeDidPass(now: 5 * Self.second) == [.start(0)])
    #expect(
      queue.finish(0, now: 6 * Self.second) == [.start(1), .complete([ticket(1)], .finished)])
  }

  @Test func `a Retry-After longer than a request's patience fails the host's requests at once`()
    throws
  {
    var queue = TransferQueue(configuration(connections: 1))
    let held = TransferQueue.Ending.held(host: "images.test", seconds: 61)
    _ = try queue.make("/a", 1)
    _ = try queue.make("/b", 2)
    #expect(
      queue.fail(0, now: 0, retryAfter: 61) == [
        .complete([ticket(2)], held), .complete([ticket(1)], held),
      ])
    #expect(try queue.make("/c", 3, now: 0) == [.complete([ticket(3)], held)])
    #expect(try queue.make("/d", 4, now: Self.second) == [])
    #expect(queue.timeDidPass(now: 61 * Self.second) == [.start(0)])
  }

  @Test(arguments: [0, 0.01])
  func `a Retry-After shorter than the back-off leaves the back-off as it is`(seconds: Double)
    throws
  {
    var queue = TransferQueue(configuration(connections: 1))
    _ = try queue.make("/a", 1)
    #expect(queue.fail(0, now: 0, retryAfter: seconds, jitter: 0.5) == [])
    let first = Self.second * 3 / 16
    #expect(queue.timeDidPass(now: first - 1) == [])
    // The host itself is held no longer than it asked for.
    #expect(try queue.make("/b", 2, now: first - 1) == [.start(1)])
    #expect(queue.finish(1, now: first - 1) == [.complete([ticket(2)], .finished)])
    #expect(queue.timeDidPass(now: first) == [.start(0)])
    #expect(queue.fail(0, now: first, retryAfter: seconds, jitter: 0) == [])
    #expect(queue.timeDidPass(now: first + Self.second / 4 - 1) == [])
    #expect(queue.timeDidPass(now: first + Self.second / 4) == [.start(0)])
  }

  @Test func `two addresses that share a cache key are two transfers`() throws {
    var queue = TransferQueue(configuration())
    let key = CacheKey(high: 1, low: 2)
    for number in 1...2 {
      let address = try PosterAddress("http://images.test/\(number)")
      let request = FetchRequest(address, key: key)
      #expect(
        queue.requestWasMade(request, ticket: ticket(number), now: 0) == [.start(number - 1)])
      #expect(queue.request(of: number - 1).address == address)
    }
  }

  @Test func `an absurd Retry-After blocks a host for an hour`() throws {
    var queue = TransferQueue(configuration())
    _ = try queue.make("/a", 1)
    let held = TransferQueue.Ending.held(host: "images.test", seconds: 3600)
    #expect(
      queue.fail(0, now: 0, retryAfter: Double(Int.max)) == [.complete([ticket(1)], held)])
    #expect(try queue.make("/a", 2, now: 3600 * Self.second) == [.start(0)])
  }

  @Test func `no second sees more requests than the rate allows`() throws {
    var queue = TransferQueue(configuration(connections: 256, rate: 3))
    var starts: [UInt64] = []
    for number in 1...10 { starts += try queue.make("/\(number)", number).map { _ in 0 } }
    while let wake = queue.nextWake {
      starts += queue.timeDidPass(now: wake).map { _ in wake }
    }
    let seconds = starts.map { $0 / Self.second }
    #expect(seconds == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3])
    #expect(starts.allSatisfy { $0 % Self.second == 0 })
  }

  @Test func `a rate below one spreads requests over seconds`() {
    var limiter = RateLimiter(requestsPerSecond: 0.5)
    limiter.requestDidStart(now: 7)
    #expect(limiter.nextStart() == 2 * Self.second + 7)
  }

  @Test func `TMDB's hosts have limits of their own, others only the configured ones`() {
    var configuration = FetchConfiguration()
    configuration.connectionsPerHost = 64
    for host in ["api.themoviedb.org", "image.tmdb.org"] {
      #expect(
        HostLimits(host: host, configuration: configuration)
          == HostLimits(connections: 20, requestsPerSecond: 40))
    }
    #expect(
      HostLimits(host: "127.0.0.1", configuration: configuration) == HostLimits(connections: 64))
    configuration.connectionsPerHost = 4
    configuration.requestsPerSecond = 10
    #expect(
      HostLimits(host: "image.tmdb.org", configuration: configuration)
        == HostLimits(connections: 4, requestsPerSecond: 10))
  }

  @Test func `shutting down completes every ticket, once`() throws {
    var queue = TransferQueue(configuration(connections: 1))
    _ = try queue.make("/a", 1)
    _ = try queue.make("/b", 2)
    _ = try queue.make("/b", 3)
    _ = try queue.make("/c", 4, host: "other.test")
    _ = queue.fail(2, now: 0)
    #expect(
      queue.didShutDown() == [
        .abort(0), .complete([ticket(1)], .cancelled),
        .complete([ticket(2), ticket(3)], .cancelled), .complete([ticket(4)], .cancelled),
      ])
    #expect(queue.didShutDown() == [])
    #expect(try queue.make("/a", 5) == [.complete([ticket(5)], .cancelled)])
  }

  @Test func `ten thousand tickets on one address can all be dropped, oldest first`() throws {
    var queue = TransferQueue(configuration(connections: 1))
    _ = try queue.make("/running", 1)
    for number in 2...10_001 { _ = try queue.make("/a", number) }
    for number in 2...10_000 {
      #expect(
        queue.ticketWasDropped(ticket(number), now: 0) == [.complete([ticket(number)], .cancelled)])
    }
    #expect(
      queue.finish(0, now: 0) == [.start(1), .complete([ticket(1)], .finished)])
    #expect(queue.finish(1, now: 0) == [.complete([ticket(10_001)], .finished)])
  }

  // MARK: -

  private func configuration(connections: Int = 8, rate: Double? = nil) -> FetchConfiguration {
    var configuration = FetchConfiguration()
    configuration.connectionsPerHost = connections
    configuration.requestsPerSecond = rate
    return configuration
  }
}

func ticket(_ number: Int) -> Ticket { Ticket(number: UInt64(number)) }

extension TransferQueue {
  fileprivate mutating func make(
    _ path: String, _ number: Int, _ priority: Priority = .visible, host: String = "images.test",
    kind: FetchRequest.Kind = .picture, now: UInt64 = 0
  ) throws -> [Action] {
    let address = try PosterAddress("http://\(host)\(path)")
    return requestWasMade(
      FetchRequest(address, priority: priority, kind: kind), ticket: ticket(number), now: now)
  }

  fileprivate mutating func finish(_ id: TransferID, now: UInt64) -> [Action] {
    transferDidFinish(id, .final, now: now, jitter: 0)
  }

  fileprivate mutating func restart(_ id: TransferID) -> [Action] {
    transferDidFinish(id, .retriableAtOnce, now: 0, jitter: 0)
  }

  fileprivate mutating func fail(
    _ id: TransferID, now: UInt64, retryAfter: Double? = nil, jitter: Double = 0
  ) -> [Action] {
    transferDidFinish(id, .retriable(retryAfter: retryAfter), now: now, jitter: jitter)
  }

  /// Lets transfer 0, and then whatever starts, finish; the paths in their order.
  fileprivate mutating func drain() -> [String] {
    var paths: [String] = []
    var next: TransferID? = 0
    while let id = next {
      paths.append(String(request(of: id).address.canonical.dropFirst("http://images.test".count)))
      next = nil
      for case .start(let started) in finish(id, now: 0) { next = started }
    }
    return paths
  }
}
