/// A number of a table: exact, or a median with its spread.
struct Figure: Codable, Sendable, Equatable {
  let value: Double
  /// The smallest and the largest of what ``value`` is the median of; `nil` where it is exact.
  let low: Double?
  let high: Double?

  /// An exact number: a count, or what is computed from such.
  init(_ value: Double) {
    self.value = value
    low = nil
    high = nil
  }

  /// A median and its spread.
  init(_ spread: Spread) {
    value = spread.median
    low = spread.minimum
    high = spread.maximum
  }
}
