/// Getting and decoding a poster whose pixels are not at hand.
extension PosterPipeline {
  /// What somebody asked for.
  struct WantedImage: Sendable {
    let request: PosterRequest
    let rendition: Rendition
    let mode: CacheMode
    let allowsIncomplete: Bool
  }

  /// The poster as pixels, from the nearest tier that has it encoded.
  func decodedImage(_ wanted: WantedImage) async throws(PosterError) -> PosterImage {
    if let image = try await image(wanted, mustHold: false) { return image }
    // It was gone from all tiers when its turn came: this time it is held until then.
    return try await turns.withTurn(wanted.request.priority) { () throws(PosterError) in
      for _ in 0..<Self.heldTries {
        if let image = try await image(wanted, mustHold: true) { return image }
      }
      throw PosterError(
        .resourcesExhausted,
        "no tier keeps the poster until it is decoded; raise the memory limit:"
          + " \(wanted.request.address)")
    }
  }

  /// The poster as ``poster(for:mode:)`` gives it together with its pixels: its server is asked no more
  /// than for the poster alone, also where it may not be kept or has expired.
  ///
  /// - Throws: what ``image(for:as:mode:allowingIncomplete:)`` throws.
  package func posterAndImage(
    for request: PosterRequest, as rendition: Rendition
  ) async throws(PosterError) -> (poster: Poster, image: PosterImage) {
    try ForkGuard.check()
    let wanted = WantedImage(
      request: request.applying(addressRule), rendition: rendition, mode: mode,
      allowsIncomplete: false)
    let watch = tiers.images.watch(wanted.request.key)
    let poster = try await poster(for: wanted.request, mode: mode)
    let attempt = try begin(
      wanted, poster.stored, isStorable: poster.isStorable, isFromServer: poster.source == .network,
      mustHold: true, watch)
    if let image = try await image(wanted, attempt, mustHold: false) { return (poster, image) }
    // It joined somebody else's decode, which found nothing.
    return (poster, try await decodedImage(wanted))
  }

  /// One is enough, but where it joins somebody else's decode that has begun and finds nothing.
  private static let heldTries = 3

  /// Where a decode stands.
  private enum Attempt: Sendable {
    case image(PosterImage)
    /// - Parameter isFromServer: the picture came from its server now.
    case decoding(DecodeWait, isFromServer: Bool)
  }

  /// - Returns: `nil` if no tier had the poster any more when its turn came.
  private func image(
    _ wanted: WantedImage, mustHold: Bool
  ) async throws(PosterError) -> PosterImage? {
    try await image(wanted, begin(wanted, mustHold: mustHold), mustHold: mustHold)
  }

  private func image(
    _ wanted: WantedImage, _ attempt: Attempt, mustHold: Bool
  ) async throws(PosterError) -> PosterImage? {
    guard case .decoding(let wait, let isFromServer) = attempt else {
      return try await result(attempt, wanted)
    }
    let outcome = await wait.outcome()
    guard let hash = outcome.damagedHash, !isFromServer, wanted.mode != .offline,
      tiers.images.damage(of: wanted.request.key, bodyHash: hash) == nil
    else { return try result(outcome, wanted, isFromServer: isFromServer) }
    do throws(PosterError) {
      // Only so many at a time hold what they get; those that have a turn go on.
      return mustHold
        ? try await mended(wanted, bodyHash: hash)
        : try await turns.withTurn(wanted.request.priority) { () throws(PosterError) in
          try await mended(wanted, bodyHash: hash)
        }
    } catch {
      // Some of a picture is better than none, if the rest cannot be had.
      guard case .image(let image, _) = outcome, error.code != .cancelled else { throw error }
      return image
    }
  }

  /// Gets the poster as ``poster(for:mode:)`` does and has it decoded, unless its pixels turn out to be
  /// at hand.
  ///
  /// Nothing here outlives the call: a poster that waits for its turn must not be held by those who wait.
  private func begin(
    _ wanted: WantedImage, mustHold: Bool
  ) async throws(PosterError) -> Attempt {
    let watch = tiers.images.watch(wanted.request.key)
    let poster = try await poster(for: wanted.request, mode: wanted.mode)
    return try begin(
      wanted, poster.stored, isStorable: poster.isStorable, isFromServer: poster.source == .network,
      mustHold: mustHold, watch)
  }

