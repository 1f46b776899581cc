import Glibc
import PosterCache

/// In which order somebody asks for numbered posters.
enum KeyOrder: CaseIterable {
  /// Each as often as any other.
  case uniform
  /// The n-th most wanted a n-th as often as the first (Zipf's law with exponent 1).
  case zipf

  /// What it is called in a report.
  var name: String {
    switch self {
    case .uniform: "uniform keys"
    case .zipf: "Zipf keys"
    }
  }

  /// `count` numbers below `posters`.
  func numbers(_ count: Int, below posters: Int, seed: UInt64) -> [Int32] {
    var generator = SplitMix64(seed: seed)
    switch self {
    case .uniform:
      return (0..<count).map { _ in Int32.random(in: 0..<Int32(posters), using: &generator) }
    case .zipf:
      var sum = 0.0
      let sums = (1...posters).map { rank in
        sum += 1 / Double(rank)
        return sum
      }
      // Popularity has nothing to do with the order of insertion.
      var shuffle = SplitMix64(seed: 0)
      let names = (0..<Int32(posters)).shuffled(using: &shuffle)
      return (0..<count).map { _ in
        let wanted = Double.random(in: 0..<sum, using: &generator)
        var (low, high) = (0, posters - 1)
        while low < high {
          let middle = (low + high) / 2
          if sums[middle] > wanted { high = middle } else { low = middle + 1 }
        }
        return names[low]
      }
    }
  }
}
