import CTurboJPEG
import Glibc

/// A picture being drawn: planes of luma and, at half the resolution, chroma, which JPEG encoders
/// take without conversion.
///
/// Coordinates are in widths of the picture: x from 0 to 1, y from 0 (top) to 1.5, so that one
/// drawing serves every size; a ``PictureFrame`` may show a piece of that only. Everything is made of
/// horizontal spans, which `memset` writes.
struct PosterCanvas: ~Copyable {
  /// A place on the picture, in widths.
  struct Point {
    var x: Double
    var y: Double
  }

  /// Width in pixels.
  let width: Int
  /// Height in pixels.
  let height: Int
  /// The y of the first row.
  let top: Double
  /// Bytes from one row of luma to the next: a multiple of eight, so that grain goes on in words.
  private let lumaStride: Int
  private let chromaStride: Int
  /// Rows of luma in memory: even, because encoders read them in pairs. A row or a column beyond the
  /// picture continues it.
  private let rowCount: Int
  private let luma: UnsafeMutablePointer<UInt8>
  private let blueDifference: UnsafeMutablePointer<UInt8>
  private let redDifference: UnsafeMutablePointer<UInt8>

  /// A canvas of undefined contents.
  init(_ frame: PictureFrame) {
    width = frame.width
    height = frame.height
    top = frame.top
    lumaStride = (width + 7) & ~7
    chromaStride = lumaStride / 2
    rowCount = (height + 1) & ~1
    let chromaCount = chromaStride * rowCount / 2
    luma = .allocate(capacity: lumaStride * rowCount)
    luma.initialize(repeating: 0, count: lumaStride * rowCount)
    blueDifference = .allocate(capacity: chromaCount)
    blueDifference.initialize(repeating: 128, count: chromaCount)
    redDifference = .allocate(capacity: chromaCount)
    redDifference.initialize(repeating: 128, count: chromaCount)
  }

  deinit {
    luma.deallocate()
    blueDifference.deallocate()
    redDifference.deallocate()
  }

  // MARK: Shapes

  /// Fills everything with a gradient through `inks`, evenly spaced from top to bottom.
  func fillGradient(_ inks: [PosterInk]) {
    for row in 0..<rowCount {
      let position = Double(row) / Double(rowCount) * Double(inks.count - 1)
      let index = min(Int(position), inks.count - 2)
      let ink = inks[index].mixed(with: inks[index + 1], share: position - Double(index))
      fillSpan(row: row, from: 0, to: width, with: ink)
    }
  }

  /// Fills a rectangle with its corner at `origin`; what lies outside is cut off.
  func fillRectangle(at origin: Point, width: Double, height: Double, with ink: PosterInk) {
    let rows = row(origin.y)..<max(row(origin.y), row(origin.y + height))
    for row in rows {
      fillSpan(row: row, from: column(origin.x), to: column(origin.x + width), with: ink)
    }
  }

  /// Fills a disc; what lies outside is cut off.
  func fillDisc(around center: Point, radius: Double, with ink: PosterInk) {
    let rows = row(center.y - radius)..<max(row(center.y - radius), row(center.y + radius))
    for row in rows {
      let distance = (Double(row) + 0.5) / Double(width) + top - center.y
      let half = max(0, radius * radius - distance * distance).squareRoot()
      fillSpan(row: row, from: column(center.x - half), to: column(center.x + half), with: ink)
    }
  }

  /// Fills a polygon by the even-odd rule; what lies outside is cut off.
  func fillPolygon(_ points: [Point], with ink: PosterInk) {
    guard let first = points.map(\.y).min(), let last = points.map(\.y).max() else { return }
    var crossings: [Double] = []
    for row in row(first)..<max(row(first), row(last)) {
      let y = (Double(row) + 0.5) / Double(width) + top
      crossings.removeAll(keepingCapacity: true)
      var previous = points[points.count - 1]
      for point in points {
        if (point.y <= y) != (previous.y <= y) {
          let share = (y - previous.y) / (point.y - previous.y)
          crossings.append(previous.x + (point.x - previous.x) * share)
        }
        previous = point
      }
      crossings.sort()
      var index = 0
      while index + 1 < crossings.count {
        fillSpan(
          row: row, from: column(crossings[index]), to: column(crossings[index + 1]), with: ink)
        index += 2
      }
    }
  }

