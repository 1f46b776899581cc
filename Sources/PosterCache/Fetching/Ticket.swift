/// One interest in a transfer. It completes exactly once.
package struct Ticket: Sendable, Hashable, Comparable {
  /// Counts up in the order of submission.
  let number: UInt64

  package static func < (left: Ticket, right: Ticket) -> Bool { left.number < right.number }
}
