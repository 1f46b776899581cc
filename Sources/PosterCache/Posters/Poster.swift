/// A picture as a caller receives it, and where it came from.
public struct Poster: Sendable {
  /// Where a picture came from.
  public enum Source: String, Sendable, Hashable, CaseIterable {
    /// The memory tier.
    case memory
    /// The disk tier.
    case disk
    /// The origin, by a transfer made now.
    case network
    /// A tier, after the origin has said now that it is still right.
    case revalidated
    /// A tier, though it has expired: the origin is asked meanwhile, or could not be.
    case stale
  }

  /// The picture and its metadata.
  public let stored: StoredPoster
  /// Where it came from.
  public let source: Source

  /// The picture's bytes.
  public var body: PosterBody { stored.body }
  /// Address, kind, validators and freshness.
  public var metadata: PosterMetadata { stored.metadata }

  /// Whether its server allows keeping it.
  let isStorable: Bool

  init(_ stored: StoredPoster, from source: Source, isStorable: Bool = true) {
    self.stored = stored
    self.source = source
    self.isStorable = isStorable
  }
}
