import PosterCache

/// A body that is sent piece by piece: at the shared link's pace, up to a gate, or up to where a
/// fault cuts it.
///
/// Used only in the server's callbacks for its connection, one after the other.
final class BodyStream {
  /// Where a body is cut, and how that looks to the client.
  struct Cut {
    enum Ending {
      /// The connection is closed.
      case fail
      /// Nothing more comes.
      case stall
    }
    let afterBytes: Int
    let ending: Ending
  }

  private let body: StableBytes
  private let range: Range<Int>
  private let cut: Cut?
  private var gate: (id: WaitTable.GateID, afterBytes: Int)?
  private let connection: HTTPConnection
  private let traffic: OriginTraffic
  /// Bytes for which the link has been reserved, and when they will have passed.
  private var underWay: (count: Int, arrival: UInt64)?
  /// When the last piece had passed.
  private var lastArrival: UInt64?

  /// How far a piece's reservation may reach back: the link was busy with this body until its last
  /// piece arrived, and being woken late must not look like an idle link. Longer than that, it was
  /// the client who did not keep up.
  private static let catchUpNanoseconds: UInt64 = 20_000_000

  /// - Parameter range: the part of `body` to send.
  init(
    _ body: StableBytes, range: Range<Int>, cut: Cut?, gate: (WaitTable.GateID, Int)?,
    connection: HTTPConnection, traffic: OriginTraffic
  ) {
    self.body = body
    self.range = range
    self.cut = cut
    self.gate = gate.map { (id: $0.0, afterBytes: $0.1) }
    self.connection = connection
    self.traffic = traffic
  }

  /// Yields the bytes from `offset` on; see ``HTTPConnection/Reader``.
  func read(from offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> HTTPConnection.Reading
  {
    guard !traffic.hasEnded else { return .fail }
    if let gate, offset >= gate.afterBytes {
      self.gate = nil
      if traffic.suspend(connection, until: .gate(gate.id)) { return .suspended }
    }
    if let cut, offset >= cut.afterBytes, offset < range.count {
      guard cut.ending == .stall, traffic.suspend(connection, until: .end) else { return .fail }
      return .suspended
    }
    guard offset < range.count else { return .end }
    var end = min(range.count, offset + buffer.count)
    if let cut { end = min(end, cut.afterBytes) }
    if let gate { end = min(end, gate.afterBytes) }
    var count = end - offset
    if let quantum = traffic.quantum {
      guard let passed = passTheLink(min(count, quantum)) else { return .suspended }
      count = passed
    }
    let bytes = body.pointer(to: range.lowerBound + offset..<range.lowerBound + offset + count)
    buffer.copyMemory(from: UnsafeRawBufferPointer(bytes))
    return .bytes(count)
  }

  /// The number of bytes that have passed the link, or `nil` if the connection waits for them.
  private func passTheLink(_ count: Int) -> Int? {
    if underWay == nil {
      let now = monotonicNanoseconds()
      let ready = lastArrival.map { max($0, now - Self.catchUpNanoseconds) } ?? now
      underWay = (count, traffic.reserve(count, readyAt: ready))
    }
    guard let piece = underWay else { return nil }
    if traffic.suspend(connection, until: .time(piece.arrival)) { return nil }
    underWay = nil
    lastArrival = piece.arrival
    return piece.count
  }
}
