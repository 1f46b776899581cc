/// A picture as a tier keeps it: bytes, key and metadata, immutable and shared by reference.
public final class StoredPoster: Sendable {
  /// The name under which it is cached.
  public let key: CacheKey
  /// Address, kind, validators and freshness.
  public let metadata: PosterMetadata
  /// The picture's bytes.
  public let body: PosterBody
  /// The number of the record it was read from, if it was.
  let sequence: UInt64?

  /// A picture with its metadata; the key follows from the address.
  public init(metadata: PosterMetadata, body: PosterBody) {
    self.key = CacheKey(metadata.address)
    self.metadata = metadata
    self.body = body
    sequence = nil
  }

  /// The same where the key is known already.
  init(key: CacheKey, metadata: PosterMetadata, body: PosterBody, sequence: UInt64? = nil) {
    self.key = key
    self.metadata = metadata
    self.body = body
    self.sequence = sequence
  }
}
