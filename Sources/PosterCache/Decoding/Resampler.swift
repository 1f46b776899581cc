/// Stand-in: takes the nearest pixel.
struct Resampler: ~Copyable {
  private let from, to: PixelSize
  private let isOpaque: Bool
  private var rows: [UInt8] = []

  init(from: PixelSize, to: PixelSize, isOpaque: Bool) {
    self.from = from
    self.to = to
    self.isOpaque = isOpaque
  }

  mutating func append(_ row: UnsafePointer<UInt8>) {
    rows.append(contentsOf: UnsafeBufferPointer(start: row, count: from.width * 4))
  }

  consuming func finish(alpha: Rendition.Alpha) -> Bitmap {
    let (from, to, rows) = (from, to, rows)
    return Bitmap(to, alpha: alpha, isOpaque: isOpaque) { pixels in
      for y in 0..<to.height {
        for x in 0..<to.width {
          let source = (y * from.height / to.height * from.width + x * from.width / to.width) * 4
          for channel in 0..<4 { pixels[(y * to.width + x) * 4 + channel] = rows[source + channel] }
        }
      }
      if alpha == .premultiplied { AlphaMultiplication.premultiply(pixels) }
    }
  }
}

extension Bitmap {
  var averageColor: PosterColor { PosterColor(red: 0, green: 0, blue: 0) }
}
