import TestSupport

@testable import PosterCache

/// The fetch engine on a link of one bandwidth, in virtual time: the real ``TransferQueue`` and the real
/// ``ReceiveMeter``, and instead of curl a little arithmetic. Time goes by in milliseconds.
struct LinkModel {
  /// Bytes per second of all transfers together, shared equally.
  var bandwidth: Double
  /// From a request to the first byte of its answer, in seconds.
  var latency = 0.08
  /// Whether a server sends 10 segments first on a connection that was idle for 0.3 seconds, and twice as
  /// many after each round trip (RFC 5681, 6928).
  var hasSlowStart = false
  /// How often in a thousand milliseconds the fetch thread is held up, for 5 to 20 of them.
  var stallsPerSecond = 0

  private(set) var now: UInt64 = 0
  /// Pictures that have come.
  private(set) var pictureCount = 0
  private var queue = TransferQueue(LinkModel.configuration)
  private var meter = ReceiveMeter()
  private var flights: [Flight] = []
  /// Idle connections: when each was used last, and how many round trips it has been at work before.
  private var idle: [(since: UInt64, rounds: Int)] = []
  private var lastTicket: UInt64 = 0
  private var host: Int?
  private var stalledUntil: UInt64 = 0
  private var random: SeededGenerator

  private struct Flight {
    let id: TransferQueue.TransferID
    let startedAt: UInt64
    let bytesBefore: Int
    let bytes: Double
    var arrived = 0.0
    var delivered = 0
    var firstByteAt: UInt64?
    /// Round trips of its connection before this.
    var rounds: Int
  }

  private static let configuration: FetchConfiguration = {
    var configuration = FetchConfiguration()
    configuration.connectionsPerHost = 32
    return configuration
  }()

  init(megabits: Double, seed: UInt64 = 1) {
    bandwidth = megabits * 125_000
    random = SeededGenerator(seed: seed)
  }

  /// What is known of the link.
  var figures: LinkFigures? { host.flatMap { queue.link(toHost: $0).figures } }

  /// Requests that have not been answered.
  private(set) var waitingCount = 0

  /// How many somebody keeps in flight who plans with what is known: see `docs/architecture.md`.
  var plannedCount: Int {
    guard let figures else { return 4 }
    let pipe = figures.bytesPerSecond * figures.firstByteSeconds / figures.meanBytes
    return min(max(Int(pipe.rounded(.up)) + 3, 4), 32)
  }

  /// Somebody wants another picture, of 20 to 60 KB.
  mutating func ask(_ priority: Priority = .prefetch) throws {
    lastTicket += 1
    waitingCount += 1
    var request = FetchRequest(try PosterAddress("http://link.test/\(lastTicket).jpg"))
    request.priority = priority
    perform(queue.requestWasMade(request, ticket: Ticket(number: lastTicket), now: now))
  }

  /// A millisecond goes by.
  mutating func tick() {
    now += 1_000_000
    if stallsPerSecond > 0, Int.random(in: 0..<1000, using: &random) < stallsPerSecond {
      stalledUntil = now + 1_000_000 * UInt64.random(in: 5...20, using: &random)
    }
    transfer()
    guard now >= stalledUntil else { return }
    receive()
    if let wake = queue.nextWake, wake <= now { perform(queue.timeDidPass(now: now)) }
  }

  /// The link, which goes on whatever the fetch thread does.
  private mutating func transfer() {
    let latency = UInt64(self.latency * 1e9)
    var budget = bandwidth / 1000
    // Twice: what some cannot use, others can.
    for _ in 0..<2 {
      let open = flights.indices.filter { room(flights[$0], latency) > 0 }
      for index in open {
        let share = min(budget / Double(open.count), room(flights[index], latency))
        flights[index].arrived += share
      }
      budget -= open.isEmpty ? 0 : budget
    }
  }

  /// How many bytes of a picture may pass now.
  private func room(_ flight: Flight, _ latency: UInt64) -> Double {
    guard now >= flight.startedAt + latency else { return 0 }
    guard hasSlowStart else { return flight.bytes - flight.arrived }
    let first = 14_600 * Double(1 << min(flight.rounds, 10))
    let sent = first * Double((1 << min(Int((now - flight.startedAt) / latency), 10)) - 1)
    return min(flight.bytes, sent) - flight.arrived
  }

  /// The fetch thread reads what is there.
  private mutating func receive() {
    var ended: [Flight] = []
    for index in flights.indices {
      guard now >= flights[index].startedAt + UInt64(latency * 1e9) else { continue }
      if flights[index].firstByteAt == nil {
        flights[index].firstByteAt = now
        meter.answerDidBegin(now: now)
      }
      let count = Int(flights[index].arrived) - flights[index].delivered
      if count > 0 { meter.didReceive(count, now: now) }
      flights[index].delivered += count
      if flights[index].arrived >= flights[index].bytes - 1 { ended.append(flights[index]) }
    }
    for flight in ended {
      flights.removeAll { $0.id == flight.id }
      meter.answerDidEnd(now: now)
      let rounds = Int(Double(now - flight.startedAt) / 1e9 / latency)
      idle.append((now, flight.rounds + rounds - 1))
      let seconds = Double(now - flight.startedAt) / 1e9
      let sample = TransferSample(
        bytes: flight.delivered,
        firstByteSeconds: flight.firstByteAt.map { Double($0 - flight.startedAt) / 1e9 },
        bytesPerSecond: meter.takeRate(since: flight.bytesBefore, seconds: seconds))
      perform(
        queue.transferDidFinish(flight.id, .final, sample: sample, now: now, jitter: 0))
    }
  }

  private mutating func perform(_ actions: [TransferQueue.Action]) {
    for action in actions {
      switch action {
      case .start(let id):
        host = queue.host(of: id)
        let connection = idle.popLast()
        let isWarm = connection.map { now < $0.since + 300_000_000 } ?? false
        flights.append(
          Flight(
            id: id, startedAt: now, bytesBefore: meter.bytes,
            bytes: Double.random(in: 20_000...60_000, using: &random),
            rounds: isWarm ? connection?.rounds ?? 0 : 0))
      case .complete(let tickets, _):
        waitingCount -= tickets.count
        pictureCount += tickets.count
      case .abort, .prioritize: break
      }
    }
  }
}
