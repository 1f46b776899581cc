import Testing

@testable import PosterCache

/// Pictures of which a part is missing.
@Suite(.timeLimit(.minutes(3)))
struct IncompletePictureTests {
  private let picture = SamplePicture(width: 120, height: 160).noisy

  @Test func `half a picture is an error unless it was asked for`() throws {
    for (bytes, type) in [
      (try picture.jpeg(), ImageType.jpeg), (try picture.png(), .png),
      (try picture.webp(quality: 90), .webp), (try picture.webp(), .webp),
    ] {
      let half = Array(bytes.prefix(bytes.count / 2))
      #expect(failure(half) == .damagedImage)
      #expect(
        failure(half, as: Rendition(.fitting(PixelSize(width: 30, height: 30)))) == .damagedImage)
      let image = try decoded(half, allowingIncomplete: true)
      #expect(!image.isComplete)
      #expect(image.type == type)
      #expect(image.bitmap.size == PixelSize(width: 120, height: 160))
      let whole = try decoded(bytes, allowingIncomplete: true)
      #expect(whole.isComplete)
      // The first rows are there; what is missing is transparent, but in JPEGs, which have none.
      #expect(image.bitmap.pixel(60, 2) == whole.bitmap.pixel(60, 2))
      #expect(image.bitmap.pixel(60, 159)[3] == (type == .jpeg ? 255 : 0))
      #expect(image.bitmap.isOpaque == (type == .jpeg))
    }
  }

  @Test func `half a picture can be shrunk`() throws {
    let rendition = Rendition(.fitting(PixelSize(width: 30, height: 40)), alpha: .straight)
    for bytes in [try picture.jpeg(), try picture.png(), try picture.webp()] {
      let image = try decoded(
        Array(bytes.prefix(bytes.count / 2)), as: rendition, allowingIncomplete: true)
      #expect(!image.isComplete)
      #expect(image.bitmap.size == PixelSize(width: 30, height: 40))
      let whole = try decoded(bytes, as: rendition)
      #expect(abs(Int(image.bitmap.pixel(15, 1)[0]) - Int(whole.bitmap.pixel(15, 1)[0])) < 4)
    }
  }

  /// What decides is whether every pixel is there.
  @Test func `an end that holds no pixels may be missing`() throws {
    let jpeg = try picture.jpeg()
    #expect(try decoded(jpeg.dropLast(2)).isComplete)
    #expect(try decoded(picture.jpeg(isProgressive: true).dropLast(2)).isComplete)
    let png = try picture.png()
    #expect(try decoded(png.dropLast(12)).isComplete)
    let withComment = FilePart.webp([
      FilePart.webpHeader(flags: 0, width: 120, height: 160),
      Array(try picture.webp()[12...]),
      FilePart.webpChunk("XMP ", [UInt8](repeating: 32, count: 99)),
    ])
    #expect(try decoded(withComment.dropLast(50)).isComplete)
  }

  @Test func `a progressive JPEG that lacks its last scan is incomplete`() throws {
    let bytes = try picture.jpeg(isProgressive: true)
    let scans = bytes.indices.dropLast().filter { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA }
    let last = try #require(scans.last)
    #expect(scans.count > 3)
    let cut = Array(bytes[..<last])
    #expect(failure(cut) == .damagedImage)
    #expect(try !decoded(cut, allowingIncomplete: true).isComplete)
    // With an end marker its scans are what its maker wanted.
    #expect(try decoded(cut + [0xFF, 0xD9]).isComplete)
  }

  @Test(arguments: ["jpeg", "progressive", "png", "webp", "lossy"])
  func `every beginning is an error or a picture that says what it is`(kind: String) throws {
    let picture = SamplePicture(width: 24, height: 20)
    let bytes =
      switch kind {
      case "jpeg": try picture.jpeg()
      case "progressive": try picture.jpeg(isProgressive: true)
      case "png": try picture.png()
      case "webp": try picture.webp()
      default: try picture.webp(quality: 80)
      }
    let whole = try decoded(bytes).bitmap.bytes
    for count in 0..<bytes.count {
      let cut = Array(bytes.prefix(count))
      if failure(cut) == nil {
        let isSame = try decoded(cut).bitmap.bytes == whole
        #expect(isSame, "\(kind), \(count) of \(bytes.count)")
      }
      guard failure(cut, allowingIncomplete: true) == nil else { continue }
      let image = try decoded(cut, allowingIncomplete: true)
      #expect(image.bitmap.size == PixelSize(width: 24, height: 20))
      let isSame = image.bitmap.bytes == whole
      if image.isComplete { #expect(isSame, "\(kind), \(count) of \(bytes.count)") }
    }
  }

  @Test func `a damaged checksum fails a PNG`() throws {
    let bytes = try picture.png()
    let names = bytes.indices.dropLast(4).filter { bytes[$0..<$0 + 4].elementsEqual("IDAT".utf8) }
    let first = try #require(names.first)
    var damaged = bytes
    damaged[first + 200] ^= 1
    #expect(failure(damaged) == .damagedImage)
    var header = bytes
    header[29] ^= 1
    #expect(failure(header) == .damagedImage)
    #expect(failure(header, allowingIncomplete: true) == .damagedImage)
  }

  @Test func `a restart marker that is missing is damage`() throws {
    var bytes = try picture.jpeg()
    // In the middle of the pixels.
    bytes.replaceSubrange(bytes.count / 2..<bytes.count / 2 + 2, with: [0xFF, 0xD3])
    #expect(failure(bytes) == .damagedImage)
    #expect(try !decoded(bytes, allowingIncomplete: true).isComplete)
  }
}
