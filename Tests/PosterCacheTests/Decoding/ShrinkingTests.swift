import FoundationEssentials
import PosterServer
import TestSupport
import Testing

@testable import PosterCache

/// The whole way from a file to fewer pixels, against the best reduction of the whole picture.
@Suite(.timeLimit(.minutes(5)))
struct ShrinkingTests {
  private static let widths = [40, 92, 154, 185, 300]

  @Test(arguments: widths)
  func `a poster shrinks as well as from full size`(_ width: Int) throws {
    let file = DemoPoster.encode(name: "shrinking.jpg", size: .w500)
    let difference = try Self.difference(file, width: width)
    #expect(difference <= 2)
  }

  @Test(arguments: widths)
  func `photographs shrink as well as from full size, through any fraction of a JPEG`(
    _ width: Int
  ) throws {
    guard let directory = Corpus.directory else { return }
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(directory)/posters")
      .filter { $0.hasSuffix(".jpg") }.sorted()
    // Each poster at one width, and all of them within five runs of the benchmark `decode`.
    for (number, name) in names.enumerated() where Self.widths[number % 5] == width {
      let difference = try Self.difference(try Corpus.bytes("posters/\(name)"), width: width)
      #expect(difference <= 2, "\(name) to \(width)")
    }
  }

  @Test func `a large WebP shrinks to a single pixel of its colour`() throws {
    // So large that sums of whole columns of rows exceed what libwebp's scaler counts with.
    let file = FilePart.plainWebP(width: 12_000, height: 3_000, [200, 100, 50, 255])
    let pixel = try decoded(
      file, as: Rendition(.fitting(PixelSize(width: 1, height: 1)))
    ).bitmap
    #expect(pixel.size == PixelSize(width: 1, height: 1))
    // libwebp's scaler divides with 32 bits: by some 0.4% too little at most here.
    #expect(
      zip(pixel.bytes, [200, 100, 50, 255]).allSatisfy { abs(Int($0) - $1) <= 1 },
      "\(pixel.bytes)")
  }

  /// The mean difference from what ``LanczosReference`` makes of the picture at full size.
  private static func difference(_ file: some Collection<UInt8>, width: Int) throws -> Double {
    let whole = try decoded(file).bitmap
    let box = PixelSize(width: width, height: PixelSize.maximumSide)
    let shrunk = try decoded(file, as: Rendition(.fitting(box))).bitmap
    let reference = LanczosReference(whole.bytes, whole.size, to: shrunk.size)
    return shrunk.difference(
      to: Bitmap(shrunk.size, alpha: .premultiplied, isOpaque: true) {
        $0.copyBytes(from: reference.pixels)
      })
  }
}
