import CCodecs

extension Bitmap {
  /// The picture as a PNG file of 8 bits a channel: RGB if it is opaque, else RGBA with straight alpha, as
  /// PNG demands. The same pixels always give the same bytes; only what of a colour premultiplication
  /// has left can be written.
  ///
  /// Blocks the calling thread while it compresses.
  ///
  /// - Throws: ``PosterError/Code/imageTooLarge`` for a picture that libpng does not write or that
  ///   memory does not suffice for.
  public func png() throws(PosterError) -> [UInt8] {
    var message = postercache_codec_message()
    let channels = isOpaque ? 3 : 4
    guard
      let writer = postercache_png_writer_open(
        UInt32(size.width), UInt32(size.height), Int32(channels), &message)
    else { throw PosterError(POSTERCACHE_CODEC_TOO_LARGE, message, what: "PNG") }
    defer { postercache_png_writer_close(writer) }

    var row = [UInt8](repeating: 0, count: size.width * channels)
    try withUnsafeBytes { (pixels) throws(PosterError) in
      for y in 0..<size.height {
        let stored = UnsafeRawBufferPointer(
          rebasing: pixels[y * bytesPerRow..<(y + 1) * bytesPerRow])
        if isOpaque {
          for x in 0..<size.width {
            for channel in 0..<3 { row[x * 3 + channel] = stored[x * 4 + channel] }
          }
        } else {
          row.withUnsafeMutableBytes { $0.copyMemory(from: stored) }
          if alpha == .premultiplied { AlphaMultiplication.undo(in: &row) }
        }
        let status = postercache_png_writer_append(writer, row, &message)
        guard status == POSTERCACHE_CODEC_OK else {
          throw PosterError(status, message, what: "PNG")
        }
      }
    }

    var bytes: UnsafePointer<UInt8>?
    var count = 0
    let status = postercache_png_writer_finish(writer, &bytes, &count, &message)
    guard status == POSTERCACHE_CODEC_OK else { throw PosterError(status, message, what: "PNG") }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }
}
