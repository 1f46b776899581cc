import TestSupport
import Testing

@testable import PosterCache

/// Random events against a model that looks at everything each time instead of keeping heaps.
@Suite(.timeLimit(.minutes(2)))
struct TransferQueueModelTests {
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `random events lead to the same actions as in a naive model`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var configuration = FetchConfiguration()
    configuration.connectionsPerHost = .random(in: 1...3, using: &random)
    configuration.requestsPerSecond =
      Bool.random(using: &random) ? nil : [0.5, 2, 5].randomElement(using: &random)
    configuration.timeoutSeconds = 10
    let window = [nil, 1, 2].randomElement(using: &random)!  // not empty
    configuration.prefetchWindow = window.map { .fixed($0) } ?? .unlimited
    let maximum = Int.random(in: 2...9, using: &random)
    var queue = TransferQueue(configuration, maximumTransfers: maximum)
    var model = QueueModel(
      configuration: configuration, maximumTransfers: maximum, window: window ?? .max)
    // The queue names transfers by number, the model by address.
    var names: [Int: String] = [:]
    var now: UInt64 = 0
    var lastTicket = 0
    let addresses = try (0..<12).map { try PosterAddress("http://h\($0 % 3).test/\($0)") }

    for step in 0..<400 {
      now += .random(in: 0...nanosecondsPerSecond / 4, using: &random)
      let actions: [TransferQueue.Action]
      let expected: [QueueModel.Action]
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<8:
        lastTicket += 1
        let address = addresses.randomElement(using: &random)!  // not empty
        let priority = Priority.allCases.randomElement(using: &random)!  // not empty
        let request = FetchRequest(address, priority: priority)
        actions = queue.requestWasMade(request, ticket: ticket(lastTicket), now: now)
        expected = model.requestWasMade(request, ticket: ticket(lastTicket), now: now)
      case 8..<12:
        let dropped = ticket(.random(in: 1...lastTicket + 1, using: &random))
        let isNearlyDone = Bool.random(using: &random)
        actions = queue.ticketWasDropped(dropped, now: now) { _, _ in isNearlyDone }
        expected = model.ticketWasDropped(dropped, now: now, isNearlyDone: isNearlyDone)
      case 12..<18:
        guard let (id, name) = names.min(by: { $0.key < $1.key }) else { continue }
        names[id] = nil
        let outcome = Self.outcome(&random)
        let jitter = Double.random(in: 0..<1, using: &random)
        actions = queue.transferDidFinish(id, outcome, now: now, jitter: jitter)
        expected = model.transferDidFinish(name, outcome, now: now, jitter: jitter)
      case 18:
        now = max(now, queue.nextWake ?? 0)
        actions = queue.timeDidPass(now: now)
        expected = model.timeDidPass(now: now)
      default:
        guard step > 350 else { continue }
        actions = queue.didShutDown(now: now)
        expected = model.didShutDown()
      }
      let named = actions.map { action -> QueueModel.Action in
        switch action {
        case .start(let id):
          let name = queue.request(of: id).address.canonical
          names[id] = name
          return .start(name)
        case .abort(let id):
          return .abort(names.removeValue(forKey: id) ?? "unknown")
        case .prioritize(let id, let priority):
          return .prioritize(names[id] ?? "unknown", priority)
        case .complete(let tickets, let ending): return .complete(tickets.sorted(), ending)
        }
      }
      try #require(named.sorted() == expected.sorted(), "seed \(seed), step \(step)")
      try #require(
        named.filter(\.isStart) == expected.filter(\.isStart), "seed \(seed), step \(step)")
      try #require(queue.runningCount == model.runningCount, "seed \(seed), step \(step)")
      if let wake = model.nextWake(now: now) {
        // The queue may wake for nothing, but never too late.
        let earliest = try #require(queue.nextWake, "seed \(seed), step \(step)")
        try #require(earliest <= wake, "seed \(seed), step \(step)")
      }
    }
    #expect(model.completedOnce, "seed \(seed)")
  }

  private static func outcome(_ random: inout SeededGenerator) -> TransferQueue.Outcome {
    switch Int.random(in: 0..<9, using: &random) {
    case 0..<4: .final
    case 4..<6: .retriable(retryAfter: nil)
    case 6: .retriableAtOnce
    case 7: .retriable(retryAfter: .random(in: 0...3, using: &random), status: 503)
    default:
      .retriable(
        retryAfter: Bool.random(using: &random) ? 0 : 12,
        status: Bool.random(using: &random) ? 429 : 503)
    }
  }
}

/// The same rules as plainly as possible.
private struct QueueModel {
  enum Action: Equatable, Comparable {
    case start(String)
    case abort(String)
    case prioritize(String, Priority)
    case complete([Ticket], TransferQueue.Ending)

