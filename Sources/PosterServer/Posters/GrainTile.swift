/// Ready-made film grain of one strength, which posters add to their luma.
///
/// Grain is what gives a drawn poster the weight of a photographed one. It is made once for each
/// strength and then added eight pixels at a time, which keeps drawing fast even in debug builds.
struct GrainTile: Sendable {
  /// The largest value of the strongest grain.
  static let strongest = 40
  /// The number of 64-bit words, eight pixels each.
  static let wordCount = 8_192
  /// How many strengths there are; 0 is none.
  static let strengthCount = strongest / 2 + 1

  /// The grain, eight pixels a word, each from 0 to twice the strength, most of them near it.
  let words: [UInt64]

  /// The tile of each strength.
  static let all = (0..<strengthCount).map { GrainTile(strength: $0) }

  private init(strength: Int) {
    guard strength > 0 else {
      words = []
      return
    }
    var random = SeededRandom("grain \(strength)")
    let levels = UInt64(strength + 1)
    words = (0..<Self.wordCount).map { _ in
      var word: UInt64 = 0
      // The sum of two uniform numbers is triangular: near enough to a photograph's grain.
      for _ in 0..<8 {
        let bits = random.next()
        word = word << 8 | ((bits & 0xFFFF) % levels + (bits >> 32) % levels)
      }
      return word
    }
  }
}
