import FoundationEssentials
import Glibc
import PosterCache

/// Posters whose bytes anybody can compute again from their number and the version that their `ETag`
/// holds, so that several processes can write them and any of them can tell what is right.
public enum TorturePoster {
  /// Numbers from here on have small posters of one or two blocks, below they vary from 2 KB to
  /// 1.6 MB.
  public static let smallNumbers = 1_000_000
  /// Numbers from here on have posters of one block.
  public static let tinyNumbers = 2_000_000
  /// The largest record that there is, in bytes.
  public static let largestBytes = 1_650_000

  /// Bytes of the picture of `version` of poster `number`.
  public static func bytes(_ number: Int, version: Int) -> Int {
    var generator = SeededGenerator(seed: UInt64(number) &* 0x1_0001 &+ UInt64(version))
    if number >= tinyNumbers { return .random(in: 500...3500, using: &generator) }
    if number >= smallNumbers { return .random(in: 2000...6000, using: &generator) }
    return isLarge(number)
      ? .random(in: 1_050_000...1_600_000, using: &generator)
      : .random(in: 2000...60_000, using: &generator)
  }

  /// Whether the poster's picture is larger than what is written in one batch.
  public static func isLarge(_ number: Int) -> Bool {
    number < smallNumbers && number % 61 == 60
  }

  /// `version` of poster `number`.
  public static func make(_ number: Int, version: Int) -> StoredPoster {
    SamplePoster.make(number, bytes: bytes(number, version: version), version: version)
  }

  /// What a server says that confirms `poster` for so many more times: other dates for every version, so
  /// that those of one that come with the bytes of another are noticed.
  public static func confirmed(_ poster: StoredPoster, times: Int = 1) -> PosterMetadata {
    var metadata = poster.metadata
    let version = identity(of: metadata)?.version ?? 0
    metadata.storedAt += Double(times) * interval
    metadata.expiresAt += Double(times) * (interval + Double(version % 1000))
    metadata.staleUse.ifErrorSeconds = UInt32(version)
    return metadata
  }

  /// Seconds from one confirmation of a poster to the next.
  private static let interval = 1000.0

  /// The number and the version that the `ETag` names, if it is one of these posters.
  public static func identity(of metadata: PosterMetadata) -> (number: Int, version: Int)? {
    let parts = metadata.etag?.split { $0 == "\"" || $0 == "-" } ?? []
    guard parts.count == 2, let number = Int(parts[0]), let version = Int(parts[1]),
      metadata.address == SamplePoster.request(number).address
    else { return nil }
    return (number, version)
  }

  /// What is wrong with a poster that was read for `request`; `nil` if every byte is right.
  public static func fault(in stored: StoredPoster, for request: PosterRequest) -> String? {
    guard stored.metadata.address == request.address,
      let (number, version) = identity(of: stored.metadata)
    else {
      return "asked for \(request.address), got \(stored.metadata.address) with the ETag "
        + "\(stored.metadata.etag ?? "none")"
    }
    let right = make(number, version: version)
    guard isEqual(stored.body, right.body) else {
      return "poster \(number), version \(version): wrong bytes, \(stored.body.count) of them "
        + "instead of \(right.body.count)"
    }
    let times = Int(stored.metadata.storedAt.timeIntervalSince(right.metadata.storedAt) / interval)
    let metadata = times == 0 ? right.metadata : confirmed(right, times: times)
    return stored.metadata == metadata
      ? nil : "poster \(number), version \(version): wrong metadata"
  }

  /// Compares millions of bytes in no time also in debug builds.
  private static func isEqual(_ left: PosterBody, _ right: PosterBody) -> Bool {
    left.withUnsafeBytes { left in
      right.withUnsafeBytes { right in
        guard left.count == right.count else { return false }
        guard let start = left.baseAddress, let other = right.baseAddress else { return true }
        return memcmp(start, other, left.count) == 0
      }
    }
  }
}
