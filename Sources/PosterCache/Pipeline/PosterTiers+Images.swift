import FoundationEssentials

/// Pixels: what is there for a request, and what is kept of what was decoded.
extension PosterTiers {
  /// The poster's pixels if memory has them and they may be used at once.
  func rememberedImage(
    for request: PosterRequest, _ rendition: Rendition, _ mode: CacheMode, now: Date
  ) -> PosterImage? {
    let isSeen = request.priority == .visible
    let key = ImageKey(poster: request.key, rendition: rendition)
    guard let entry = images.bitmaps.entry(for: key, isSeen: isSeen),
      entry.metadata.address == request.address,
      policy.mayUse(entry.metadata, mode: mode, now: now)
    else { return nil }
    // As with encoded posters in memory.
    disk?.noteUse(of: request, isSeen: isSeen)
    return entry.image
  }

  /// The poster for a decode whose turn has come, wherever it is: the version that was got for it, or one
  /// received later. Counts as no use: it was got for this already.
  func find(_ order: DecodeOrder) -> StoredPoster? {
    // What could not be stored may have left an earlier version where it was, such as a pinned one.
    guard order.isStorable, let poster = inMemory(order.request) ?? onDisk(order.request),
      poster.metadata.storedAt >= order.storedAt
    else { return nil }
    return poster
  }

  /// The pixels that are wanted, if somebody has kept them since they were ordered.
  func decoded(_ order: DecodeOrder) -> PosterImage? {
    images.image(for: order.imageKey, of: order.request, bodyHash: order.bodyHash)
  }

  /// Keeps what was decoded.
  func keep(_ image: PosterImage, _ order: DecodeOrder, isSeen: Bool) {
    guard order.isStorable, let poster = order.poster else { return }
    let isCurrent = images.keep(
      image, for: order.imageKey, of: poster, bodyHash: order.bodyHash, isSeen: isSeen)
    guard isCurrent, poster.metadata.averageColor == nil else { return }
    disk?.noteAverageColor(image.averageColor, of: poster)
  }

  /// The poster's average colour, if any tier has it.
  func averageColor(of request: PosterRequest) -> PosterColor? {
    images.averageColor(of: request) ?? inMemory(request)?.metadata.averageColor
      ?? disk?.averageColor(of: request)
  }

  /// Drops the version of a poster that turned out to be damaged, unless it is pinned.
  ///
  /// - Returns: whether another version is there, which somebody has stored since.
  func dropDamaged(_ request: PosterRequest, bodyHash: UInt64) -> Bool {
    if let poster = inMemory(request) {
      guard poster.body.contentHash == bodyHash else { return true }
      memory.remove(poster)
    }
    guard let poster = onDisk(request) else { return false }
    guard poster.body.contentHash == bodyHash else { return true }
    disk?.dropDamaged(poster)
    return false
  }

  /// Whether the poster may be used without asking its server first. Counts as no use.
  func mayUseAtOnce(_ request: PosterRequest, _ mode: CacheMode) -> Bool {
    guard let stored = inMemory(request) ?? onDisk(request) else { return false }
    switch policy.verdict(on: stored.metadata, mode: mode, now: clock.now()) {
    case .use, .useAndRevalidate: return true
    case .revalidate, .fetch, .failAsAbsent, .failOffline: return false
    }
  }

  private func inMemory(_ request: PosterRequest) -> StoredPoster? {
    guard let poster = memory.peek(request.key), poster.metadata.address == request.address else {
      return nil
    }
    return poster
  }

  private func onDisk(_ request: PosterRequest) -> StoredPoster? {
    do throws(PosterError) {
      return try disk?.peek(at: request)
    } catch {
      // As with a look for encoded posters.
      warnings.warn(error)
      return nil
    }
  }
}
