import FoundationEssentials
import Glibc
import PosterCache

extension SplitMix64 {
  /// A number from `range`, each as likely as any other.
  package mutating func number(in range: ClosedRange<Double>) -> Double {
    let unit = Double(next() >> 11) / Double(1 << 53)
    return range.lowerBound + unit * (range.upperBound - range.lowerBound)
  }

  /// One of `choices`, which must not be empty.
  package mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
    choices[Int(next() % UInt64(choices.count))]
  }

  /// A number of the normal distribution with mean 0 and deviation 1 (Box and Muller 1958).
  package mutating func normal() -> Double {
    // Never 0, of which there is no logarithm.
    let radius = sqrt(-2 * log(1 - number(in: 0...(1 - 0x1p-53))))
    return radius * cos(2 * Double.pi * number(in: 0...1))
  }
}
