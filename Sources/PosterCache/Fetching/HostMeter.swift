/// The ``ReceiveMeter`` of a host, which all its transfers share. Used on the fetch thread only.
final class HostMeter {
  private var meter = ReceiveMeter()
  private let turn: FetchTurn

  init(_ turn: FetchTurn) {
    self.turn = turn
  }

  /// Body bytes so far; only differences mean something.
  var bytes: Int { meter.bytes }

  func answerDidBegin() { meter.answerDidBegin(now: turn.now) }

  func answerDidEnd() { meter.answerDidEnd(now: turn.now) }

  func didReceive(_ count: Int) { meter.didReceive(count, now: turn.now) }

  /// See ``ReceiveMeter/takeRate(since:seconds:)``.
  func takeRate(since before: Int, seconds: Double) -> Double {
    meter.takeRate(since: before, seconds: seconds)
  }
}

/// The time of one turn of the fetch thread's loop, the same for all that is read in it: that came before.
final class FetchTurn {
  private var time: UInt64?

  /// Monotonic, in nanoseconds; when it was asked for first in this turn.
  var now: UInt64 {
    if let time { return time }
    let now = monotonicNanoseconds()
    time = now
    return now
  }

  /// The next turn begins.
  func end() { time = nil }
}
