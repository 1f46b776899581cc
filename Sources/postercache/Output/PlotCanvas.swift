import PosterCache
import PosterServer

/// Opaque pixels to draw rectangles and words on; what lies outside is left out.
struct PlotCanvas {
  /// A colour.
  struct Ink: Sendable, Equatable {
    let red, green, blue: UInt8

    init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
      self.red = red
      self.green = green
      self.blue = blue
    }
  }

  let size: PixelSize
  /// RGBA8, all opaque.
  private var pixels: [UInt8]

  init(_ size: PixelSize, background: Ink) {
    self.size = size
    pixels = [UInt8](repeating: 255, count: size.pixels * 4)
    fill(x: 0..<size.width, y: 0..<size.height, background)
  }

  mutating func fill(x: Range<Int>, y: Range<Int>, _ ink: Ink) {
    let columns = x.clamped(to: 0..<size.width)
    for row in y.clamped(to: 0..<size.height) {
      var at = (row * size.width + columns.lowerBound) * 4
      for _ in columns {
        pixels[at] = ink.red
        pixels[at + 1] = ink.green
        pixels[at + 2] = ink.blue
        at += 4
      }
    }
  }

  /// Writes `text` with its first dot at `x`, `y`.
  ///
  /// - Parameter scale: pixels to a dot.
  mutating func write(_ text: String, x: Int, y: Int, scale: Int, _ ink: Ink) {
    for (place, character) in text.enumerated() {
      let left = x + place * BitmapFont.advance * scale
      for (line, dots) in PlotFont.rows(of: character).enumerated() {
        for dot in 0..<BitmapFont.columns
        where dots >> UInt8(BitmapFont.columns - 1 - dot) & 1 == 1 {
          let start = (x: left + dot * scale, y: y + line * scale)
          fill(x: start.x..<start.x + scale, y: start.y..<start.y + scale, ink)
        }
      }
    }
  }

  /// How wide `text` becomes.
  static func width(of text: String, scale: Int) -> Int {
    max(text.count * BitmapFont.advance - 1, 0) * scale
  }

  /// The colour at a place, which must be on the canvas.
  func ink(x: Int, y: Int) -> Ink {
    let at = (y * size.width + x) * 4
    return Ink(pixels[at], pixels[at + 1], pixels[at + 2])
  }

  /// The pixels as they are now.
  var bitmap: Bitmap {
    Bitmap(size, alpha: .straight, isOpaque: true) { $0.copyBytes(from: pixels) }
  }
}
