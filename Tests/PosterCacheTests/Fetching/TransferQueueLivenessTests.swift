import TestSupport
import Testing

@testable import PosterCache

/// Random events, after which every request must come to its end, whatever the measurements were.
@Suite(.timeLimit(.minutes(1)))
struct TransferQueueLivenessTests {
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `nothing waits for ever`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var configuration = FetchConfiguration()
    configuration.connectionsPerHost = .random(in: 1...8, using: &random)
    configuration.requestsPerSecond = Bool.random(using: &random) ? nil : 5
    configuration.prefetchWindow = .adaptive(share: .random(in: 0...2, using: &random))
    var load = Load(
      TransferQueue(configuration, maximumTransfers: .random(in: 2...12, using: &random)))
    let addresses = try (0..<40).map { try PosterAddress("http://h\($0 % 3).test/\($0)") }
    for _ in 0..<400 {
      load.now += .random(in: 0...nanosecondsPerSecond, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        let address = addresses.randomElement(using: &random)!  // not empty
        let priority = Priority.allCases.randomElement(using: &random)!  // not empty
        load.request(FetchRequest(address, priority: priority))
      case 4..<6:
        let isNearlyDone = Bool.random(using: &random)
        load.drop(.random(in: 1...load.lastTicket + 1, using: &random), isNearlyDone)
      case 6..<8: load.finishAny(&random)
      default: load.wake()
      }
      try #require(load.mayGoOn, "seed \(seed)")
    }
    while !load.open.isEmpty {
      if load.running.isEmpty { load.wake() } else { load.finishAny(&random) }
      try #require(load.mayGoOn, "seed \(seed): \(load.open.count) tickets wait for ever")
    }
    #expect(load.queue.runningCount == load.running.count, "seed \(seed)")
  }

  /// A queue and what it has been asked for.
  private struct Load {
    var queue: TransferQueue
    var now: UInt64 = 0
    var lastTicket = 0
    var open: Set<Ticket> = []
    var running: Set<Int> = []

    init(_ queue: TransferQueue) {
      self.queue = queue
    }

    /// Whether something will happen by itself, if anybody waits for it.
    var mayGoOn: Bool { open.isEmpty || !running.isEmpty || queue.nextWake != nil }

    mutating func request(_ request: FetchRequest) {
      lastTicket += 1
      open.insert(ticket(lastTicket))
      take(queue.requestWasMade(request, ticket: ticket(lastTicket), now: now))
    }

    mutating func drop(_ number: Int, _ isNearlyDone: Bool) {
      take(queue.ticketWasDropped(ticket(number), now: now) { _, _ in isNearlyDone })
    }

    mutating func wake() {
      now = max(now, queue.nextWake ?? 0)
      take(queue.timeDidPass(now: now))
    }

    mutating func finishAny(_ random: inout SeededGenerator) {
      guard let id = running.sorted().randomElement(using: &random) else { return }
      running.remove(id)
      let outcome: TransferQueue.Outcome =
        switch Int.random(in: 0..<8, using: &random) {
        case 0: .retriable(retryAfter: nil)
        case 1: .retriable(retryAfter: .random(in: 0...70, using: &random))
        case 2: .retriableAtOnce
        default: .final
        }
      let sample = TransferSample(
        bytes: .random(in: 0...100_000, using: &random),
        firstByteSeconds: .random(in: 0...0.5, using: &random),
        bytesPerSecond: .random(in: 0...10_000_000, using: &random))
      take(queue.transferDidFinish(id, outcome, sample: sample, now: now, jitter: 0.5))
    }

    private mutating func take(_ actions: [TransferQueue.Action]) {
      for action in actions {
        switch action {
        case .start(let id): running.insert(id)
        case .abort(let id): running.remove(id)
        case .prioritize: break
        case .complete(let tickets, _): open.subtract(tickets)
        }
      }
    }
  }
}
