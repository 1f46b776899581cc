/// Colours to colours multiplied by alpha, and back, in RGBA8.
enum AlphaMultiplication {
  /// Multiplies the colours of `pixels` by their alpha, rounded to the nearest.
  static func premultiply(_ pixels: UnsafeMutableRawBufferPointer) {
    for offset in stride(from: 0, to: pixels.count & ~3, by: 4) {
      let alpha = UInt32(pixels[offset + 3])
      if alpha == 255 { continue }
      for channel in offset..<offset + 3 {
        // Divides by 255 exactly, for products of two bytes.
        let product = UInt32(pixels[channel]) &* alpha &+ 128
        pixels[channel] = UInt8(truncatingIfNeeded: (product &+ (product >> 8)) >> 8)
      }
    }
  }

  /// The colour that gives `value` when it is multiplied by `alpha`, 0 where no colour is left.
  static func straight(_ value: UInt8, alpha: UInt8) -> UInt8 {
    guard alpha > 0 else { return 0 }
    return UInt8(min((UInt32(value) * 255 + UInt32(alpha) / 2) / UInt32(alpha), 255))
  }
}
