import TestSupport
import Testing

@testable import PosterCache

/// Files with random damage: an error or a picture of the announced size, and nothing else.
@Suite(.timeLimit(.minutes(5)))
struct MutatedPictureTests {
  @Test(arguments: ["jpeg", "progressive", "grey", "png", "alpha", "webp", "lossy", "animation"])
  func `random damage is an error or gives a picture`(kind: String) throws {
    var random = SeededGenerator()
    let (width, height) = (40, 30)
    let picture = SamplePicture(width: width, height: height, hasAlpha: kind == "alpha")
    let original =
      switch kind {
      case "jpeg": try picture.jpeg(quality: 70)
      case "progressive": try picture.jpeg(quality: 70, isProgressive: true)
      case "grey": try picture.jpeg(isGrey: true)
      case "png": try picture.png()
      case "alpha": try picture.png()
      case "webp": try picture.webp()
      case "lossy": try picture.webp(quality: 70)
      default:
        try FilePart.webp([
          FilePart.webpHeader(flags: 2, width: width, height: height),
          FilePart.webpChunk(
            "ANMF",
            [UInt8](repeating: 0, count: 6) + FilePart.littleEndian(width - 1, bytes: 3)
              + FilePart.littleEndian(height - 1, bytes: 3) + [0, 0, 0, 0]
              + picture.webp(quality: 70)[12...]),
        ])
      }
    var limits = DecodingLimits()
    limits.maximumPixels = 1 << 20
    limits.maximumMemory = ByteSize(bytes: 32 << 20)
    let decoder = ImageDecoder(limits: limits)
    var decodedCount = 0
    for _ in 0..<500 {
      let bytes = mutated(original, using: &random)
      let rendition = Self.renditions.randomElement(using: &random) ?? asStored
      let body = PosterBody(copying: bytes)
      do throws(PosterError) {
        let image = try decoder.decode(
          body, as: rendition, allowingIncomplete: .random(using: &random))
        let header = try decoder.header(of: body)
        #expect(image.fullSize == header.size, "seed \(random.seed)")
        #expect(image.bitmap.size == rendition.size(of: header.size), "seed \(random.seed)")
        #expect(image.bitmap.byteCount == image.bitmap.size.pixels * 4)
        decodedCount += 1
      } catch {
        let expected: [PosterError.Code] = [
          .damagedImage, .notAnImage, .imageTooLarge, .unsupportedImage,
        ]
        #expect(expected.contains(error.code), "\(error), seed \(random.seed)")
      }
    }
    #expect(decodedCount > 0, "seed \(random.seed)")
  }

  private static let renditions = [
    asStored, Rendition(.full), Rendition(.fitting(PixelSize(width: 10, height: 10))),
    Rendition(.filling(PixelSize(width: 7, height: 3)), alpha: .straight),
    Rendition(.fitting(PixelSize(width: 90, height: 90)), mayEnlarge: true),
  ]

  /// Some bytes changed, inserted, removed or repeated, or the end cut off.
  private func mutated(_ original: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
    var bytes = original
    for _ in 0...Int.random(in: 0..<4, using: &random) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      let end = min(place + Int.random(in: 1...16, using: &random), bytes.count)
      switch Int.random(in: 0..<8, using: &random) {
      case 0: bytes.removeSubrange(place..<end)
      case 1: bytes.insert(contentsOf: bytes[place..<end], at: place)
      case 2: bytes.removeSubrange(place...)
      case 3: bytes[place] = [0, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
      case 4: bytes[place] = .random(in: 0...255, using: &random)
      default: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
    }
    return bytes
  }
}
