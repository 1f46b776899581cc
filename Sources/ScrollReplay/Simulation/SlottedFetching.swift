import PosterCache

/// A plain fetcher for comparison: so many transfers at once, each with the same latency; those that have
/// not begun to receive are dropped for nothing, those that have are finished, whoever wants them.
package struct SlottedFetching: SimulatedFetching {
  private let pictures: SimulatedPictures
  private let latency: Double
  private let slots: Int
  private var link: SimulatedLink
  private var running: [Int: WindowAsk] = [:]
  private var received: [(cell: WindowCell, bytes: Int)] = []
  package private(set) var cancelled = FetchStatistics.Cancelled.none
  package let figures: LinkFigures?

  /// - Parameters:
  ///   - slots: how many transfers at once.
  ///   - meanBytes: what a policy is told about the size of pictures.
  package init(
    _ pictures: SimulatedPictures, bytesPerSecond: Double, latency: Double, slots: Int,
    meanBytes: Double
  ) {
    self.pictures = pictures
    self.latency = latency
    self.slots = slots
    link = SimulatedLink(bytesPerSecond: bytesPerSecond)
    figures = LinkFigures(
      firstByteSeconds: latency, bytesPerSecond: bytesPerSecond, meanBytes: meanBytes)
  }

  package var isFull: Bool { running.count >= slots }
  package var reconnects: Int { 0 }

  package var bytesLeft: [(ask: WindowAsk, bytes: Double)] {
    running.compactMap { id, ask in link.bytesLeft(of: id).map { (ask, $0) } }
  }

  package mutating func nextTime() -> Double? { link.nextTime() }

  package mutating func advance(to seconds: Double) { link.advance(to: seconds) }

  package mutating func takeArrivals() -> [WindowAsk] {
    guard let next = link.nextTime(), next <= link.seconds,
      case .finished(let id) = link.takeNext(), let ask = running.removeValue(forKey: id)
    else { return [] }
    received.append((ask.cell, pictures.bytes(ask)))
    return [ask]
  }

  package mutating func begin(_ ask: WindowAsk, isVisible: Bool) {
    guard !running.values.contains(ask) else { return }
    let id = (0...running.count).first { running[$0] == nil } ?? running.count
    running[id] = ask
    link.start(id, bytes: Double(pictures.bytes(ask)), latency: latency)
  }

  package mutating func drop(_ ask: WindowAsk) {
    guard let id = running.first(where: { $0.value == ask })?.key else { return }
    if link.receivedBytes(of: id) == nil {
      link.stop(id)
      running[id] = nil
      cancelled.requesting += 1
    } else {
      cancelled.finishing += 1
    }
  }

  package mutating func screenDidChange(isVisible: (WindowCell) -> Bool) {}

  package mutating func takeReceived() -> [(cell: WindowCell, bytes: Int)] {
    defer { received = [] }
    return received
  }

  package mutating func end() {
    for (id, ask) in running { received.append((ask.cell, Int(link.stop(id).rounded()))) }
    running = [:]
  }
}
