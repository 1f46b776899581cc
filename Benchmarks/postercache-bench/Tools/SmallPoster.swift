import FoundationEssentials
import PosterCache

/// Posters as small as a record can be, one block each, known by their numbers.
enum SmallPoster {
  /// The address of poster `number`.
  static func request(_ number: Int) throws(PosterError) -> PosterRequest {
    try PosterRequest("http://demo.test/t/p/w92/\(number).jpg")
  }

  /// Poster `number` with a body of `bytes` that begins like a JPEG.
  static func make(_ number: Int, bytes: Int = 64) throws(PosterError) -> StoredPoster {
    var body = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes)
    body.replaceSubrange(0..<4, with: [0xFF, 0xD8, 0xFF, 0xE0])
    let now = PosterClock.system.now()
    return StoredPoster(
      metadata: PosterMetadata(
        address: try request(number).address, type: .jpeg, etag: "\"5f3e1c2a-b4d1\"",
        lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", storedAt: now, expiresAt: now + 31_536_000),
      body: PosterBody(copying: body))
  }
}
