/// Measures how fast all transfers of one host receive together.
///
/// A single transfer's bytes over its duration say little about a link: most of that duration is the wait
/// for the first byte, and a link that is used for a few transfers at a time, as by somebody who plans with
/// what was measured, would always seem just fast enough for those few. So the time counts only while an
/// answer is being received, and is put together from many answers. What is read at the moment when the
/// first of several answers begins came before that moment, and does not count (as the first packet of a
/// train, where rates are measured by those).
///
/// A value without clock; times are monotonic, in nanoseconds.
package struct ReceiveMeter: Sendable {
  /// How long answers have to be received for one measurement. At 100 Mbit/s as many bytes as 16 posters
  /// have; much shorter ones would measure when threads run, and not when bytes come.
  static let span = nanosecondsPerSecond / 20

  /// Body bytes so far; only differences mean something.
  package private(set) var bytes = 0

  /// Answers that are being received now.
  private var answerCount = 0
  /// When the first of them began.
  private var began: UInt64 = 0
  /// Up to when the time has been counted.
  private var countedUntil: UInt64 = 0
  /// What the current measurement has counted.
  private var nanoseconds: UInt64 = 0
  private var countedBytes = 0
  /// The highest rate that was measured and not taken yet.
  private var rate: Double?

  package init() {}

  /// An answer begins to come.
  package mutating func answerDidBegin(now: UInt64) {
    if answerCount == 0 {
      began = now
      countedUntil = now
    }
    answerCount += 1
  }

  /// An answer that has begun has come to its end, or was stopped.
  package mutating func answerDidEnd(now: UInt64) {
    count(until: now)
    answerCount -= 1
  }

  /// Bytes of an answer that has begun have come.
  package mutating func didReceive(_ count: Int, now: UInt64) {
    bytes += count
    guard answerCount > 0, now > began else { return }
    self.count(until: now)
    countedBytes += count
  }

  /// What a transfer that has come to its end tells of the bandwidth, in bytes per second: the highest rate
  /// measured since this was asked last, or what all transfers received while it ran, as that is no more
  /// than the link can bear.
  ///
  /// - Parameters:
  ///   - before: what ``bytes`` was when it started.
  ///   - seconds: how long it took.
  package mutating func takeRate(since before: Int, seconds: Double) -> Double {
    max(rate.take() ?? 0, Double(bytes - before) / seconds)
  }

  private mutating func count(until now: UInt64) {
    guard now > countedUntil else { return }
    // Not earlier: others may have received something in the same turn.
    if nanoseconds >= Self.span {
      let measured = Double(countedBytes) * Double(nanosecondsPerSecond) / Double(nanoseconds)
      rate = max(rate ?? 0, measured)
      nanoseconds = 0
      countedBytes = 0
    }
    nanoseconds += now - countedUntil
    countedUntil = now
  }
}
