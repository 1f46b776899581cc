import PosterCache
import PosterServer

/// A drawn poster with the weight of a real one.
///
/// TMDB's w342 posters were measured at 20 to 110 KB, 40 KB in the median. The demo origin's lie between 21
/// and 81 KB, 39 KB in the median: too few are heavy. The heavier one is drawn, the more is added to it, as
/// a comment of bytes that cannot be compressed: what a JPEG decoder skips, and everybody else takes for
/// bytes as any others.
enum WeightedPoster {
  /// Bytes as drawn, and the bytes they become; in proportion between two of them.
  private static let weights: [(drawn: Double, wanted: Double)] = [
    (21_000, 20_000), (39_000, 40_000), (81_000, 110_000),
  ]
  /// Bytes of a comment's marker and length.
  private static let commentOverhead = 4
  /// The longest comment's bytes.
  private static let longestComment = 65_533

  /// The w342 poster called `name`: the same bytes each time.
  static func encode(name: String) -> [UInt8] {
    let drawn = DemoPoster.encode(name: name, size: .w342)
    var generator = SplitMix64(seed: seed(name))
    return padded(drawn, to: wantedBytes(drawn.count), &generator)
  }

  /// What a poster of `drawn` bytes is to weigh.
  static func wantedBytes(_ drawn: Int) -> Int {
    let drawn = Double(drawn)
    // Beyond the last one, as if the line went on.
    let upper = min(weights.firstIndex { drawn < $0.drawn } ?? weights.count, weights.count - 1)
    let (from, to) = (weights[max(upper, 1) - 1], weights[max(upper, 1)])
    let part = (drawn - from.drawn) / (to.drawn - from.drawn)
    return Int(from.wanted + part * (to.wanted - from.wanted))
  }

  /// `jpeg` with comments behind its JFIF header, so that it weighs `wanted` bytes where that is more.
  static func padded(
    _ jpeg: [UInt8], to wanted: Int, _ generator: inout SplitMix64
  ) -> [UInt8] {
    var missing = wanted - jpeg.count
    guard missing > commentOverhead else { return jpeg }
    var comments: [UInt8] = []
    while missing > commentOverhead {
      let count = min(missing - commentOverhead, longestComment)
      comments += [0xFF, 0xFE, UInt8((count + 2) >> 8), UInt8((count + 2) & 255)]
      for _ in 0..<count { comments.append(UInt8.random(in: 0...255, using: &generator)) }
      missing -= count + commentOverhead
    }
    // JFIF's own segment comes first (JFIF 1.02: "right after SOI").
    let hasHeader = jpeg.count > 6 && jpeg[2] == 0xFF && jpeg[3] == 0xE0
    let place = hasHeader ? 4 + Int(jpeg[4]) << 8 + Int(jpeg[5]) : 2
    return jpeg[..<place] + comments + jpeg[place...]
  }

  private static func seed(_ name: String) -> UInt64 {
    name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
  }
}