  /// Writes `text` in capitals of the built-in font, its top left corner at `origin`, each dot of a
  /// letter `dot` wide.
  func write(_ text: String, at origin: Point, dot: Double, with ink: PosterInk) {
    var left = origin.x
    for character in text {
      for (line, bits) in BitmapFont.rows(of: character).enumerated() {
        for dotColumn in 0..<BitmapFont.columns where bits >> (4 - dotColumn) & 1 == 1 {
          fillRectangle(
            at: Point(x: left + Double(dotColumn) * dot, y: origin.y + Double(line) * dot),
            width: dot, height: dot, with: ink)
        }
      }
      left += Double(BitmapFont.advance) * dot
    }
  }

  /// Adds grain of `strength`, a different piece of its tile in each row.
  func addGrain(strength: Int, random: inout SeededRandom) {
    guard strength > 0 else { return }
    let wordsInRow = lumaStride / 8
    GrainTile.all[strength].words.withUnsafeBufferPointer { tile in
      for row in 0..<rowCount {
        let grain = tile.baseAddress.unsafelyUnwrapped + random.below(tile.count - wordsInRow)
        UnsafeMutableRawPointer(luma + row * lumaStride)
          .withMemoryRebound(to: UInt64.self, capacity: wordsInRow) { pixels in
            // No carry into a neighbouring pixel: an ink and the strongest grain stay below 256.
            var word = 0
            while word < wordsInRow {
              pixels[word] &+= grain[word]
              word += 1
            }
          }
      }
    }
  }

  // MARK: Encoding

  /// The picture as a baseline JPEG with halved chroma.
  func jpeg(quality: Int) -> [UInt8] {
    guard let compressor = tjInitCompress() else { preconditionFailure("tjInitCompress failed") }
    defer { tjDestroy(compressor) }
    var encoded: UnsafeMutablePointer<UInt8>?
    var count: UInt = 0
    let status = withPlanes { planes, strides in
      tjCompressFromYUVPlanes(
        compressor, planes, CInt(width), strides, CInt(height), CInt(TJSAMP_420.rawValue), &encoded,
        &count, CInt(quality), 0)
    }
    defer { tjFree(encoded) }
    precondition(status == 0, "JPEG: \(String(cString: tjGetErrorStr2(compressor)))")
    return Array(UnsafeBufferPointer(start: encoded, count: Int(count)))
  }

  /// The picture as rows of red, green and blue bytes without padding.
  func pixels() -> [UInt8] {
    guard let converter = tjInitDecompress() else {
      preconditionFailure("tjInitDecompress failed")
    }
    defer { tjDestroy(converter) }
    return [UInt8](unsafeUninitializedCapacity: width * height * 3) { buffer, count in
      let status = withPlanes { planes, strides in
        tjDecodeYUVPlanes(
          converter, planes, strides, CInt(TJSAMP_420.rawValue), buffer.baseAddress, CInt(width), 0,
          CInt(height), CInt(TJPF_RGB.rawValue), 0)
      }
      precondition(status == 0, "YUV: \(String(cString: tjGetErrorStr2(converter)))")
      count = width * height * 3
    }
  }

  // MARK: -

  private func withPlanes<Result>(
    _ body: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, UnsafePointer<CInt>) -> Result
  ) -> Result {
    var planes: [UnsafePointer<UInt8>?] = [
      UnsafePointer(luma), UnsafePointer(blueDifference), UnsafePointer(redDifference),
    ]
    let strides = [CInt(lumaStride), CInt(chromaStride), CInt(chromaStride)]
    return planes.withUnsafeMutableBufferPointer { planes in
      strides.withUnsafeBufferPointer { strides in
        body(planes.baseAddress.unsafelyUnwrapped, strides.baseAddress.unsafelyUnwrapped)
      }
    }
  }

  /// The row in memory at `y`, the nearest one for what lies outside.
  private func row(_ y: Double) -> Int {
    max(0, min(rowCount, Int(((y - top) * Double(width)).rounded())))
  }

  /// The pixel column at `x`, within the picture.
  private func column(_ x: Double) -> Int {
    max(0, min(width, Int((x * Double(width)).rounded())))
  }

  private func fillSpan(row: Int, from start: Int, to end: Int, with ink: PosterInk) {
    guard start < end else { return }
    let end = end == width ? lumaStride : end
    memset(luma + row * lumaStride + start, CInt(ink.luma), end - start)
    guard row & 1 == 0 else { return }
    let offset = row / 2 * chromaStride + start / 2
    let count = (end + 1) / 2 - start / 2
    memset(blueDifference + offset, CInt(ink.blueDifference), count)
    memset(redDifference + offset, CInt(ink.redDifference), count)
  }
}
