import PosterCache

/// A reproducible source of random numbers that knows what it was seeded with.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  /// What to print when a test fails, and to pass to `init(seed:)` to see it fail again.
  public let seed: UInt64
  private var numbers: SplitMix64

  /// - Parameter seed: a random one unless given.
  public init(seed: UInt64 = .random(in: .min ... .max)) {
    self.seed = seed
    numbers = SplitMix64(seed: seed)
  }

  public mutating func next() -> UInt64 {
    numbers.next()
  }
}
