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
