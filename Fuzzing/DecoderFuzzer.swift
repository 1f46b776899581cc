import PosterCache

/// What libFuzzer calls with each input. The input is a picture of the kind that this program is for; its
/// last byte, which means little to a decoder, also says how the picture is wanted.
///
/// Whatever the input, there is an error or a picture of the announced size; all else traps.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = UnsafeBufferPointer(start: bytes, count: count)
  guard let choice = input.last else { return 0 }
  var limits = DecodingLimits()
  // Small enough for some thousand inputs a second.
  limits.maximumPixels = 1 << 18
  limits.maximumMemory = ByteSize(bytes: 16 << 20)
  let decoder = ImageDecoder(limits: limits)
  var picture = Array(input)
  for (offset, byte) in signature where offset < picture.count { picture[offset] = byte }
  let body = PosterBody(copying: picture)
  let rendition = renditions[Int(choice) % renditions.count]
  do throws(PosterError) {
    let image = try decoder.decode(body, as: rendition, allowingIncomplete: choice >= 128)
    let header = try decoder.header(of: body)
    precondition(image.fullSize == header.size, "\(image.fullSize) is not \(header.size)")
    let size = rendition.size(of: header.size)
    precondition(image.bitmap.size == size, "\(image.bitmap.size) is not \(size)")
    _ = try image.bitmap.png()
  } catch {
    switch error.code {
    case .damagedImage, .notAnImage, .imageTooLarge, .unsupportedImage: break
    default: fatalError("\(error)")
    }
  }
  return 0
}

/// The bytes that make a file one of this kind.
#if FUZZ_JPEG
  private let signature: [(Int, UInt8)] = [(0, 0xFF), (1, 0xD8), (2, 0xFF)]
#elseif FUZZ_PNG
  private let signature: [(Int, UInt8)] = Array(
    zip(0..., [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
#elseif FUZZ_WEBP
  private let signature: [(Int, UInt8)] =
    Array(zip(0..., "RIFF".utf8)) + Array(zip(8..., "WEBP".utf8))
#endif

private let renditions = [
  Rendition(.full), Rendition(.full, alpha: .straight),
  Rendition(.fitting(PixelSize(width: 10, height: 10))),
  Rendition(.fitting(PixelSize(width: 1, height: 1)), alpha: .straight),
  Rendition(.filling(PixelSize(width: 7, height: 30))),
  Rendition(.fitting(PixelSize(width: 100, height: 80)), alpha: .straight, mayEnlarge: true),
]
