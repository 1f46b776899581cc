/// The name of a poster's pixels: which poster, and how they are wanted.
struct ImageKey: Sendable, Hashable {
  let poster: CacheKey
  let rendition: Rendition
}

extension ImageKey: LookupKey {
  /// The poster's hash, moved by the rendition's few small numbers, multiplied by odd ones of many digits.
  var place: UInt64 {
    var mixed: UInt64 = (rendition.alpha == .straight ? 1 : 0) + (rendition.mayEnlarge ? 2 : 0)
    switch rendition.size {
    case .full: break
    case .fitting(let size): mixed = mixed &+ 4 &+ Self.product(size)
    case .filling(let size): mixed = mixed &+ 8 &+ Self.product(size)
    }
    mixed = (mixed ^ mixed >> 32) &* 0x9E37_79B9_7F4A_7C15
    return poster.low ^ (mixed ^ mixed >> 32)
  }

  /// All renditions of a poster.
  var family: CacheKey? { poster }

  static var filler: ImageKey { ImageKey(poster: .filler, rendition: Rendition(.full)) }

  private static func product(_ size: PixelSize) -> UInt64 {
    UInt64(size.width) &* 0xBF58_476D_1CE4_E5B9 &+ UInt64(size.height) &* 0x94D0_49BB_1331_11EB
  }
}
