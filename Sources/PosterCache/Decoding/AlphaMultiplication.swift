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

  /// Divides the colours of `pixels` by their alpha, rounded to the nearest: what gives the same again
  /// when it is multiplied. Where alpha is 0 no colour is left, and it becomes 0.
  static func undo(in pixels: inout [UInt8]) {
    for offset in stride(from: 0, to: pixels.count & ~3, by: 4) {
      let alpha = UInt32(pixels[offset + 3])
      if alpha == 255 { continue }
      for channel in offset..<offset + 3 {
        let quotient = alpha == 0 ? 0 : (UInt32(pixels[channel]) * 255 + alpha / 2) / alpha
        pixels[channel] = UInt8(min(quotient, 255))
      }
    }
  }
}
