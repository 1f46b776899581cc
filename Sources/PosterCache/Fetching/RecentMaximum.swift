/// The largest of the values seen lately, in constant memory.
///
/// Two epochs of one span each: a value counts for at least one span and at most two. Values that
/// nothing has followed are never forgotten, so that there is an answer after a pause, too.
struct RecentMaximum: Sendable {
  private let span: UInt64
  private var current: Double?
  private var previous: Double?
  private var began: UInt64 = 0

  /// - Parameter span: nanoseconds.
  init(span: UInt64) {
    self.span = span
  }

  /// The largest value, `nil` before the first.
  var value: Double? {
    guard let current else { return previous }
    return max(current, previous ?? current)
  }

  /// Notes a value seen at `now`.
  mutating func note(_ value: Double, now: UInt64) {
    let epochs = (max(now, began) - began) / span
    if epochs > 0 {
      // What lies more than a whole epoch back does not count any more.
      previous = epochs == 1 ? current : nil
      current = nil
      began += epochs * span
    }
    current = max(value, current ?? value)
  }
}

/// The smallest of the values seen lately: see ``RecentMaximum``.
struct RecentMinimum: Sendable {
  private var negated: RecentMaximum

  /// - Parameter span: nanoseconds.
  init(span: UInt64) {
    negated = RecentMaximum(span: span)
  }

  /// The smallest value, `nil` before the first.
  var value: Double? { negated.value.map { -$0 } }

  /// Notes a value seen at `now`.
  mutating func note(_ value: Double, now: UInt64) {
    negated.note(-value, now: now)
  }
}
