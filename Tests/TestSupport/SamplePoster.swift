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
    var body: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0]
    body.reserveCapacity(bytes + 8)
    while body.count < bytes {
      withUnsafeBytes(of: generator.next()) { body.append(contentsOf: $0) }
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
