/// One interest in a transfer. It completes exactly once.
package struct Ticket: Sendable, Hashable, Comparable {
  /// Counts up in the order of submission.
  package let number: UInt64

  /// The ticket of the submission `number`.
  package init(number: UInt64) {
    self.number = number
  }

  package static func < (left: Ticket, right: Ticket) -> Bool { left.number < right.number }
}
