import PosterCache

/// The fetch engine in virtual time: its own queue, with a link in place of curl and its server.
///
/// Speaks HTTP/1.1: a connection carries one transfer at a time and is used again; stopping a transfer closes
/// it, and the beginning of the picture is kept, as the servers of pictures name their versions. The first
/// answer on a connection takes twice the latency. What is measured is reported as the fetch thread does.
package struct QueuedFetching: SimulatedFetching {
  private let pictures: SimulatedPictures
  private let latency: Double
  private var link: SimulatedLink
  private var meter = ReceiveMeter()
  private var queue: TransferQueue
  private var running: [TransferQueue.TransferID: Running] = [:]
  private var wanted: [WindowAsk: Interest] = [:]
  private var asks: [CacheKey: WindowAsk] = [:]
  private var lastTicket: UInt64 = 0
  private var idleConnections = 0
  private var partials: [WindowAsk: Int] = [:]
  private var partialOrder: [WindowAsk] = []
  private var received: [(cell: WindowCell, bytes: Int)] = []
  private var arrivals: [WindowAsk] = []
  private var stopped = FetchStatistics.Cancelled.none
  package private(set) var reconnects = 0
  package private(set) var figures: LinkFigures?

  private struct Running {
    let ask: WindowAsk
    let startedAt: Double
    /// What the meter said then.
    let bytesBefore: Int
    let bytes: Int
    var firstByteSeconds: Double?
  }

  private struct Interest {
    var ticket: Ticket
    var isVisible: Bool
  }

  /// Beginnings of pictures that are kept, in bytes, as ``PartialStore`` does.
  private static let partialBytes = 8 << 20
  /// Virtual time begins with the queue's clock at a second.
  private static let origin = 1.0

  /// - Parameters:
  ///   - bytesPerSecond: the link's bandwidth.
  ///   - latency: from a request to the first byte of its answer, in seconds.
  package init(
    _ pictures: SimulatedPictures, bytesPerSecond: Double, latency: Double,
    configuration: FetchConfiguration = FetchConfiguration()
  ) {
    self.pictures = pictures
    self.latency = latency
    link = SimulatedLink(bytesPerSecond: bytesPerSecond)
    queue = TransferQueue(configuration)
    queue.prefetchingIsPlanned = true
  }

  package var isFull: Bool { false }

  package var cancelled: FetchStatistics.Cancelled {
    var all = stopped
    all.queued = queue.cancellations.queued
    all.finishing = queue.cancellations.finishing
    return all
  }

  package var bytesLeft: [(ask: WindowAsk, bytes: Double)] {
    running.compactMap { id, run in link.bytesLeft(of: id).map { (run.ask, $0) } }
  }

  // MARK: - Time

  package mutating func nextTime() -> Double? {
    let wake = queue.nextWake.map { max(link.seconds, Self.seconds($0)) }
    guard let next = link.nextTime() else { return wake }
    return min(next, wake ?? next)
  }

  package mutating func advance(to seconds: Double) { link.advance(to: seconds) }

  package mutating func takeArrivals() -> [WindowAsk] {
    arrivals = []
    if let wake = queue.nextWake, wake <= now || Self.seconds(wake) <= link.seconds {
      carryOut(queue.timeDidPass(now: max(wake, now)))
    } else if let next = link.nextTime(), next <= link.seconds, let event = link.takeNext() {
      switch event {
      case .firstByte(let id):
        noteReceived()
        meter.answerDidBegin(now: now)
        if let start = running[id]?.startedAt {
          running[id]?.firstByteSeconds = link.seconds - start
        }
      case .finished(let id): finish(id)
      }
    }
    return arrivals
  }

  private var now: UInt64 { UInt64((link.seconds + Self.origin) * 1e9) }

  private static func seconds(_ nanoseconds: UInt64) -> Double {
    Double(nanoseconds) / 1e9 - origin
  }

  // MARK: - What is wanted

  package mutating func begin(_ ask: WindowAsk, isVisible: Bool) {
    wanted[ask] = Interest(ticket: nextTicket(), isVisible: isVisible)
    submit(ask)
  }

  package mutating func drop(_ ask: WindowAsk) {
    guard let interest = wanted.removeValue(forKey: ask) else { return }
    dropTicket(interest.ticket, of: ask)
  }

  package mutating func screenDidChange(isVisible: (WindowCell) -> Bool) {
    let changed = wanted.filter { $0.value.isVisible != isVisible($0.key.cell) }.keys
    for ask in changed.sorted(by: { ($0.cell, $0.rung) < ($1.cell, $1.rung) }) {
      guard let old = wanted[ask] else { continue }
      wanted[ask] = Interest(ticket: nextTicket(), isVisible: !old.isVisible)
      submit(ask)
      dropTicket(old.ticket, of: ask)
    }
  }

  private mutating func submit(_ ask: WindowAsk) {
    guard let interest = wanted[ask] else { return }
    let request = pictures.request(ask, interest.isVisible ? .visible : .prefetch)
    asks[request.key] = ask
    carryOut(queue.requestWasMade(request, ticket: interest.ticket, now: now))
  }

  private mutating func dropTicket(_ ticket: Ticket, of ask: WindowAsk) {
    let left = running.first { $0.value.ask == ask }.flatMap { link.bytesLeft(of: $0.key) }
    carryOut(
      queue.ticketWasDropped(ticket, now: now) { _, link in
        link.isNearlyDone(bytesLeft: left.map { Int($0.rounded(.up)) })
      })
  }

  private mutating func nextTicket() -> Ticket {
    lastTicket += 1
    return Ticket(number: lastTicket)
  }

  // MARK: - Transfers

  private mutating func carryOut(
    _ actions: [TransferQueue.Action], finished: WindowAsk? = nil
  ) {
    for action in actions {
      switch action {
      case .start(let id): start(id)
      case .abort(let id): abort(id)
      case .prioritize: break
      case .complete(_, .finished):
        guard let finished else { preconditionFailure("finished without a transfer") }
        wanted[finished] = nil
        arrivals.append(finished)
      case .complete: break
      }
    }
  }

  private mutating func start(_ id: TransferQueue.TransferID) {
    guard let ask = asks[queue.request(of: id).key] else {
      preconditionFailure("transfer \(id) of nothing that was asked for")
    }
    let isReused = idleConnections > 0
    if isReused { idleConnections -= 1 }
    let beginning = partials.removeValue(forKey: ask) ?? 0
    let bytes = pictures.bytes(ask) - beginning
    running[id] = Running(
      ask: ask, startedAt: link.seconds, bytesBefore: meter.bytes, bytes: bytes)
    link.start(id, bytes: Double(bytes), latency: isReused ? latency : 2 * latency)
  }

  private mutating func finish(_ id: TransferQueue.TransferID) {
    guard let run = running.removeValue(forKey: id) else { return }
    idleConnections += 1
    received.append((run.ask.cell, run.bytes))
    noteReceived()
    meter.answerDidEnd(now: now)
    let sample = TransferSample(
      bytes: run.bytes, firstByteSeconds: run.firstByteSeconds,
      bytesPerSecond: meter.takeRate(
        since: run.bytesBefore, seconds: max(link.seconds - run.startedAt, 1e-9)))
    let host = queue.host(of: id)
    let actions = queue.transferDidFinish(id, .final, sample: sample, now: now, jitter: 0)
    figures = queue.figures(ofHost: host) ?? figures
    carryOut(actions, finished: run.ask)
  }

  private mutating func abort(_ id: TransferQueue.TransferID) {
    guard let run = running.removeValue(forKey: id) else { return }
    reconnects += 1
    if link.receivedBytes(of: id) == nil {
      stopped.requesting += 1
    } else {
      stopped.receiving += 1
      noteReceived()
      meter.answerDidEnd(now: now)
    }
    let bytes = Int(link.stop(id).rounded())
    guard bytes > 0 else { return }
    received.append((run.ask.cell, bytes))
    keep(pictures.bytes(run.ask) - run.bytes + bytes, of: run.ask)
  }

  /// Tells the meter what has come since it was told last.
  private mutating func noteReceived() {
    meter.didReceive(max(0, Int(link.receivedBytes.rounded()) - meter.bytes), now: now)
  }

  private mutating func keep(_ bytes: Int, of ask: WindowAsk) {
    partials[ask] = bytes
    partialOrder.removeAll { $0 == ask || partials[$0] == nil }
    partialOrder.append(ask)
    while partials.values.reduce(0, +) > Self.partialBytes, !partialOrder.isEmpty {
      partials[partialOrder.removeFirst()] = nil
    }
  }

  // MARK: - Bytes

  package mutating func takeReceived() -> [(cell: WindowCell, bytes: Int)] {
    defer { received = [] }
    return received
  }

  package mutating func end() {
    for (id, run) in running {
      let bytes = Int(link.stop(id).rounded())
      if bytes > 0 { received.append((run.ask.cell, bytes)) }
    }
    running = [:]
  }
}
