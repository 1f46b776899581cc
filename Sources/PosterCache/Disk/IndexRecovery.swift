/// What state a directory's index is in, and what that means for opening it.
enum IndexRecovery {
  /// To be called by everybody who opens a directory to use it, before anybody else can.
  ///
  /// An index that a power cut may have left half written is rebuilt here and now: nobody can have
  /// opened the directory since. A missing one is an error: whoever deleted it should say so.
  static func prepare(_ directory: CacheDirectory) throws(PosterError) {
    // What a process has left that died while it wrote a new index.
    NewIndexPlace(directory: directory.index).remove()
    if directory.state.isIndexDoubtful(in: Boot.current) {
      _ = try rebuild(directory)
    } else if !IndexFiles(directory: directory.index).exist {
      guard try directory.segmentNumbers().isEmpty else { throw .damagedIndex("it is missing") }
      try create(directory)
    }
  }

  /// Makes the index of a new directory, complete before it has its name.
  private static func create(_ directory: CacheDirectory) throws(PosterError) {
    let place = NewIndexPlace(directory: directory.index)
    do {
      Index.release(try place.makeIndex())
      try place.takeOver()
    } catch {
      place.remove()
      throw PosterError(
        .directoryUnavailable, "cannot make the index of \(directory.path)", underlying: error)
    }
  }

  /// Looks at the whole index, without trusting it.
  static func state(
    of directory: CacheDirectory
  ) throws(PosterError) -> DiskVerification.IndexState {
    if directory.state.isIndexDoubtful(in: Boot.current) {
      return .damaged("it was changed before the machine's last start and not synced")
    }
    guard IndexFiles(directory: directory.index).exist else {
      return try directory.segmentNumbers().isEmpty ? .intact : .missing
    }
    if let damage = try IndexCheck.damage(of: directory.index) { return .damaged(damage) }
    do throws(PosterError) {
      let index = try Index.acquire(in: directory.index)
      defer { Index.release(index) }
      return try IndexCheck.contradiction(in: index).map { .damaged($0) } ?? .intact
    } catch {
      guard error.code == .damagedIndex else { throw error }
      return .damaged(error.message)
    }
  }

  /// Rebuilds the index; nobody else may be using the directory.
  static func rebuild(
    _ directory: CacheDirectory
  ) throws(PosterError) -> IndexRebuild.Outcome {
    let outcome = try directory.ifUnused(isUser: false) { () throws(PosterError) in
      try IndexRebuild(directory: directory).run()
    }
    guard let outcome else {
      throw PosterError(
        .directoryUnavailable,
        "the index of \(directory.path) can be rebuilt only while nobody uses the cache: end the"
          + " other programs first")
    }
    return outcome
  }
}
