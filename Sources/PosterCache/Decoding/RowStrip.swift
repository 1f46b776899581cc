import Glibc

/// Some rows of RGBA8, one below the other: what is read before it is shrunk.
struct RowStrip: ~Copyable {
  /// How many rows are read at once of a picture that comes row by row: enough for the calls not to
  /// count, few enough to stay in the processor's cache.
  static let height = 16

  /// Where the first row begins.
  let start: UnsafeMutableRawPointer
  /// The number of rows.
  let height: Int
  private let bytesPerRow: Int

  /// A strip of pixels that are 0.
  init(width: Int, height: Int) {
    bytesPerRow = width * 4
    self.height = height
    guard let start = calloc(height, bytesPerRow) else {
      fatalError("no memory for \(height) rows of \(bytesPerRow) bytes")
    }
    self.start = start
  }

  deinit { free(start) }

  /// The pixels of a row.
  func row(_ index: Int) -> UnsafePointer<UInt8> {
    let row = start + index * bytesPerRow
    return UnsafePointer(row.assumingMemoryBound(to: UInt8.self))
  }

  /// Sets the rows from `first` on to 0.
  func clear(from first: Int) {
    guard first < height else { return }
    memset(start + first * bytesPerRow, 0, (height - first) * bytesPerRow)
  }
}
