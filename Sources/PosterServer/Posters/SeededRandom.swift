import CXXHash
import PosterCache

/// A small random number generator whose numbers follow from a name, the same on every machine: those
/// of `SplitMix64`, seeded with the XXH3-64 of the name.
struct SeededRandom: RandomNumberGenerator {
  private var numbers: SplitMix64

  /// - Parameter name: what the numbers follow from.
  init(_ name: String) {
    var name = name
    numbers = SplitMix64(seed: name.withUTF8 { XXH3_64bits($0.baseAddress, $0.count) })
  }

  mutating func next() -> UInt64 {
    numbers.next()
  }

  /// A number from 0 up to, but not including, `bound`.
  mutating func below(_ bound: Int) -> Int {
    Int(next() % UInt64(bound))
  }

  /// A number from `range`.
  mutating func number(in range: ClosedRange<Double>) -> Double {
    let unit = Double(next() >> 11) / Double(1 << 53)
    return range.lowerBound + unit * (range.upperBound - range.lowerBound)
  }

  /// One of `choices`, which must not be empty.
  mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
    choices[below(choices.count)]
  }
}