    var isStart: Bool { if case .start = self { true } else { false } }

    static func < (left: Action, right: Action) -> Bool { "\(left)" < "\(right)" }
  }

  struct Transfer {
    let name: String
    let host: String
    var tickets: [(ticket: Ticket, priority: Priority)]
    var tries = 0
    var runsAs: Priority?
    var delayedUntil: UInt64?
    /// Until when it may go on, wanted by nobody.
    var finishesBy: UInt64?

    var isRunning: Bool { runsAs != nil }
    var priority: Priority { tickets.map(\.priority).max() ?? .background }

    var rank: TransferQueue.Rank {
      tickets.map { TransferQueue.Rank(priority: $0.priority, ticket: $0.ticket) }.min()
        ?? TransferQueue.Rank(priority: .background, ticket: Ticket(number: .max))
    }
  }

  let configuration: FetchConfiguration
  let maximumTransfers: Int
  /// Transfers below visible at once to one host.
  let window: Int
  var transfers: [Transfer] = []
  /// Until when somebody may be looking at what a host sends.
  var watchedUntil: [String: UInt64] = [:]
  var starts: [String: [UInt64]] = [:]
  var heldUntil: [String: UInt64] = [:]
  var heldStatus: [String: Int] = [:]
  var completed: [Ticket: Int] = [:]
  var isShutDown = false

  var runningCount: Int { transfers.count { $0.isRunning } }
  var completedOnce: Bool { completed.values.allSatisfy { $0 == 1 } }
  private var patience: UInt64 { UInt64(configuration.timeoutSeconds) * nanosecondsPerSecond }

  mutating func requestWasMade(
    _ request: FetchRequest, ticket: Ticket, now: UInt64
  ) -> [Action] {
    if isShutDown { return [complete([ticket], .cancelled)] }
    let name = request.address.canonical
    let host = request.address.host
    var actions: [Action] = []
    if let index = index(of: name) {
      transfers[index].tickets.append((ticket, request.priority))
      transfers[index].finishesBy = nil
      actions = prioritize(index)
    } else {
      if let block = block(host, now: now) { return [complete([ticket], block)] }
      transfers.append(
        Transfer(name: name, host: host, tickets: [(ticket, request.priority)]))
    }
    if request.priority > .background {
      watchedUntil[host] = now + 60 * nanosecondsPerSecond
    }
    return actions + startReady(now: now)
  }

  /// What follows from changed tickets of a running transfer.
  private mutating func prioritize(_ index: Int) -> [Action] {
    let priority = transfers[index].priority
    guard let old = transfers[index].runsAs, old != priority else { return [] }
    transfers[index].runsAs = priority
    return [.prioritize(transfers[index].name, priority)]
  }

  mutating func ticketWasDropped(
    _ ticket: Ticket, now: UInt64, isNearlyDone: Bool
  ) -> [Action] {
    guard let index = transfers.firstIndex(where: { $0.tickets.contains { $0.ticket == ticket } })
    else { return [] }
    var actions = [complete([ticket], .cancelled)]
    transfers[index].tickets.removeAll { $0.ticket == ticket }
    if !transfers[index].tickets.isEmpty {
      actions += prioritize(index)
    } else if transfers[index].isRunning, isNearlyDone {
      transfers[index].finishesBy = now + nanosecondsPerSecond / 2
      actions += prioritize(index)
    } else {
      if transfers[index].isRunning { actions.append(.abort(transfers[index].name)) }
      transfers.remove(at: index)
    }
    return actions + startReady(now: now)
  }

  mutating func transferDidFinish(
    _ name: String, _ outcome: TransferQueue.Outcome, now: UInt64, jitter: Double
  ) -> [Action] {
    guard let index = index(of: name) else { return [] }
    transfers[index].runsAs = nil
    let host = transfers[index].host
    var actions: [Action] = []
    let isLastTry =
      transfers[index].tries == configuration.tries || transfers[index].tickets.isEmpty
    if outcome == .retriableAtOnce, !transfers[index].tickets.isEmpty {
      if let block = block(host, now: now) { return [end(name, block)] + startReady(now: now) }
      transfers[index].tries -= 1
      return startReady(now: now)
    }
    guard case .retriable(let retryAfter, let status) = outcome else {
      return [end(name, .finished)] + startReady(now: now)
    }
    if let retryAfter {
      let until = now + UInt64(retryAfter * Double(nanosecondsPerSecond))
      if until > heldUntil[host] ?? 0 {
        heldUntil[host] = until
        heldStatus[host] = status
      }
    }
    if let block = block(host, now: now) {
      for waiting in transfers where waiting.host == host && !waiting.isRunning {
        actions.append(
          end(waiting.name, waiting.name == name && retryAfter == nil ? .finished : block))
      }
    } else if isLastTry {
      actions.append(end(name, .finished))
    } else {
      let full = 0.25 * (transfers[index].tries == 1 ? 1 : 2)
      let delay = full * (0.5 + jitter / 2) * Double(nanosecondsPerSecond)
      transfers[index].delayedUntil = now + UInt64(delay)
    }
    return actions + startReady(now: now)
  }

