import PosterCache

/// Fetches pictures in virtual time.
package protocol SimulatedFetching {
  /// When the next thing happens; `nil` if nothing is on its way.
  mutating func nextTime() -> Double?

  /// Time passes, up to at most ``nextTime()``.
  mutating func advance(to seconds: Double)

  /// Lets the next thing happen, up to whose time ``advance(to:)`` was called.
  ///
  /// - Returns: pictures that are there because of it.
  mutating func takeArrivals() -> [WindowAsk]

  /// Somebody wants a picture that is neither there nor on its way to him.
  mutating func begin(_ ask: WindowAsk, isVisible: Bool)

  /// He does not want it any more.
  mutating func drop(_ ask: WindowAsk)

  /// Which of the wanted ones are for visible cells.
  mutating func screenDidChange(isVisible: (WindowCell) -> Bool)

  /// Whether as much is in flight as can be.
  var isFull: Bool { get }

  /// What is known of the link.
  var figures: LinkFigures? { get }

  /// What is still to come of those that are being received.
  var bytesLeft: [(ask: WindowAsk, bytes: Double)] { get }

  /// Bytes that have come since this was called last, by cell.
  mutating func takeReceived() -> [(cell: WindowCell, bytes: Int)]

  /// It ends here: what is in flight is given up, and counts as received so far.
  mutating func end()

  /// Transfers that were let go of, by what they were doing.
  var cancelled: FetchStatistics.Cancelled { get }
  /// Connections that were closed with a transfer on them.
  var reconnects: Int { get }
}
