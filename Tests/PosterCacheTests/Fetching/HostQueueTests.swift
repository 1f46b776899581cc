import Testing

@testable import PosterCache

/// Which connection a visible poster takes while prefetching keeps some busy.
@Suite(.timeLimit(.minutes(1)))
struct HostQueueTests {
  private static let millisecond: UInt64 = 1_000_000

  /// A host with a full link of 80 ms, on which six prefetches are in flight and one waits.
  private struct Host {
    var queue: HostQueue
    private var lastSerial: UInt64 = 0
    private var left: Set<UInt64> = []

    init() throws {
      queue = HostQueue(
        key: HostKey(try PosterAddress("http://images.test/")),
        limits: HostLimits(connections: 16), window: .adaptive(share: 1))
      request(.prefetch, now: 0)
      // 80 ms to the first byte and 2.5 MB/s hold five bodies, and one more is being received.
      let sample = TransferSample(
        bytes: 40_000, firstByteSeconds: 0.08, bytesPerSecond: 2_500_000)
      queue.transferDidStart(.prefetch, now: 0)
      queue.transferDidStop(.prefetch, sample, now: 0)
      for _ in 0..<7 { wait(.prefetch) }
    }

    mutating func request(_ priority: Priority, now: UInt64) {
      queue.requestWasMade(priority, waitingVisible: 0, now: now)
    }

    mutating func wait(_ priority: Priority) {
      lastSerial += 1
      let ticket = Ticket(number: lastSerial)
      queue.insert(
        HostQueue.Entry(
          rank: TransferQueue.Rank(priority: priority, ticket: ticket), serial: lastSerial, index: 0
        ),
        isCurrent: { [left] in !left.contains($0.serial) })
    }

    /// Starts what may start now; returns its priorities, and until when the next one waits.
    mutating func start(now: UInt64) -> (started: [Priority], until: UInt64?) {
      var started: [Priority] = []
      while true {
        switch queue.next(now: now, isCurrent: { [left] in !left.contains($0.serial) }) {
        case .nothing: return (started, nil)
        case .wait(let time): return (started, time)
        case .start(let entry):
          left.insert(entry.serial)
          queue.entryDidLeave()
          queue.transferDidStart(entry.rank.priority, now: now)
          started.append(entry.rank.priority)
        }
      }
    }
  }

  @Test func `prefetching fills the link and no more`() throws {
    var host = try Host()
    #expect(host.start(now: 1).started == Array(repeating: .prefetch, count: 6))
    #expect(host.queue.otherCount == 6)
  }

  @Test func `a visible poster takes the next connection that is free, before any prefetch`() throws
  {
    var host = try Host()
    _ = host.start(now: 1)
    host.wait(.visible)
    let wait = host.start(now: 2)
    #expect(wait.started == [])
    #expect(wait.until == 2 + 80 * Self.millisecond)
    host.queue.transferDidStop(.prefetch, nil, now: 10)
    #expect(host.start(now: 10).started == [.visible])
    // The seventh prefetch has to wait for another one.
    #expect(host.start(now: 11).started == [])
    host.queue.transferDidStop(.prefetch, nil, now: 12)
    #expect(host.start(now: 12).started == [.prefetch])
  }

  @Test
  func
    `where none becomes free for a round trip it takes an idle one, as do those that came with it`()
    throws
  {
    var host = try Host()
    _ = host.start(now: 1)
    for _ in 0..<3 { host.wait(.visible) }
    let until = try #require(host.start(now: 2).until)
    #expect(host.start(now: until - 1).started == [])
    #expect(host.start(now: until).started == Array(repeating: .visible, count: 3))
  }

  @Test func `the next visible one waits for a busy connection as the first did`() throws {
    var host = try Host()
    _ = host.start(now: 1)
    host.queue.transferDidStop(.prefetch, nil, now: 2)
    #expect(host.start(now: 2).started == [.prefetch])
    host.wait(.visible)
    #expect(host.start(now: 3).until == 3 + 80 * Self.millisecond)
    host.queue.transferDidStop(.prefetch, nil, now: 4)
    // Nothing else waits then.
    #expect(host.start(now: 4).started == [.visible])
    host.wait(.visible)
    let later = 200 * Self.millisecond
    #expect(host.start(now: later).until == later + 80 * Self.millisecond)
  }

  @Test func `a stalled transfer holds up prefetching no longer than a probe lasts`() throws {
    for stalled in [Priority.prefetch, .visible] {
      var host = try Host()
      host.queue.transferDidStart(stalled, now: 1)
      // Ten seconds after the first request the latency is to be measured again.
      let probe = PrefetchWindow.probeInterval
      host.request(.prefetch, now: probe)
      let wait = host.start(now: probe)
      #expect(wait.started == [])
      let end = probe + PrefetchWindow.longestProbe
      #expect(wait.until == end)
      #expect(host.start(now: end).started == Array(repeating: .prefetch, count: 5))
    }
  }

  @Test func `while the latency is measured, a visible poster takes an idle connection`() throws {
    var host = try Host()
    host.queue.transferDidStart(.prefetch, now: 1)
    let probe = PrefetchWindow.probeInterval
    #expect(host.start(now: probe).started == [])
    host.wait(.visible)
    #expect(host.start(now: probe + 1).started == [.visible])
  }

  @Test func `where prefetching does not fill the link, or is over, it starts at once`() throws {
    var host = try Host()
    _ = host.start(now: 1)
    for _ in 0..<6 { host.queue.transferDidStop(.prefetch, nil, now: 5) }
    _ = host.start(now: 6)
    host.queue.transferDidStop(.prefetch, nil, now: 7)
    for _ in 0..<5 { host.wait(.visible) }
    #expect(host.start(now: 8).started == Array(repeating: .visible, count: 5))
  }
}
