/// Posters as pixels.
extension PosterPipeline {
  /// The poster as pixels of the size it is shown at.
  ///
  /// From the bitmaps in memory if they have it and the poster is fresh; else the poster is got as
  /// ``poster(for:mode:)`` gets it, and decoded on one of the pipeline's own threads: visible ones before
  /// prefetched ones, and once however many ask. A stored poster that turns out to be damaged is dropped and fetched anew, once.
  /// Cancelling the task ends the wait with ``PosterError/Code/cancelled``.
  ///
  /// - Parameters:
  ///   - rendition: how large, and what its alpha means.
  ///   - mode: how to use the cache; as configured unless said otherwise.
  ///   - allowingIncomplete: give what there is of a picture whose end is missing, if its server has no
  ///     more of it either. Such pixels are not kept. Default `false`: that is an error.
  /// - Throws: what ``poster(for:mode:)`` or ``ImageDecoder`` throws.
  public func image(
    for request: PosterRequest, as rendition: Rendition, mode: CacheMode? = nil,
    allowingIncomplete: Bool = false
  ) async throws(PosterError) -> PosterImage {
    try ForkGuard.check()
    let request = request.applying(addressRule)
    let mode = mode ?? self.mode
    let remembered = tiers.rememberedImage(for: request, rendition, mode, now: tiers.clock.now())
    if let remembered { return remembered }
    let wanted = WantedImage(
      request: request, rendition: rendition, mode: mode, allowsIncomplete: allowingIncomplete)
    guard request.priority < .visible else { return try await decodedImage(wanted) }
    return try await prefetchTurns.withTurn(request.priority) { () throws(PosterError) in
      try await decodedImage(wanted)
    }
  }

  /// The poster as pixels, as large as fits into `size`.
  public func image(
    for request: PosterRequest, fitting size: PixelSize
  ) async throws(PosterError) -> PosterImage {
    try await image(for: request, as: Rendition(.fitting(size)))
  }

  /// The poster as pixels, as small as covers `size`.
  public func image(
    for request: PosterRequest, filling size: PixelSize
  ) async throws(PosterError) -> PosterImage {
    try await image(for: request, as: Rendition(.filling(size)))
  }

  /// The poster's pixels if memory has them and the poster is fresh: for a cell that must be filled
  /// before the next frame. Takes well under a microsecond and never waits.
  public func cachedImage(for request: PosterRequest, as rendition: Rendition) -> PosterImage? {
    guard !ForkGuard.isInChild else { return nil }
    return withName(request) {
      tiers.rememberedImage(for: $0, rendition, mode, now: tiers.clock.now())
    }
  }

  /// The same, as large as fits into `size`.
  public func cachedImage(for request: PosterRequest, fitting size: PixelSize) -> PosterImage? {
    cachedImage(for: request, as: Rendition(.fitting(size)))
  }

  /// The poster's average colour if it has been decoded before, now or by an earlier run: for a
  /// placeholder. Takes some microseconds at most: it may read the index, and never a picture.
  public func averageColor(for request: PosterRequest) -> PosterColor? {
    guard !ForkGuard.isInChild else { return nil }
    return withName(request) { tiers.averageColor(of: $0) }
  }

  /// Whether memory or disk has the poster, encoded, so that its server need not be asked for it. Takes
  /// some 20 microseconds where it is on disk, and counts as no use.
  func isAtHand(_ request: PosterRequest) -> Bool {
    withName(request) { tiers.mayUseAtOnce($0, mode) }
  }

  /// The name under which the poster's pixels are kept.
  func imageKey(for request: PosterRequest, _ rendition: Rendition) -> ImageKey {
    ImageKey(poster: withName(request, \.key), rendition: rendition)
  }
}
