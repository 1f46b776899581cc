extension Bitmap {
  /// This picture turned upright, where `orientation` says how it lies (TIFF 6.0, tag 274: where the
  /// stored first row and first column are): 1 as it is, 2 mirrored, 3 upside down, 4 both, 5 to 8 with
  /// rows as columns.
  func upright(from orientation: Int) -> Bitmap {
    guard orientation != 1 else { return self }
    let isTransposed = orientation >= 5
    let upright = isTransposed ? size.transposed : size
    // For each pixel of the result: whether the stored column and row are counted from the far end.
    let mirrorsColumns = [2, 3, 7, 8].contains(orientation)
    let mirrorsRows = [3, 4, 6, 7].contains(orientation)
    let (width, height) = (size.width, size.height)
    return withUnsafeBytes { source in
      let stored = source.bindMemory(to: UInt32.self)
      return Bitmap(upright, alpha: alpha, isOpaque: isOpaque) { destination in
        let pixels = destination.bindMemory(to: UInt32.self)
        guard isTransposed else {
          for y in 0..<height {
            let row = (mirrorsRows ? height - 1 - y : y) * width
            if mirrorsColumns {
              for x in 0..<width { pixels[y * width + x] = stored[row + width - 1 - x] }
            } else {
              for x in 0..<width { pixels[y * width + x] = stored[row + x] }
            }
          }
          return
        }
        // In blocks: a column of the stored picture has each pixel in another cache line.
        let block = 16
        for firstRow in stride(from: 0, to: height, by: block) {
          for firstColumn in stride(from: 0, to: width, by: block) {
            for row in firstRow..<min(firstRow + block, height) {
              let x = mirrorsRows ? height - 1 - row : row
              for column in firstColumn..<min(firstColumn + block, width) {
                let y = mirrorsColumns ? width - 1 - column : column
                pixels[y * height + x] = stored[row * width + column]
              }
            }
          }
        }
      }
    }
  }
}
