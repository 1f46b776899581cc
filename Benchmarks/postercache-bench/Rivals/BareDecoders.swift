import CPNG
import CTurboJPEG
import CWebP
import Glibc

/// The codecs' own libraries in a loop: what no decoder can be quicker than. Pixels are RGBA8, in one buffer
/// that is used over and over; nothing is checked but that the library is content.
final class BareDecoders {
  private let pixels: UnsafeMutablePointer<UInt8>
  private let copy: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  private let jpeg: tjhandle
  private var rows: [png_bytep?] = []

  /// - Parameter capacity: bytes of the largest picture's pixels.
  init(capacity: Int) throws(BenchError) {
    guard let jpeg = tjInitDecompress() else { throw BenchError("tjInitDecompress failed") }
    self.jpeg = jpeg
    self.capacity = capacity
    pixels = .allocate(capacity: capacity)
    copy = .allocate(capacity: capacity)
    // Pages that have been written to are the process' own.
    pixels.initialize(repeating: 0, count: capacity)
    copy.initialize(repeating: 0, count: capacity)
  }

  deinit {
    tjDestroy(jpeg)
    pixels.deallocate()
    copy.deallocate()
  }

  /// Copies so many bytes from one buffer into another: what moving pixels takes.
  func copyPixels(_ count: Int) {
    memcpy(copy, pixels, min(count, capacity))
  }

  /// As `tjbench` does, with libjpeg-turbo's defaults.
  ///
  /// - Parameter isHalved: whether to decode at half the width and height.
  func decodeJPEG(_ bytes: [UInt8], isHalved: Bool = false) throws(BenchError) {
    var (width, height, subsampling, colors): (CInt, CInt, CInt, CInt) = (0, 0, 0, 0)
    guard
      tjDecompressHeader3(
        jpeg, bytes, UInt(bytes.count), &width, &height, &subsampling, &colors) == 0,
      Int(width) * Int(height) * 4 <= capacity
    else { throw BenchError("libjpeg-turbo: \(String(cString: tjGetErrorStr2(jpeg)))") }
    if isHalved { (width, height) = ((width + 1) / 2, (height + 1) / 2) }
    guard
      tjDecompress2(
        jpeg, bytes, UInt(bytes.count), pixels, width, 0, height, Int32(TJPF_RGBA.rawValue), 0) == 0
    else { throw BenchError("libjpeg-turbo: \(String(cString: tjGetErrorStr2(jpeg)))") }
  }

  /// The classic API, with the transforms that make RGBA8 of anything. An error ends the process, as libpng
  /// does where nobody has asked for another way out.
  func decodePNG(_ bytes: [UInt8]) throws {
    var png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nil, nil, nil)
    var info = png_create_info_struct(png)
    defer { png_destroy_read_struct(&png, &info, nil) }
    try bytes.withUnsafeBytes { bytes in
      var rest = bytes
      try withUnsafeMutablePointer(to: &rest) { rest in
        png_set_read_fn(png, rest) { png, destination, count in
          guard let destination, let pointer = png_get_io_ptr(png) else { return }
          let rest = pointer.assumingMemoryBound(to: UnsafeRawBufferPointer.self)
          guard let start = rest.pointee.baseAddress, count <= rest.pointee.count else {
            png_error(png, "it ends too early")
          }
          memcpy(destination, start, count)
          rest.pointee = UnsafeRawBufferPointer(rebasing: rest.pointee[count...])
        }
        png_read_info(png, info)
        png_set_expand(png)
        png_set_strip_16(png)
        png_set_gray_to_rgb(png)
        png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER)
        png_read_update_info(png, info)
        let rowBytes = png_get_rowbytes(png, info)
        let height = Int(png_get_image_height(png, info))
        guard rowBytes * height <= capacity else { throw BenchError("a PNG is too large") }
        rows.removeAll(keepingCapacity: true)
        for row in 0..<height { rows.append(pixels + row * rowBytes) }
        png_read_image(png, &rows)
        png_read_end(png, nil)
      }
    }
  }

  /// `WebPDecodeRGBAInto`.
  func decodeWebP(_ bytes: [UInt8]) throws(BenchError) {
    var (width, height): (CInt, CInt) = (0, 0)
    guard WebPGetInfo(bytes, bytes.count, &width, &height) != 0,
      WebPDecodeRGBAInto(bytes, bytes.count, pixels, capacity, width * 4) != nil
    else { throw BenchError("libwebp cannot decode a picture") }
  }
}
