import FoundationEssentials
import PosterCache

/// Posters made for tests: real signatures, and bytes that differ for every number and version.
public enum SamplePoster {
  /// The address of poster `number`.
  public static func request(_ number: Int) -> PosterRequest {
    // Text made here, which parses.
    try! PosterRequest("http://images.test/t/p/w342/poster\(number).jpg")
  }

  /// Poster `number` with a body of `bytes` (at least 4) that begins like a JPEG.
  public static func make(_ number: Int, bytes: Int = 2000, version: Int = 0) -> StoredPoster {
    var generator = SeededGenerator(seed: UInt64(number) << 20 | UInt64(version))
    // Random to the first 4 KiB; then, as drawing millions of numbers takes long in debug builds, what
    // grows from the last of them by an odd number, which no two words have in common either.
    let randomWords = 512
    let wordCount = max(0, bytes - 4 + 7) / 8
    let words = [UInt64](unsafeUninitializedCapacity: wordCount) { buffer, count in
      count = wordCount
      guard let start = buffer.baseAddress else { return }
      var word: UInt64 = 0
      var index = 0
      // A loop over a range, or a checked subscript, takes several times as long in debug builds.
      while index < wordCount {
        word = index < randomWords ? generator.next() : word &+ 0x9E37_79B9_7F4A_7C15
        start[index] = word
        index += 1
      }
    }
    let body = [UInt8](unsafeUninitializedCapacity: 4 + 8 * wordCount) { buffer, count in
      count = buffer.count
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      bytes.copyBytes(from: [0xFF, 0xD8, 0xFF, 0xE0])
      words.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: bytes[4...]).copyMemory(from: $0)
      }
    }
    return StoredPoster(
      metadata: PosterMetadata(
        address: request(number).address, type: .jpeg, etag: "\"\(number)-\(version)\"",
        lastModified: "Mon, 06 Jul 2026 10:00:00 GMT",
        storedAt: Date(timeIntervalSince1970: 1_800_000_000),
        expiresAt: Date(timeIntervalSince1970: 1_800_600_000)),
      body: PosterBody(copying: body.prefix(bytes)))
  }
}
