import PosterCache
import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(1)))
struct ContactSheetTests {
  private let cell = PixelSize(width: 6, height: 4)

  private func bitmap(
    _ width: Int, _ height: Int, _ pixel: [UInt8], isOpaque: Bool = true
  ) -> Bitmap {
    Bitmap(
      PixelSize(width: width, height: height), alpha: .premultiplied, isOpaque: isOpaque
    ) { bytes in
      for index in bytes.indices { bytes[index] = pixel[index % 4] }
    }
  }

  private func pixel(_ sheet: ContactSheet, _ x: Int, _ y: Int) -> [UInt8] {
    let bitmap = sheet.bitmap
    return bitmap.withUnsafeBytes {
      Array($0[(y * bitmap.size.width + x) * 4..<(y * bitmap.size.width + x) * 4 + 4])
    }
  }

  @Test(arguments: [
    (1, 10, 1, 1, 22, 20), (3, 10, 3, 1, 50, 20), (10, 10, 10, 1, 148, 20),
    (11, 10, 10, 2, 148, 32),
    (7, 3, 3, 3, 50, 44), (5, 1, 1, 5, 22, 68),
  ])
  func `cells stand in rows`(
    count: Int, asked: Int, columns: Int, rows: Int, width: Int, height: Int
  ) {
    let layout = ContactSheet.Layout(count: count, columns: asked, cell: cell)
    #expect((layout.columns, layout.rows) == (columns, rows))
    #expect((layout.width, layout.height) == (width, height))
    let last = layout.origin(of: count - 1)
    #expect(last == (8 + (count - 1) % columns * 14, 8 + (count - 1) / columns * 12))
  }

  @Test func `a picture stands in the middle of its cell`() {
    let layout = ContactSheet.Layout(count: 2, columns: 2, cell: cell)
    var sheet = ContactSheet(layout)
    sheet.draw(bitmap(2, 4, [200, 100, 50, 255]), at: 1)
    // The second cell begins at 8 + 14; two columns of its six, the third and the fourth, are drawn.
    for y in 0..<layout.height {
      for x in 0..<layout.width {
        let isDrawn = (24..<26).contains(x) && (8..<12).contains(y)
        #expect(pixel(sheet, x, y) == (isDrawn ? [200, 100, 50, 255] : [24, 24, 28, 255]))
      }
    }
  }

  @Test func `what is translucent lets the background through`() {
    var sheet = ContactSheet(ContactSheet.Layout(count: 1, columns: 1, cell: cell))
    sheet.draw(bitmap(6, 4, [100, 50, 0, 128], isOpaque: false), at: 0)
    // 24 * 127 / 255 = 11.95, 28 * 127 / 255 = 13.9
    #expect(pixel(sheet, 8, 8) == [112, 62, 14, 255])
    sheet.draw(bitmap(6, 4, [0, 0, 0, 0], isOpaque: false), at: 0)
    #expect(pixel(sheet, 13, 11) == [112, 62, 14, 255])
  }

  @Test func `a missing picture is a crossed-out cell`() {
    let layout = ContactSheet.Layout(
      count: 1, columns: 1, cell: PixelSize(width: 20, height: 30))
    var sheet = ContactSheet(layout)
    sheet.drawMissing(at: 0)
    let (box, cross, outside): ([UInt8], [UInt8], [UInt8]) = (
      [48, 48, 54, 255], [104, 104, 112, 255], [24, 24, 28, 255]
    )
    #expect(pixel(sheet, 7, 8) == outside && pixel(sheet, 28, 38) == outside)
    for corner in [(8, 8), (27, 8), (8, 37), (27, 37)] {
      #expect(pixel(sheet, corner.0, corner.1) == cross)
    }
    #expect(pixel(sheet, 18, 8) == box && pixel(sheet, 8, 23) == box)
    // The two lines meet in the middle.
    #expect(pixel(sheet, 17, 22) == cross)
  }
}
