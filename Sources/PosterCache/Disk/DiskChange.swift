/// What an operation on stored posters came to.
public struct DiskChange: Sendable, Hashable {
  /// Posters that were removed, pinned or unpinned.
  public var posters = 0
  /// Bytes of their pictures.
  public var bytes = 0
  /// Those that were named and are not stored, in the order in which they were named.
  public var missing: [PosterRequest] = []
}
