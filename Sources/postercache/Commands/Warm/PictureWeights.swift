import PosterCache

/// How many bytes a picture has that nobody has seen: as many as those of its size have on average that are
/// stored, or else what such pictures usually have.
struct PictureWeights: Sendable {
  private struct Sum: Sendable {
    var count = 0
    var bytes = 0
  }

  private var sums: [String: Sum] = [:]
  /// Whether an estimate was made by what is stored.
  private(set) var isMeasured = false

  /// Takes a stored picture into account.
  mutating func add(_ address: PosterAddress, bytes: Int) {
    let group = Self.pictureClass(of: address)
    sums[group, default: Sum()].count += 1
    sums[group]?.bytes += bytes
  }

  /// About how many bytes the picture at `address` has.
  ///
  /// - Parameter wanted: the size that was asked for, which counts where the address names none.
  mutating func bytes(of address: PosterAddress, wanted: PosterSize) -> Int {
    if let sum = sums[Self.pictureClass(of: address)] {
      isMeasured = true
      return sum.bytes / sum.count
    }
    return Self.usualBytes(of: Self.size(in: address) ?? wanted)
  }

  /// What a picture of TMDB's of this size usually has. Measured for w342 (40 KB) and w500 (78 KB); from one
  /// width to another it grows by the power of 1.75, since larger pictures are the smoother ones.
  static func usualBytes(of size: PosterSize) -> Int {
    let width: Double
    switch size.rawValue {
    // Sixteen wide, nine high: as many pixels as posters of this width.
    case "w300": width = 184
    case "w1280": width = 784
    default:
      // A poster as uploaded is usually 2,000 pixels wide.
      width =
        size.width.map(Double.init) ?? size.height.map { Double($0) * 2 / 3 } ?? 2_000
    }
    return Int((40_000 * power(width / 342)).rounded())
  }

  /// `ratio` to the power of 1.75.
  private static func power(_ ratio: Double) -> Double {
    let root = ratio.squareRoot()
    return ratio * root * root.squareRoot()
  }

  /// Pictures that are comparable: those of a size, or of a host that names none.
  private static func pictureClass(of address: PosterAddress) -> String {
    size(in: address)?.rawValue ?? address.host
  }

  /// The size that an address names in front of its file.
  private static func size(in address: PosterAddress) -> PosterSize? {
    let path = address.canonical.prefix { $0 != "?" }
    return path.split(separator: "/").dropFirst(2).dropLast().last.flatMap {
      PosterSize(rawValue: String($0))
    }
  }
}
