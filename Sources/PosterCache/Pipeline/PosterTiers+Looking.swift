import FoundationEssentials

/// What is there for a request, and what to do about it.
extension PosterTiers {
  /// Looks for the poster in memory, and on disk if memory has none to be used at once.
  func look(
    for request: PosterRequest, _ mode: CacheMode
  ) -> (verdict: CachePolicy.Verdict, found: Poster?) {
    let now = clock.now()
    if let poster = rememberedPoster(for: request, mode, now: now) { return (.use, poster) }
    let remembered = self.remembered(request)
    let onDisk = storedPoster(for: request)
    guard let onDisk, onDisk.metadata.storedAt >= remembered?.metadata.storedAt ?? .distantPast
    else {
      let verdict = verdict(on: remembered, request, mode, now: now)
      return (verdict, remembered.map { Poster($0, from: .memory) })
    }
    // Another process may have asked its server since memory got it, or have stored another version.
    images.posterIsNow(onDisk, hasArrived: false)
    let verdict = verdict(on: onDisk, request, mode, now: now)
    if verdict == .use || verdict == .useAndRevalidate {
      memory.restore(onDisk, isSeen: request.priority == .visible)
    }
    return (verdict, Poster(onDisk, from: .disk))
  }

  /// Looks for the poster where warming puts it.
  func lookForWarming(
    _ request: PosterRequest, _ mode: CacheMode
  ) -> (verdict: CachePolicy.Verdict, stored: StoredPoster?) {
    let stored = diskTier == nil ? remembered(request) : storedPoster(for: request)
    return (verdict(on: stored, request, mode, now: clock.now()), stored)
  }

  /// The poster if memory has it and it may be used at once.
  func rememberedPoster(
    for request: PosterRequest, _ mode: CacheMode, now: Date
  ) -> Poster? {
    guard let stored = remembered(request), policy.mayUse(stored.metadata, mode: mode, now: now)
    else {
      return nil
    }
    // The disk tier must not take a poster for unused because it is so popular that memory has it.
    disk?.noteUse(of: request, isSeen: request.priority == .visible)
    return Poster(stored, from: .memory)
  }

  /// Throws where `verdict` is to fail.
  ///
  /// - Parameter isStored: whether something is there all the same.
  func fail(
    on verdict: CachePolicy.Verdict, _ request: PosterRequest, isStored: Bool
  ) throws(PosterError) {
    switch verdict {
    case .failAsAbsent(let absence): throw .absent(request.address, absence)
    case .failOffline where isStored:
      throw PosterError(
        .offline,
        "what is cached may not be used any more before its server is asked, and offline:"
          + " \(request.address)")
    case .failOffline: throw .notCached(request.address)
    case .use, .useAndRevalidate, .revalidate, .fetch: break
    }
  }

  // MARK: - Private

  /// What to do, given `stored` and what is remembered about the server's not having it.
  private func verdict(
    on stored: StoredPoster?, _ request: PosterRequest, _ mode: CacheMode, now: Date
  ) -> CachePolicy.Verdict {
    let noted = absences[request]
    let verdict = policy.verdict(on: stored?.metadata, absence: noted, mode: mode, now: now)
    if case .failAsAbsent = verdict { return verdict }
    // Most are found; the others are worth another look into the index.
    guard verdict != .use, mode != .refresh, let absence = diskTier?.absence(of: request) else {
      return verdict
    }
    return policy.verdict(on: stored?.metadata, absence: absence, mode: mode, now: now)
  }

  private func remembered(_ request: PosterRequest) -> StoredPoster? {
    let isSeen = request.priority == .visible
    guard let stored = memory.poster(for: request.key, isSeen: isSeen),
      stored.metadata.address == request.address
    else { return nil }
    return stored
  }

  /// The poster if the disk tier has it.
  private func storedPoster(for request: PosterRequest) -> StoredPoster? {
    do throws(PosterError) {
      return try disk?.poster(for: request, isSeen: request.priority == .visible)
    } catch {
      // A tier that fails is a miss: the origin still has the picture.
      warnings.warn(error)
      return nil
    }
  }

  /// What is remembered about the server's not having the picture.
  func absence(of request: PosterRequest) -> Absence? {
    absences[request] ?? diskTier?.absence(of: request)
  }
}

extension PosterError {
  /// What is not stored and must not be fetched.
  static func notCached(_ address: PosterAddress) -> PosterError {
    PosterError(.offline, "not in the cache, and offline: \(address)")
  }

  /// What the server said before, and what still counts.
  static func absent(_ address: PosterAddress, _ absence: Absence) -> PosterError {
    PosterError(
      .status(absence.status),
      "the server answered \(absence.status) for \(address), remembered until"
        + " \(absence.until.formatted(.iso8601))")
  }
}
