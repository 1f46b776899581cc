import CZlib
import Testing

@testable import PosterCache

/// `bytes` in gzip.
func gzipped(_ bytes: [UInt8]) -> [UInt8] {
  var stream = z_stream()
  let version = ZLIB_VERSION
  var code = deflateInit2_(
    &stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY, version,
    CInt(MemoryLayout<z_stream>.size))
  precondition(code == Z_OK, "deflateInit2 failed with \(code)")
  defer { deflateEnd(&stream) }
  var input = bytes
  var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, uLong(bytes.count))))
  input.withUnsafeMutableBufferPointer { input in
    output.withUnsafeMutableBufferPointer { output in
      stream.next_in = input.baseAddress
      stream.avail_in = uInt(input.count)
      stream.next_out = output.baseAddress
      stream.avail_out = uInt(output.count)
      code = deflate(&stream, Z_FINISH)
    }
  }
  precondition(code == Z_STREAM_END, "deflate failed with \(code)")
  return Array(output.prefix(Int(stream.total_out)))
}

/// Unwrapping alone.
@Suite(.timeLimit(.minutes(1)))
struct GzipTests {
  private func unwrap(_ bytes: [UInt8], limit: Int = 1 << 20) -> Result<[UInt8], Gzip.Failure> {
    bytes.withUnsafeBytes { bytes in
      Result { () throws(Gzip.Failure) in try Gzip.unwrap(bytes, limit: limit).bytes }
    }
  }

  @Test(arguments: [0, 1, 100, 65_535, 65_536, 65_537, 300_000])
  func `what was wrapped comes out`(count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    #expect(unwrap(gzipped(bytes)) == .success(bytes))
  }

  @Test func `members follow each other, and what is no member does not count`() {
    let two = gzipped([1, 2, 3]) + gzipped([]) + gzipped([4, 5])
    #expect(unwrap(two) == .success([1, 2, 3, 4, 5]))
    #expect(unwrap(two + [0, 0, 0]) == .success([1, 2, 3, 4, 5]))
    #expect(unwrap(two + [0x1F]) == .success([1, 2, 3, 4, 5]))
    #expect(unwrap(two + [0x1F, 0x8B]) == .failure(.damaged))
  }

  @Test func `every beginning but the whole is damaged`() {
    let whole = gzipped(Array("a picture, more or less".utf8))
    for count in 2..<whole.count {
      #expect(unwrap(Array(whole[..<count])) == .failure(.damaged), "\(count)")
    }
  }

  @Test func `a wrong checksum or length is damage`() {
    let whole = gzipped([UInt8](repeating: 7, count: 1000))
    for index in whole.count - 8..<whole.count {
      var bytes = whole
      bytes[index] ^= 1
      #expect(unwrap(bytes) == .failure(.damaged), "\(index)")
    }
  }

  @Test func `more than the limit is not unpacked`() {
    let bomb = gzipped([UInt8](repeating: 0, count: 10_000_000))
    #expect(bomb.count < 20_000)
    #expect(unwrap(bomb, limit: 1_000_000) == .failure(.tooLarge))
    #expect(unwrap(bomb, limit: 9_999_999) == .failure(.tooLarge))
    #expect((try? unwrap(bomb, limit: 10_000_000).get().count) == 10_000_000)
  }
}
