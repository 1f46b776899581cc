import CPNG
import CTurboJPEG
import Testing

/// A picture decoded by the reference libraries: red, green and blue bytes.
struct DecodedPicture {
  let width: Int
  let height: Int
  let pixels: [UInt8]

  /// - Parameter jpeg: must be a JPEG without an error.
  init(jpeg: [UInt8]) throws {
    let decoder = try #require(tjInitDecompress())
    defer { tjDestroy(decoder) }
    var (width, height, sampling, space): (CInt, CInt, CInt, CInt) = (0, 0, 0, 0)
    try #require(
      tjDecompressHeader3(
        decoder, jpeg, UInt(jpeg.count), &width, &height, &sampling, &space) == 0)
    var pixels = [UInt8](repeating: 0, count: Int(width * height) * 3)
    try #require(
      tjDecompress2(
        decoder, jpeg, UInt(jpeg.count), &pixels, width, 0, height, CInt(TJPF_RGB.rawValue),
        CInt(TJFLAG_STOPONWARNING)) == 0)
    self.width = Int(width)
    self.height = Int(height)
    self.pixels = pixels
  }

  /// - Parameter png: must be a PNG without an error.
  init(png: [UInt8]) throws {
    var image = png_image()
    image.version = png_uint_32(PNG_IMAGE_VERSION)
    defer { png_image_free(&image) }
    var pixels: [UInt8] = []
    // The bytes are read until the last pixel is there.
    try png.withUnsafeBytes { bytes in
      try #require(
        png_image_begin_read_from_memory(&image, bytes.baseAddress, bytes.count) != 0)
      image.format = png_uint_32(PNG_FORMAT_FLAG_COLOR)
      pixels = [UInt8](repeating: 0, count: Int(image.width * image.height) * 3)
      try #require(png_image_finish_read(&image, nil, &pixels, 0, nil) != 0)
    }
    try #require(image.warning_or_error == 0)
    width = Int(image.width)
    height = Int(image.height)
    self.pixels = pixels
  }

  /// The mean difference to `other`, a picture of the same size, in steps of 0 to 255.
  func difference(to other: DecodedPicture) -> Double {
    let sum = zip(pixels, other.pixels).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
    return Double(sum) / Double(pixels.count)
  }
}