  private func begin(
    _ wanted: WantedImage, _ stored: StoredPoster, isStorable: Bool, isFromServer: Bool,
    mustHold: Bool, _ watch: ImageTier.Watch
  ) throws(PosterError) -> Attempt {
    let order = DecodeOrder(
      request: wanted.request, rendition: wanted.rendition,
      allowsIncomplete: wanted.allowsIncomplete, poster: stored, bodyHash: stored.body.contentHash,
      isStorable: isStorable, watch: watch)
    let image = tiers.images.image(
      for: order.imageKey, of: order.request, bodyHash: order.bodyHash)
    if let image { return .image(image) }
    let damage = tiers.images.damage(of: order.request.key, bodyHash: order.bodyHash)
    if let damage, !wanted.allowsIncomplete { throw damage }
    return .decoding(
      DecodeWait(order, mustHold: mustHold, by: workers), isFromServer: isFromServer)
  }

  // MARK: - Damaged pictures

  /// What a stored poster that turned out to be damaged is replaced by: the version that somebody has
  /// stored since, or what its server sends when it is asked for the picture itself.
  private func mended(
    _ wanted: WantedImage, bodyHash: UInt64
  ) async throws(PosterError) -> PosterImage? {
    try await result(beginAnew(wanted, bodyHash: bodyHash), wanted)
  }

  private func beginAnew(
    _ wanted: WantedImage, bodyHash: UInt64
  ) async throws(PosterError) -> Attempt {
    let watch = tiers.images.watch(wanted.request.key)
    for _ in 0..<Self.mendingTries {
      let lookup = tiers.lookups.begin(wanted.request.key)
      if tiers.dropDamaged(wanted.request, bodyHash: bodyHash) {
        return try await begin(wanted, mustHold: true)
      }
      let arrival = try await arrival(of: wanted.request, nil, .refresh, after: lookup)
      // Somebody else's question, which this one joined, was about the damaged bytes.
      if arrival.confirmed?.body.contentHash == bodyHash { continue }
      return try begin(
        wanted, arrival.poster, isStorable: arrival.isStorable, isFromServer: true,
        mustHold: true, watch)
    }
    throw PosterError(
      .damagedImage,
      "the stored picture is damaged, and its server keeps confirming it:"
        + " \(wanted.request.address)")
  }

  private static let mendingTries = 3

  // MARK: - Results

  private func result(
    _ attempt: Attempt, _ wanted: WantedImage
  ) async throws(PosterError) -> PosterImage? {
    switch attempt {
    case .image(let image): return image
    case .decoding(let wait, let isFromServer):
      return try result(await wait.outcome(), wanted, isFromServer: isFromServer)
    }
  }

  private func result(
    _ outcome: DecodeOutcome, _ wanted: WantedImage, isFromServer: Bool
  ) throws(PosterError) -> PosterImage? {
    if let hash = outcome.damagedHash, isFromServer {
      let error = PosterError(
        .damagedImage, "the server sends a damaged picture: \(wanted.request.address)",
        underlying: outcome.error)
      tiers.images.noteDamage(error, of: wanted.request.key, bodyHash: hash)
      if outcome.error != nil { throw error }
    }
    switch outcome {
    case .image(let image, _): return image
    case .failed(let error, _): throw error
    case .gone: return nil
    case .cancelled: throw .decodeCancelled
    }
  }
}

extension DecodeOutcome {
  /// The hash of an encoded poster that is not all there, or nonsense.
  fileprivate var damagedHash: UInt64? {
    switch self {
    case .image(let image, let hash): image.isComplete ? nil : hash
    case .failed(let error, let hash):
      error.code == .damagedImage || error.code == .notAnImage ? hash : nil
    case .gone, .cancelled: nil
    }
  }

  fileprivate var error: PosterError? {
    if case .failed(let error, _) = self { error } else { nil }
  }
}
