/// How far past the predicted stop it is worth looking.
///
/// When the next fling starts, what was asked for a moment ago arrives after the time to the first byte;
/// until then it shows what is there. From then on the link brings so many screens a second. If that is
/// less than the fling shows, the difference has to be there before, over the whole way of the fling: half
/// a second of its first velocity under iOS' law. So little is fetched in vain for a slow reader, or over a
/// fast link, and as much as is allowed for somebody in a hurry.
struct LookAhead {
  /// Screens that are always looked at: a glance farther.
  static let leastScreens = 0.2
  /// The time to the first byte counts more than once, as a fling is noticed some frames late.
  static let firstByteShare = 1.5
  /// How much of the way of a fling counts, which is another one next time.
  static let wayShare = 2.0

  /// A fling, in screens per second, for which previews should be there even if nobody has made one.
  static let usualSpeed = 5.0

  let link: LinkFigures
  let mostScreens: Double

  /// - Parameters:
  ///   - speed: of a next fling, in screens per second.
  ///   - cells: cells on a screen.
  func screens(speed: Double, cells: Double) -> Double {
    let feed = link.bytesPerSecond / (link.meanBytes * max(cells, 1))
    var screens = Self.leastScreens + Self.firstByteShare * speed * link.firstByteSeconds
    if feed < speed { screens += Self.wayShare * 0.5 * (speed - feed) }
    return min(screens, mostScreens)
  }

  /// Screens that previews are worth looking at, to both sides: they cost so little that all is fetched that
  /// a fling could come to before the first byte.
  func previewScreens(speed: Double) -> Double {
    min(1 + 3 * max(speed, Self.usualSpeed) * link.firstByteSeconds, 6)
  }
}
