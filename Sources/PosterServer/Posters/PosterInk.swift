/// A colour as the canvas stores it: full-range BT.601 luma and chroma, as JPEG uses them (JFIF
/// 1.02, section 7).
struct PosterInk {
  /// Luma, low enough to leave ``PosterCanvas`` room for the strongest grain above it.
  let luma: UInt8
  /// The blue difference, 128 for grey.
  let blueDifference: UInt8
  /// The red difference, 128 for grey.
  let redDifference: UInt8

  /// The highest luma of an ink.
  static let brightest = 255.0 - Double(GrainTile.strongest)

  /// - Parameters:
  ///   - hue: a turn of the colour wheel, 0 = red, 1/3 = green; any number, whole turns drop out.
  ///   - saturation: 0 (grey) to 1.
  ///   - value: 0 (black) to 1.
  init(hue: Double, saturation: Double, value: Double) {
    func channel(_ offset: Double) -> Double {
      let turn = hue + offset
      let sixth = (turn - turn.rounded(.down)) * 6
      return value * (1 - saturation * max(0, min(sixth, 4 - sixth, 1)))
    }
    let (red, green, blue) = (channel(5 / 6), channel(3 / 6), channel(1 / 6))
    let luma = 0.299 * red + 0.587 * green + 0.114 * blue
    func byte(_ number: Double) -> UInt8 { UInt8(max(0, min(255, number.rounded()))) }
    self.luma = byte(luma * Self.brightest)
    blueDifference = byte(128 + (blue - luma) / 1.772 * 240)
    redDifference = byte(128 + (red - luma) / 1.402 * 240)
  }

  private init(luma: UInt8, blueDifference: UInt8, redDifference: UInt8) {
    self.luma = luma
    self.blueDifference = blueDifference
    self.redDifference = redDifference
  }

  /// The ink that lies `share` (0 to 1) of the way from this one to `other`.
  func mixed(with other: PosterInk, share: Double) -> PosterInk {
    func mix(_ from: UInt8, _ to: UInt8) -> UInt8 {
      UInt8((Double(from) + (Double(to) - Double(from)) * share).rounded())
    }
    return PosterInk(
      luma: mix(luma, other.luma), blueDifference: mix(blueDifference, other.blueDifference),
      redDifference: mix(redDifference, other.redDifference))
  }
}
