import CZlib

/// Unwraps gzip (RFC 1952): some servers send pictures in it, announced as a `Content-Encoding` that
/// nobody asked for, or not announced at all.
enum Gzip {
  /// Why nothing can be unwrapped.
  enum Failure: Error, Hashable {
    /// The data ends too soon, or its checksum or its structure is wrong.
    case damaged
    /// There is more inside than allowed.
    case tooLarge
  }

  /// Whether `bytes` begin like gzip, which no picture does.
  static func isWrapped(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.count >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B
  }

  /// What is inside `bytes`: that of all members, one after the other (section 2.2). What follows the
  /// last member without being one is ignored, as it is behind a picture's end.
  ///
  /// Memory grows with what really comes out, up to `limit` bytes.
  static func unwrap(
    _ bytes: UnsafeRawBufferPointer, limit: Int
  ) throws(Failure) -> PosterBody {
    var stream = z_stream()
    let code = postercache_gunzip_init(&stream)
    precondition(code == Z_OK, "inflateInit2 failed with \(code)")  // for want of memory only
    defer { inflateEnd(&stream) }
    var builder = PosterBody.Builder(announced: 0)
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { chunk.deallocate() }
    // zlib does not write to its input. A body has at most 1 GiB, which a `uInt` holds.
    stream.next_in = UnsafeMutablePointer(
      mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.avail_in = uInt(bytes.count)
    while true {
      stream.next_out = chunk.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.avail_out = uInt(chunk.count)
      let code = inflate(&stream, Z_NO_FLUSH)
      guard code == Z_OK || code == Z_STREAM_END else { throw .damaged }
      let produced = chunk.count - Int(stream.avail_out)
      guard produced <= limit - builder.count else { throw .tooLarge }
      builder.append(UnsafeRawBufferPointer(rebasing: chunk[..<produced]))
      guard code == Z_STREAM_END else { continue }
      let rest = UnsafeRawBufferPointer(rebasing: bytes.suffix(Int(stream.avail_in)))
      guard isWrapped(rest) else { return builder.finish() }
      let resetCode = inflateReset(&stream)
      precondition(resetCode == Z_OK, "inflateReset failed with \(resetCode)")  // it is valid
    }
  }
}
