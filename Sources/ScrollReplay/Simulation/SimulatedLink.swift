import PosterCache

/// A link of one bandwidth that all who receive share equally, in virtual time: how the demo origin's link
/// behaves where its pieces are very small.
///
/// After a latency each transfer's first byte comes, and from then on it gets its share until its last one.
/// Times are exact: between two events every receiver gets the same number of bytes, so that it is enough to
/// count these once for all.
package struct SimulatedLink {
  /// What happened.
  package enum Event: Sendable, Hashable {
    /// A transfer begins to receive.
    case firstByte(Int)
    /// A transfer has received everything.
    case finished(Int)
  }

  /// In bytes a second.
  package let bytesPerSecond: Double
  /// The present.
  package private(set) var seconds = 0.0
  /// Bytes that have come for all transfers together.
  package private(set) var receivedBytes = 0.0

  /// What somebody would have got who had been receiving all the time.
  private var level = 0.0
  private var transfers: [Transfer?] = []
  private var receiving = 0
  private var starts = Heap<Moment>()
  private var ends = Heap<Moment>()
  private var lastSerial: UInt64 = 0

  private struct Transfer {
    let bytes: Double
    let serial: UInt64
    /// The level at its first byte; `nil` before.
    var beganAt: Double?
  }

  /// A time or a level at which something happens to a transfer, unless that is another one by then.
  private struct Moment: Comparable {
    let place: Double
    let serial: UInt64
    let id: Int

    static func < (left: Moment, right: Moment) -> Bool {
      (left.place, left.serial) < (right.place, right.serial)
    }
  }

  /// - Parameter bytesPerSecond: more than 0.
  package init(bytesPerSecond: Double) {
    precondition(bytesPerSecond > 0, "\(bytesPerSecond) bytes a second")
    self.bytesPerSecond = bytesPerSecond
  }

  /// A request is on its way, and its first byte comes after `latency` seconds.
  ///
  /// - Parameter id: any small number that no other transfer has.
  package mutating func start(_ id: Int, bytes: Double, latency: Double) {
    while transfers.count <= id { transfers.append(nil) }
    precondition(transfers[id] == nil, "transfer \(id) runs already")
    lastSerial += 1
    transfers[id] = Transfer(bytes: bytes, serial: lastSerial)
    starts.insert(Moment(place: seconds + latency, serial: lastSerial, id: id))
  }

  /// A transfer is given up.
  ///
  /// - Returns: how many bytes have come of it.
  @discardableResult
  package mutating func stop(_ id: Int) -> Double {
    let received = receivedBytes(of: id) ?? 0
    if transfers[id]?.beganAt != nil { receiving -= 1 }
    transfers[id] = nil
    return received
  }

  /// How many bytes have come of a transfer; `nil` before its first byte.
  package func receivedBytes(of id: Int) -> Double? {
    guard transfers.indices.contains(id), let transfer = transfers[id],
      let beganAt = transfer.beganAt
    else { return nil }
    return min(level - beganAt, transfer.bytes)
  }

  /// How many bytes of a transfer are still to come; `nil` before its first byte, as nobody has said.
  package func bytesLeft(of id: Int) -> Double? {
    guard let received = receivedBytes(of: id), let transfer = transfers[id] else { return nil }
    return transfer.bytes - received
  }

  /// When the next thing happens; `nil` if nothing is on its way.
  package mutating func nextTime() -> Double? {
    forgetStale()
    let start = starts.first?.place
    let end = ends.first.map {
      seconds + max(0, $0.place - level) * Double(receiving) / bytesPerSecond
    }
    guard let start, let end else { return start ?? end }
    return min(start, end)
  }

  /// Time passes, up to at most ``nextTime()``.
  package mutating func advance(to time: Double) {
    let step = max(0, time - seconds)
    seconds = max(seconds, time)
    guard receiving > 0 else { return }
    level += step * bytesPerSecond / Double(receiving)
    receivedBytes += step * bytesPerSecond
  }

  /// Lets the next thing happen: time passes until then.
  package mutating func takeNext() -> Event? {
    guard let time = nextTime() else { return nil }
    let endTime = ends.first.map {
      seconds + max(0, $0.place - level) * Double(receiving) / bytesPerSecond
    }
    advance(to: time)
    if let endTime, endTime <= time, let end = ends.removeFirst() {
      // Whatever rounding has left or taken.
      level = max(level, end.place)
      transfers[end.id] = nil
      receiving -= 1
      return .finished(end.id)
    }
    guard let start = starts.removeFirst(), let transfer = transfers[start.id] else { return nil }
    transfers[start.id]?.beganAt = level
    receiving += 1
    ends.insert(Moment(place: level + transfer.bytes, serial: start.serial, id: start.id))
    return .firstByte(start.id)
  }

  private mutating func forgetStale() {
    while let first = starts.first, transfers[first.id]?.serial != first.serial {
      starts.removeFirst()
    }
    while let first = ends.first, transfers[first.id]?.serial != first.serial {
      ends.removeFirst()
    }
  }
}
