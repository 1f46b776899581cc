import Glibc

@testable import PosterCache

/// A reduction as Pillow's `Image.resize(…, Image.LANCZOS)` defines it, as plainly as it can be written:
/// colours are multiplied by alpha, all rows are filtered and rounded to 8 bits, then all columns.
///
/// `Benchmarks/peers/pillow_difference.py --reference` compares the same definition with Pillow itself.
struct LanczosReference {
  let width: Int
  let height: Int
  /// RGBA8, multiplied by alpha.
  let pixels: [UInt8]

  /// - Parameter pixels: RGBA8, straight.
  init(_ pixels: [UInt8], _ from: PixelSize, to: PixelSize) {
    var multiplied = pixels
    for place in stride(from: 0, to: pixels.count, by: 4) {
      for channel in place..<place + 3 {
        let product = Double(pixels[channel]) * Double(pixels[place + 3])
        multiplied[channel] = UInt8((product / 255).rounded())
      }
    }
    var narrow = [UInt8](repeating: 0, count: to.width * from.height * 4)
    for (x, window) in Self.windows(from.width, to.width).enumerated() {
      for y in 0..<from.height {
        for channel in 0..<4 {
          let sum = window.reduce(0.0) {
            $0 + $1.weight * Double(multiplied[(y * from.width + $1.position) * 4 + channel])
          }
          narrow[(y * to.width + x) * 4 + channel] = Self.byte(sum)
        }
      }
    }
    var small = [UInt8](repeating: 0, count: to.pixels * 4)
    for (y, window) in Self.windows(from.height, to.height).enumerated() {
      for place in 0..<to.width * 4 {
        let sum = window.reduce(0.0) {
          $0 + $1.weight * Double(narrow[$1.position * to.width * 4 + place])
        }
        small[y * to.width * 4 + place] = Self.byte(sum)
      }
    }
    (width, height) = (to.width, to.height)
    self.pixels = small
  }

  private static func windows(
    _ input: Int, _ output: Int
  ) -> [[(position: Int, weight: Double)]] {
    let scale = Double(input) / Double(output)
    let stretch = max(scale, 1)
    return (0..<output).map { place in
      let center = (Double(place) + 0.5) * scale
      let first = max(Int(center - 3 * stretch + 0.5), 0)
      let end = min(Int(center + 3 * stretch + 0.5), input)
      let values = (first..<end).map { lanczos((Double($0) - center + 0.5) / stretch) }
      let sum = values.reduce(0, +)
      return zip(first..<end, values).map { ($0, $1 / sum) }
    }
  }

  private static func lanczos(_ x: Double) -> Double {
    func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(x * .pi) / (x * .pi) }
    return x.magnitude < 3 ? sinc(x) * sinc(x / 3) : 0
  }

  private static func byte(_ value: Double) -> UInt8 { UInt8(min(max(value.rounded(), 0), 255)) }
}
