/// The middle and the ends of some numbers.
struct Spread: Codable, Sendable, Equatable {
  let median: Double
  let minimum: Double
  let maximum: Double

  /// `nil` if there are no numbers.
  init?(_ numbers: [Double]) {
    let sorted = numbers.sorted()
    guard let first = sorted.first, let last = sorted.last else { return nil }
    (minimum, maximum) = (first, last)
    median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
  }

  private init(median: Double, minimum: Double, maximum: Double) {
    (self.median, self.minimum, self.maximum) = (median, minimum, maximum)
  }

  /// The same in another unit.
  static func * (spread: Spread, factor: Double) -> Spread {
    Spread(
      median: spread.median * factor, minimum: spread.minimum * factor,
      maximum: spread.maximum * factor)
  }
}
