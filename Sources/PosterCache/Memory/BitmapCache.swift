/// The memory tier's other half: posters as pixels, in exact order of use, bounded by the bytes of the pixels
/// (`bytesPerRow` times the height).
///
/// The order is that of ``MemoryCache``, and a bitmap larger than a tenth of the limit is not kept, either.
/// What is pinned, since it is on the screen, is not evicted by the limit, by a trim or by what is inserted,
/// but counts in the limit: if only pinned ones are left, a new one that does not fit is not kept. Nor is a
/// pinned one that does not fit, or that is larger than a tenth: whoever shows it has a reference of its own,
/// and loses nothing. Safe to use from any thread, like ``MemoryCache``.
public final class BitmapCache: Sendable {
  private let bitmaps: SharedLRU<ImageKey, BitmapEntry>

  /// The largest sum of bytes of pixels kept.
  public let limitBytes: Int

  /// - Parameter limitBytes: the largest sum of bytes of pixels kept, at least 0. 0 keeps nothing.
  public init(limitBytes: Int) {
    self.limitBytes = limitBytes
    bitmaps = SharedLRU(limit: limitBytes)
  }

  /// The bitmap for `key`, which becomes the most recently used.
  ///
  /// - Parameter isSeen: whether somebody sees it.
  func entry(for key: ImageKey, isSeen: Bool) -> BitmapEntry? {
    bitmaps.value(for: key, isSeen: isSeen)
  }

  /// The bitmap for `key`, without counting as use.
  func peek(_ key: ImageKey) -> BitmapEntry? {
    bitmaps.peek(key)
  }

  /// Keeps `entry` as the most recently used, in the place of an earlier one for `key`, and lets go of what no
  /// longer fits.
  ///
  /// - Parameter isSeen: whether somebody sees it. What somebody has seen remains so in a later version, and
  ///   what is pinned is seen.
  /// - Returns: whether it is kept. If not, only the earlier one for `key` is gone.
  @discardableResult
  func insert(_ entry: BitmapEntry, for key: ImageKey, isSeen: Bool) -> Bool {
    bitmaps.insert(entry, for: key, cost: entry.image.bitmap.byteCount, isSeen: isSeen)
  }

  /// Keeps what is kept under `key`, now or later, from being evicted until ``unpin(_:)`` has been called as
  /// often as this.
  func pin(_ key: ImageKey) {
    bitmaps.pin(key)
  }

  /// Takes one pin back; the last makes the bitmap the most recently used. One that was never made is a
  /// programming error.
  func unpin(_ key: ImageKey) {
    bitmaps.unpin(key)
  }

  /// Forgets all renditions of a poster, pinned or not, since it has changed or must not be shown any more.
  /// Takes time proportional to their number.
  func remove(_ poster: CacheKey) {
    bitmaps.remove(family: poster)
  }

  /// Whether any rendition of a poster is kept.
  func holds(_ poster: CacheKey) -> Bool {
    bitmaps.holds(family: poster)
  }

  /// Gives the renditions of a version of a poster the metadata that it has now, and forgets those of
  /// other versions; those made of what was received later stay as they are. Takes time proportional to
  /// their number, and is no use of them.
  ///
  /// - Parameter isLatest: no version was received later, whatever a clock says that has gone back.
  func renew(
    _ poster: CacheKey, _ metadata: PosterMetadata, bodyHash: UInt64, isLatest: Bool = false
  ) {
    bitmaps.renew(family: poster) { entry in
      guard isLatest || entry.metadata.storedAt <= metadata.storedAt else { return entry }
      guard entry.bodyHash == bodyHash else { return nil }
      return BitmapEntry(image: entry.image, metadata: metadata, bodyHash: bodyHash)
    }
  }

  /// Evicts until at most `bytes` are kept, or only pinned ones are left.
  public func trim(toBytes bytes: Int) {
    bitmaps.trim(to: bytes)
  }

  /// Forgets everything, pinned or not.
  public func removeAll() {
    bitmaps.removeAll()
  }

  /// The bytes kept now; never more than the limit.
  public var totalBytes: Int { bitmaps.totals.cost }

  /// The bytes of what is kept and pinned now.
  public var pinnedBytes: Int { bitmaps.totals.pinnedCost }

  /// The number of bitmaps kept now.
  public var count: Int { bitmaps.totals.count }
}