  mutating func timeDidPass(now: UInt64) -> [Action] {
    startReady(now: now)
  }

  mutating func didShutDown() -> [Action] {
    isShutDown = true
    return transfers.flatMap { transfer in
      (transfer.isRunning ? [.abort(transfer.name)] : []) + [end(transfer.name, .cancelled)]
    }
  }

  func nextWake(now: UInt64) -> UInt64? {
    transfers.compactMap { transfer -> UInt64? in
      if transfer.isRunning { return transfer.finishesBy }
      if let until = transfer.delayedUntil { return until }
      // Those behind the best of their host do not count: it goes first.
      let isFirst = !transfers.contains { other in
        other.host == transfer.host && !other.isRunning && other.delayedUntil == nil
          && other.rank < transfer.rank
      }
      guard isFirst else { return nil }
      let opening = opening(transfer, now: now)
      return opening > now && hasConnection(transfer) ? opening : nil
    }.min()
  }

  private mutating func startReady(now: UInt64) -> [Action] {
    var actions: [Action] = []
    for transfer in transfers where transfer.finishesBy.map({ $0 <= now }) ?? false {
      actions.append(.abort(transfer.name))
    }
    transfers.removeAll { $0.finishesBy.map { $0 <= now } ?? false }
    for index in transfers.indices where transfers[index].delayedUntil.map({ $0 <= now }) ?? false {
      transfers[index].delayedUntil = nil
    }
    while runningCount < maximumTransfers,
      let index = transfers.indices.filter({ isReady($0, now: now) })
        .min(by: { transfers[$0].rank < transfers[$1].rank })
    {
      transfers[index].runsAs = transfers[index].priority
      transfers[index].tries += 1
      starts[transfers[index].host, default: []].append(now)
      actions.append(.start(transfers[index].name))
    }
    return actions
  }

  private func isReady(_ index: Int, now: UInt64) -> Bool {
    let transfer = transfers[index]
    let others = transfers.count { $0.isRunning && $0.runsAs != .visible }
    let mayStart =
      transfer.priority == .visible || others < maximumTransfers - maximumTransfers / 8
    return !transfer.isRunning && transfer.delayedUntil == nil && mayStart
      && hasConnection(transfer) && opening(transfer, now: now) <= now
  }

  private func hasConnection(_ transfer: Transfer) -> Bool {
    let running = transfers.filter { $0.isRunning && $0.host == transfer.host }
    return running.count < configuration.connectionsPerHost
      && (transfer.priority == .visible || running.count { $0.runsAs != .visible } < window)
  }

  private func opening(_ transfer: Transfer, now: UInt64) -> UInt64 {
    var opening = heldUntil[transfer.host] ?? 0
    if let rate = configuration.requestsPerSecond {
      let number = max(Int(rate), 1)
      let window = UInt64(Double(number) / rate * Double(nanosecondsPerSecond))
      let previous = starts[transfer.host] ?? []
      func start(_ usable: Int) -> UInt64 {
        previous.count >= usable ? previous[previous.count - usable] + window : 0
      }
      var passes = start(number)
      if transfer.priority != .visible {
        // A quarter is left to visible ones as long as somebody may be looking.
        let watched = watchedUntil[transfer.host] ?? 0
        passes = min(start(number - number / 4), max(passes, watched))
      }
      opening = max(opening, passes)
    }
    return opening
  }

  private func block(_ host: String, now: UInt64) -> TransferQueue.Ending? {
    guard let until = heldUntil[host], until > now, until - now > patience else { return nil }
    let seconds = Double(until - now) / Double(nanosecondsPerSecond)
    return .held(host: host, seconds: Int(seconds.rounded(.up)), status: heldStatus[host] ?? 0)
  }

  private func index(of name: String) -> Int? { transfers.firstIndex { $0.name == name } }

  private mutating func end(_ name: String, _ ending: TransferQueue.Ending) -> Action {
    guard let index = index(of: name) else { return .abort("unknown \(name)") }
    return complete(transfers.remove(at: index).tickets.map(\.ticket).sorted(), ending)
  }

  private mutating func complete(_ tickets: [Ticket], _ ending: TransferQueue.Ending) -> Action {
    for ticket in tickets { completed[ticket, default: 0] += 1 }
    return .complete(tickets, ending)
  }
}
