extension PosterMetadata {
  /// Whether both name the same state of the picture at the server: the address, the kind, the
  /// validators, and what the server chose by.
  func hasSameVersion(as other: PosterMetadata) -> Bool {
    address == other.address && type == other.type && etag == other.etag
      && lastModified == other.lastModified && variant == other.variant
  }

  /// Whether whoever goes by this allows no use of the picture that `newer` forbids.
  ///
  /// A record that a server has confirmed keeps its own dates, which count again once an index has to be
  /// made from the records. They may lead to a question too many, but to no use too many.
  func isStricter(than newer: PosterMetadata) -> Bool {
    func ends(_ metadata: PosterMetadata, _ seconds: UInt32) -> Int64 {
      metadata.expiresAt.milliseconds + 1000 * Int64(seconds)
    }
    return storedAt <= newer.storedAt && expiresAt <= newer.expiresAt
      && (staleUse.isForbidden || !newer.staleUse.isForbidden)
      && ends(self, staleUse.whileRevalidatingSeconds)
        <= ends(newer, newer.staleUse.whileRevalidatingSeconds)
      && ends(self, staleUse.ifErrorSeconds) <= ends(newer, newer.staleUse.ifErrorSeconds)
  }
}
