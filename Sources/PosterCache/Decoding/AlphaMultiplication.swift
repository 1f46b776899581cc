/// Colours to colours multiplied by alpha, and back, in RGBA8.
enum AlphaMultiplication {
  /// Multiplies the colours of `pixels` by their alpha, rounded to the nearest.
  static func premultiply(_ pixels: UnsafeMutableRawBufferPointer) {
    // Red and blue in one number, so that the compiler makes vector code of it. (x + x / 256) / 256 with
    // x = product + 128 divides by 255 exactly, for products of two bytes.
    let words = pixels.bindMemory(to: UInt32.self)
    for index in words.indices {
      let pixel = UInt32(littleEndian: words[index])
      let alpha = pixel >> 24
      var redBlue = (pixel & 0xFF00FF) &* alpha &+ 0x800080
      redBlue = ((redBlue &+ ((redBlue >> 8) & 0xFF00FF)) >> 8) & 0xFF00FF
      var green = ((pixel >> 8) & 0xFF) &* alpha &+ 0x80
      green = (green &+ (green >> 8)) & 0xFF00
      words[index] = (redBlue | green | alpha << 24).littleEndian
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
