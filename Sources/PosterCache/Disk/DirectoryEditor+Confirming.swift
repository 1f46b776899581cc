/// What a server has confirmed about what is stored.
///
/// A confirmation is about bytes. It must never be noted for others, which this or another process may
/// have stored meanwhile under the same key and even with the same validators. So the picture itself is
/// compared, inside the transaction: by the record's checksum, which nobody outside can aim at, without
/// reading the record's body.
extension DirectoryEditor {
  /// What became of a version of a poster.
  enum Standing {
    /// It is stored, or was until room was made for what replaces it; with the record's own metadata
    /// in the first case.
    case stored(EntryRow, PosterMetadata?)
    /// It is not stored, or another version is.
    case gone
    case unreadable(PosterError)
  }

  /// Whether `version` is what is stored for its key.
  ///
  /// - Parameter dropped: the entry of that version, if it was dropped to make room.
  func standing(
    of version: StoredPoster, dropped: EntryRow?, _ editor: IndexEditor
  ) throws(PosterError) -> Standing {
    guard let entry = try editor.transaction.entry(version.key) else {
      return dropped.map { .stored($0, nil) } ?? .gone
    }
    // It may be among the records gathered last.
    try appender.write()
    do throws(SystemError) {
      guard let metadata = try records.metadata(entry, of: version) else { return .gone }
      return metadata.hasSameVersion(as: version.metadata) ? .stored(entry, metadata) : .gone
    } catch {
      return .unreadable(
        PosterError(.notStored, "cannot read from the cache", underlying: error))
    }
  }

  /// Notes a confirmation in the index, if it is about what is stored.
  func confirm(
    _ confirmation: DiskQueue.Confirmation, _ editor: inout IndexEditor
  ) throws(PosterError) -> PosterError? {
    switch try standing(of: confirmation.version, dropped: nil, editor) {
    case .stored(let entry, let recorded):
      let metadata = confirmation.confirmed.metadata
      // Otherwise another process has stored the same picture since, and been promised more.
      guard let recorded, recorded.isStricter(than: metadata) else { return nil }
      try editor.confirm(confirmation.version.key, entry, as: metadata)
      return nil
    case .gone: return nil
    case .unreadable(let error): return error
    }
  }
}
