import CXXHash

/// A small random number generator whose numbers follow from a name, the same on every machine.
///
/// SplitMix64 (Steele, Lea, Flood 2014), seeded with the XXH3-64 of the name.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  /// - Parameter name: what the numbers follow from.
  init(_ name: String) {
    var name = name
    state = name.withUTF8 { XXH3_64bits($0.baseAddress, $0.count) }
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
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
