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
    let body = [UInt8](unsafeUninitializedCapacity: 4 + 8 * wordCount) { buffer, count in
      count = buffer.count
      UnsafeMutableRawBufferPointer(buffer).copyBytes(from: [0xFF, 0xD8, 0xFF, 0xE0])
      guard let start = buffer.baseAddress.map(UnsafeMutableRawPointer.init) else { return }
      var word: UInt64 = 0
      for index in 0..<wordCount {
        word = index < randomWords ? generator.next() : word &+ 0x9E37_79B9_7F4A_7C15
        start.storeBytes(of: word, toByteOffset: 4 + 8 * index, as: UInt64.self)
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
