import Glibc

@testable import PosterCache

/// A reduction as Pillow's `Image.resize(…, Image.LANCZOS)` defines it, as plainly as it can be written:
/// colours are multiplied by alpha, all rows are filtered and rounded to 8 bits, then all columns.
///
/// ``LanczosReferenceTests`` holds it to what Pillow gave.
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
          var sum = 0.0
          var place = (y * from.width + window.first) * 4 + channel
          for weight in window.weights {
            sum += weight * Double(multiplied[place])
            place += 4
          }
          narrow[(y * to.width + x) * 4 + channel] = Self.byte(sum)
        }
      }
    }
    var small = [UInt8](repeating: 0, count: to.pixels * 4)
    for (y, window) in Self.windows(from.height, to.height).enumerated() {
      for column in 0..<to.width * 4 {
        var sum = 0.0
        var place = window.first * to.width * 4 + column
        for weight in window.weights {
          sum += weight * Double(narrow[place])
          place += to.width * 4
        }
        small[y * to.width * 4 + column] = Self.byte(sum)
      }
    }
    (width, height) = (to.width, to.height)
    self.pixels = small
  }

  private static func windows(
    _ input: Int, _ output: Int
  ) -> [(first: Int, weights: [Double])] {
    let scale = Double(input) / Double(output)
    let stretch = max(scale, 1)
    return (0..<output).map { place in
      let center = (Double(place) + 0.5) * scale
      let first = max(Int(center - 3 * stretch + 0.5), 0)
      let end = min(Int(center + 3 * stretch + 0.5), input)
      let values = (first..<end).map { lanczos((Double($0) - center + 0.5) / stretch) }
      let sum = values.reduce(0, +)
      return (first, values.map { $0 / sum })
    }
  }

  private static func lanczos(_ x: Double) -> Double {
    func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(x * .pi) / (x * .pi) }
    return x.magnitude < 3 ? sinc(x) * sinc(x / 3) : 0
  }

  private static func byte(_ value: Double) -> UInt8 { UInt8(min(max(value.rounded(), 0), 255)) }
}
