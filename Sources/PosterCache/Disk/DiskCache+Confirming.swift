/// What servers say about pictures without sending them.
extension DiskCache {
  /// Notes that the server has confirmed the stored picture (304): its bytes stay where they are, only
  /// the index learns the new dates and what `metadata` says about use after expiry. Does not count as
  /// use. A note that there is no such picture is forgotten.
  ///
  /// - Parameters:
  ///   - poster: what was asked about. Nothing happens, and that is no failure, if it is not stored any
  ///     more or another version is by then: other bytes, validators or variant.
  ///   - metadata: its address and kind are those of `poster`, whatever it says. Where validators or
  ///     variant have changed, or the picture may now be used for a shorter time than the record itself
  ///     says, the poster is written anew instead, and keeps its pin, its last use and whether it was
  ///     seen.
  ///   - completion: called once, as by ``insert(_:isSeen:completion:)``; with success also where nothing
  ///     happened.
  public func confirm(
    _ poster: StoredPoster, as metadata: PosterMetadata,
    completion: @escaping @Sendable (Result<Void, PosterError>) -> Void = { _ in }
  ) {
    guard !ForkGuard.isInChild else { return completion(.failure(ForkGuard.error)) }
    writer.confirm(poster, as: poster.confirmed(as: metadata), completion: completion)
  }

  /// What is remembered about a picture that the server did not have; `nil` if nothing is. Whether it
  /// still counts at this time is for the caller to say.
  ///
  /// - Throws: ``PosterError/Code/damagedIndex`` or ``PosterError/Code/notStored``.
  public func absence(of request: PosterRequest) throws(PosterError) -> Absence? {
    try ForkGuard.check()
    let row: AbsenceRow?
    switch writer.unwrittenAbsence(request.key) {
    case .noted(let noted): row = noted
    case .forgotten: row = nil
    case nil: row = try index.read { rows throws(PosterError) in try rows.absence(request.key) }
    }
    return row?.absence(of: request.address, seed: directory.seed)
  }

  /// Remembers that the server has no picture for `request`, in place of an earlier such note. Storing
  /// or confirming a picture for it forgets the note; what is stored already stays.
  ///
  /// At most 65,536 are kept, and one for every 2 KiB of the directory's limit; the oldest go first, some
  /// earlier once their time is over. They do not survive a rebuild of the index. A note is readable at
  /// once, and on disk 2 ms later; it is dropped where 16,384 wait already, pinned posters leave no room
  /// for it, or the cache is closed.
  ///
  /// - Parameter absence: a status of other than three digits is not remembered.
  public func noteAbsence(of request: PosterRequest, _ absence: Absence) {
    guard !ForkGuard.isInChild,
      let row = AbsenceRow(absence, of: request.address, seed: directory.seed)
    else { return }
    writer.noteAbsence(NotedAbsence(request.key, row))
  }
}

extension StoredPoster {
  /// The same picture with what a server says of it now.
  func confirmed(as metadata: PosterMetadata) -> StoredPoster {
    var metadata = metadata
    metadata.address = self.metadata.address
    metadata.type = self.metadata.type
    return StoredPoster(key: key, metadata: metadata, body: body)
  }
}
