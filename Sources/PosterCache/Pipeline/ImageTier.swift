/// What a pipeline keeps of decoded posters: their pixels, their average colours, and which of them cannot
/// be decoded.
///
/// Told by ``PosterTiers`` of every version of a poster that comes, is confirmed or goes, so that pixels
/// are never used for longer than what they were made of, nor for another version. What is being decoded
/// meanwhile is watched: pixels of a version that has been superseded are not kept, those of one that has
/// been confirmed are kept with the new dates. Safe to use from any thread.
final class ImageTier: Sendable {
  /// The pixels.
  let bitmaps: BitmapCache

  /// Average colours that are kept where no disk tier keeps them.
  private static let colorCapacity = 16_384
  /// Damaged pictures that are remembered.
  private static let damageCapacity = 1_024

  private struct Colored: Sendable {
    let address: PosterAddress
    let bodyHash: UInt64
    let color: PosterColor
  }

  private struct Damage: Sendable {
    let bodyHash: UInt64
    let error: PosterError
  }

  /// What has been learned about a poster since the first of those who watch it began.
  private struct Watched: Sendable {
    var count = 0
    var latest: Latest?
  }

  private enum Latest: Sendable {
    case version(PosterMetadata, bodyHash: UInt64)
    case gone
  }

  private let colors = Lock(LRUTable<Colored>(limit: colorCapacity))
  private let damages = Lock(LRUTable<Damage>(limit: damageCapacity))
  private let watched = Lock<[CacheKey: Watched]>([:])

  init(limitBytes: Int) {
    bitmaps = BitmapCache(limitBytes: limitBytes)
  }

  /// Notes from now on what is learned about a poster: before it is looked for, until its pixels have
  /// been kept.
  final class Watch: Sendable {
    private let tier: ImageTier
    private let key: CacheKey

    fileprivate init(_ tier: ImageTier, _ key: CacheKey) {
      self.tier = tier
      self.key = key
    }

    deinit { tier.endWatch(key) }
  }

  func watch(_ key: CacheKey) -> Watch {
    watched.withLock { $0[key, default: Watched()].count += 1 }
    return Watch(self, key)
  }

  private func endWatch(_ key: CacheKey) {
    watched.withLock { watched in
      watched[key]?.count -= 1
      if watched[key]?.count == 0 { watched[key] = nil }
    }
  }

  // MARK: - Versions

  /// Takes note of what is now stored for a poster.
  ///
  /// - Parameter hasArrived: its server has just sent or confirmed it, so that there is none later. What
  ///   was read from disk may have been superseded meanwhile.
  func posterIsNow(_ poster: StoredPoster, hasArrived: Bool) {
    let key = poster.key
    // Most posters are not decoded: those need no hash.
    guard watched.withLock({ $0[key] != nil }) || bitmaps.holds(key) || color(key) != nil else {
      return
    }
    let hash = poster.body.contentHash
    watched.withLock { watched in
      if !hasArrived, case .version(let latest, _) = watched[key]?.latest,
        latest.storedAt > poster.metadata.storedAt
      {
        return
      }
      watched[key]?.latest = .version(poster.metadata, bodyHash: hash)
      bitmaps.renew(key, poster.metadata, bodyHash: hash, isLatest: hasArrived)
      colors.withLock { colors in
        if let known = colors.peek(key), known.bodyHash != hash { _ = colors.remove(key) }
      }
    }
  }

  /// Takes note that a poster is not stored any more.
  func posterIsGone(_ key: CacheKey) {
    watched.withLock { watched in
      watched[key]?.latest = .gone
      bitmaps.remove(key)
      colors.withLock { _ = $0.remove(key) }
    }
  }

  // MARK: - Pixels

  /// The pixels of this version of a poster.
  func image(
    for key: ImageKey, of request: PosterRequest, bodyHash: UInt64
  ) -> PosterImage? {
    guard let entry = bitmaps.entry(for: key, isSeen: request.priority == .visible),
      entry.bodyHash == bodyHash, entry.metadata.address == request.address
    else { return nil }
    return entry.image
  }

  /// Keeps the pixels of `poster`, unless it has been superseded meanwhile.
  ///
  /// - Returns: whether it is what is stored now, so that its average colour belongs there, too.
  func keep(
    _ image: PosterImage, for key: ImageKey, of poster: StoredPoster, bodyHash: UInt64, isSeen: Bool
  ) -> Bool {
    // What is missing may be there another time.
    guard image.isComplete else { return false }
    // Under the lock, so that no version can come between the look and the insertions.
    return watched.withLock { watched -> Bool in
      var metadata = poster.metadata
      switch watched[poster.key]?.latest {
      case nil: break
      case .gone: return false
      case .version(_, let latest) where latest != bodyHash: return false
      case .version(let latest, _): metadata = latest
      }
      let entry = BitmapEntry(image: image, metadata: metadata, bodyHash: bodyHash)
      bitmaps.insert(entry, for: key, isSeen: isSeen)
      let colored = Colored(
        address: metadata.address, bodyHash: bodyHash, color: image.averageColor)
      colors.withLock { colors in
        // The first one stays: another rendition has almost the same.
        if colors.value(for: poster.key)?.bodyHash == bodyHash { return }
        _ = colors.insert(colored, for: poster.key, cost: 1)
      }
      return true
    }
  }

  // MARK: - Colours

  /// The average colour that was noted for a poster.
  func averageColor(of request: PosterRequest) -> PosterColor? {
    guard let known = color(request.key), known.address == request.address else { return nil }
    return known.color
  }

  private func color(_ key: CacheKey) -> Colored? {
    colors.withLock { $0.value(for: key) }
  }

  // MARK: - Damage

  /// Why the picture cannot be decoded, if its server itself sent it so.
  func damage(of key: CacheKey, bodyHash: UInt64) -> PosterError? {
    guard let damage = damages.withLock({ $0.value(for: key) }), damage.bodyHash == bodyHash else {
      return nil
    }
    return damage.error
  }

  /// Remembers that a server sends a picture that cannot be decoded: fetching it again would not help.
  func noteDamage(_ error: PosterError, of key: CacheKey, bodyHash: UInt64) {
    let damage = Damage(bodyHash: bodyHash, error: error)
    damages.withLock { _ = $0.insert(damage, for: key, cost: 1) }
  }
}

extension PosterBody {
  /// The XXH3-64 (seed 0) of the bytes: tells versions of a poster apart.
  var contentHash: UInt64 { withUnsafeBytes { xxh3($0, seed: 0) } }
}
