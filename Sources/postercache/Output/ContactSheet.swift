import PosterCache

/// Pictures side by side: cells of one size, row by row, each picture centred in its cell.
struct ContactSheet {
  /// Where cells lie.
  struct Layout: Equatable {
    let columns: Int
    let rows: Int
    let cell: PixelSize

    /// Pixels around and between cells.
    static let gap = 8

    /// A layout for `count` cells, at least one.
    init(count: Int, columns: Int, cell: PixelSize) {
      self.columns = min(columns, max(count, 1))
      rows = max((count + self.columns - 1) / self.columns, 1)
      self.cell = cell
    }

    var width: Int { columns * (cell.width + Self.gap) + Self.gap }
    var height: Int { rows * (cell.height + Self.gap) + Self.gap }

    /// The first pixel of cell `index`.
    func origin(of index: Int) -> (x: Int, y: Int) {
      (
        Self.gap + index % columns * (cell.width + Self.gap),
        Self.gap + index / columns * (cell.height + Self.gap)
      )
    }
  }

  private struct Ink {
    let red, green, blue: UInt8
  }

  private static let background = Ink(red: 24, green: 24, blue: 28)
  private static let missing = Ink(red: 48, green: 48, blue: 54)
  private static let cross = Ink(red: 104, green: 104, blue: 112)

  private let layout: Layout
  /// RGBA8, all opaque.
  private var pixels: [UInt8]

  /// A sheet without a picture.
  init(_ layout: Layout) {
    self.layout = layout
    pixels = [UInt8](repeating: 255, count: layout.width * layout.height * 4)
    fill(x: 0, y: 0, width: layout.width, height: layout.height, Self.background)
  }

  /// Draws `bitmap`, premultiplied and no larger than a cell, into cell `index`.
  mutating func draw(_ bitmap: Bitmap, at index: Int) {
    precondition(
      bitmap.alpha == .premultiplied && bitmap.size.width <= layout.cell.width
        && bitmap.size.height <= layout.cell.height,
      "a picture of \(bitmap.size) in a cell of \(layout.cell)")
    let origin = layout.origin(of: index)
    let left = origin.x + (layout.cell.width - bitmap.size.width) / 2
    let top = origin.y + (layout.cell.height - bitmap.size.height) / 2
    bitmap.withUnsafeBytes { source in
      for y in 0..<bitmap.size.height {
        var from = y * bitmap.bytesPerRow
        var to = ((top + y) * layout.width + left) * 4
        for _ in 0..<bitmap.size.width {
          let uncovered = 255 - Int(source[from + 3])
          for channel in 0..<3 {
            let behind = (Int(pixels[to + channel]) * uncovered + 127) / 255
            pixels[to + channel] = UInt8(min(Int(source[from + channel]) + behind, 255))
          }
          from += 4
          to += 4
        }
      }
    }
  }

  /// Draws a crossed-out cell where there is no picture.
  mutating func drawMissing(at index: Int) {
    let (x, y) = layout.origin(of: index)
    let (width, height) = (layout.cell.width, layout.cell.height)
    fill(x: x, y: y, width: width, height: height, Self.missing)
    let steps = max(width, height)
    for step in 0..<steps {
      let across = step * width / steps
      let down = step * height / steps
      fill(x: x + across, y: y + down, width: 1, height: 1, Self.cross)
      fill(x: x + width - 1 - across, y: y + down, width: 1, height: 1, Self.cross)
    }
  }

  /// The sheet as it is now.
  var bitmap: Bitmap {
    Bitmap(
      PixelSize(width: layout.width, height: layout.height), alpha: .straight, isOpaque: true
    ) { $0.copyBytes(from: pixels) }
  }

  private mutating func fill(x: Int, y: Int, width: Int, height: Int, _ ink: Ink) {
    for row in y..<y + height {
      var at = (row * layout.width + x) * 4
      for _ in 0..<width {
        pixels[at] = ink.red
        pixels[at + 1] = ink.green
        pixels[at + 2] = ink.blue
        at += 4
      }
    }
  }
}
