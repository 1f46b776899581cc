/// Bytes that stay where they are, so that libmicrohttpd can send them without a copy.
///
/// Immutable and shared by reference; freed with the last reference.
final class StableBytes: Sendable {
  /// The number of bytes.
  let count: Int
  /// Where they begin.
  private nonisolated(unsafe) let start: UnsafeMutableRawPointer  // written in `init` only

  /// A copy of `bytes`.
  init(_ bytes: some Collection<UInt8>) {
    count = bytes.count
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 1), alignment: 16)
    buffer.copyBytes(from: bytes)
    // The buffer has at least one byte, so it has an address.
    start = buffer.baseAddress!
  }

  /// The UTF-8 bytes of `text`.
  convenience init(_ text: String) {
    self.init(Array(text.utf8))
  }

  deinit {
    start.deallocate()
  }

  /// The bytes at `range`, valid as long as this object lives.
  func pointer(to range: Range<Int>) -> UnsafeMutableRawBufferPointer {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "\(range) of \(count) bytes")
    return UnsafeMutableRawBufferPointer(start: start + range.lowerBound, count: range.count)
  }
}
