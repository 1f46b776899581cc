import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct PlannedPrefetchingTests {
  /// A queue that knows its link: 80 KB of it are on their way where 40 KB are a picture.
  private func queue() throws -> (queue: TransferQueue, nextTicket: UInt64) {
    var queue = TransferQueue(FetchConfiguration())
    for number in 1...4 as ClosedRange<UInt64> {
      let request = try request(Int(number), .prefetch)
      let actions = queue.requestWasMade(request, ticket: Ticket(number: number), now: number)
      for case .start(let id) in actions {
        let sample = TransferSample(
          bytes: 40_000, firstByteSeconds: 0.08, bytesPerSecond: 1_000_000)
        _ = queue.transferDidFinish(id, .final, sample: sample, now: number, jitter: 0)
      }
    }
    return (queue, 5)
  }

  private func request(_ number: Int, _ priority: Priority) throws -> FetchRequest {
    FetchRequest(try PosterRequest(path: "/\(number).jpg", priority: priority))
  }

  private func started(
    _ count: Int, of priority: Priority, isPlanned: Bool
  ) throws -> Int {
    var (queue, ticket) = try queue()
    queue.prefetchingIsPlanned = isPlanned
    var started = 0
    for number in 0..<count {
      let actions = queue.requestWasMade(
        try request(100 + number, priority), ticket: Ticket(number: ticket), now: 10)
      ticket += 1
      started += actions.count { if case .start = $0 { true } else { false } }
    }
    return started
  }

  @Test func `what is planned starts as it is asked for`() throws {
    // Two fill the link, and one more is being received.
    #expect(try started(8, of: .prefetch, isPlanned: false) == 3)
    #expect(try started(8, of: .prefetch, isPlanned: true) == 8)
    // Nobody has planned what is fetched in the background.
    #expect(try started(8, of: .background, isPlanned: true) == 3)
  }

  @Test func `what is planned may use the whole request rate, as it is in order already`() throws {
    for (isPlanned, count) in [(false, 6), (true, 8)] {
      var configuration = FetchConfiguration()
      configuration.requestsPerSecond = 8
      configuration.prefetchWindow = .unlimited
      var queue = TransferQueue(configuration)
      queue.prefetchingIsPlanned = isPlanned
      var started = 0
      for number in 1...12 {
        let actions = queue.requestWasMade(
          try request(number, .prefetch), ticket: Ticket(number: UInt64(number)), now: 10)
        started += actions.count { if case .start = $0 { true } else { false } }
      }
      // A quarter is for visible posters, where nobody has planned these among the others.
      #expect(started == count)
    }
  }

  /// TMDB documents 40 requests a second.
  @Test func `who plans is told of no more than may be asked for`() throws {
    for (rate, bytesPerSecond) in [(nil, 1_600_000), (20, 800_000), (1000, 12_500_000)]
      as [(Double?, Double)]
    {
      var configuration = FetchConfiguration()
      configuration.requestsPerSecond = rate
      var queue = TransferQueue(configuration)
      let actions = queue.requestWasMade(
        try request(1, .visible), ticket: Ticket(number: 1), now: 10)
      guard case .start(let id)? = actions.first else { return #expect(Bool(false)) }
      let host = queue.host(of: id)
      #expect(queue.figures(ofHost: host) == nil)
      let sample = TransferSample(
        bytes: 40_000, firstByteSeconds: 0.08, bytesPerSecond: 12_500_000)
      _ = queue.transferDidFinish(id, .final, sample: sample, now: 20, jitter: 0)
      #expect(
        queue.figures(ofHost: host)
          == LinkFigures(
            firstByteSeconds: 0.08, bytesPerSecond: bytesPerSecond, meanBytes: 40_000))
    }
  }

  @Test func `an answer that is on its way is let finish where that costs less than a connection`()
  {
    var fast = LinkEstimate()
    fast.transferDidFinish(
      TransferSample(bytes: 40_000, firstByteSeconds: 0.08, bytesPerSecond: 12_500_000), now: 1)
    #expect(fast.isNearlyDone(bytesLeft: nil))
    #expect(fast.isNearlyDone(bytesLeft: 900_000) && !fast.isNearlyDone(bytesLeft: 1_100_000))
    var slow = LinkEstimate()
    slow.transferDidFinish(
      TransferSample(bytes: 40_000, firstByteSeconds: 0.08, bytesPerSecond: 625_000), now: 1)
    #expect(!slow.isNearlyDone(bytesLeft: nil))
    #expect(slow.isNearlyDone(bytesLeft: 40_000))
    #expect(!LinkEstimate().isNearlyDone(bytesLeft: nil))
  }
}
