/// The memory tier's second half: decoded posters, bounded by the bytes of their pixels.
public final class BitmapCache: Sendable {
  /// The largest sum of bytes of pixels kept.
  public let limitBytes: Int
  private let state: Lock<State>

  private struct State {
    var entries: [ImageKey: (entry: BitmapEntry, isSeen: Bool)] = [:]
    var order: [ImageKey] = []  // the least recently used first
    var pins: [ImageKey: Int] = [:]
    var total = 0

    mutating func remove(_ key: ImageKey) {
      guard let old = entries.removeValue(forKey: key) else { return }
      total -= old.entry.image.bitmap.byteCount
      order.removeAll { $0 == key }
    }

    mutating func trim(to bytes: Int) {
      for isSeen in [false, true] {
        for key in order where total > bytes && pins[key] == nil && entries[key]?.isSeen == isSeen {
          remove(key)
        }
      }
    }

    mutating func touch(_ key: ImageKey) {
      order.removeAll { $0 == key }
      order.append(key)
    }

    var pinned: Int {
      entries.reduce(0) { pins[$1.key] == nil ? $0 : $0 + $1.value.entry.image.bitmap.byteCount }
    }
  }

  /// - Parameter limitBytes: the largest sum of bytes of pixels kept. 0 keeps nothing.
  public init(limitBytes: Int) {
    self.limitBytes = limitBytes
    state = Lock(State())
  }

  /// The bitmap for `key`, which becomes the most recently used.
  func entry(for key: ImageKey, isSeen: Bool) -> BitmapEntry? {
    state.withLock { state in
      guard let found = state.entries[key] else { return nil }
      if isSeen { state.entries[key]?.isSeen = true }
      state.touch(key)
      return found.entry
    }
  }

  /// Keeps `entry` as the most recently used, in the place of an earlier one for `key`.
  @discardableResult
  func insert(_ entry: BitmapEntry, for key: ImageKey, isSeen: Bool) -> Bool {
    let cost = entry.image.bitmap.byteCount
    return state.withLock { state in
      let wasSeen = state.entries[key]?.isSeen ?? false
      state.remove(key)
      guard cost <= limitBytes / 10, state.pinned + cost <= limitBytes else { return false }
      state.trim(to: limitBytes - cost)
      state.entries[key] = (entry, isSeen || wasSeen)
      state.order.append(key)
      state.total += cost
      return true
    }
  }

  /// Keeps what is kept under `key`, now or later, from being evicted until ``unpin(_:)``. Counted.
  func pin(_ key: ImageKey) {
    state.withLock { state in
      state.pins[key, default: 0] += 1
      if state.entries[key] != nil { state.entries[key]?.isSeen = true }
    }
  }

  /// Takes one pin back.
  func unpin(_ key: ImageKey) {
    state.withLock { state in
      guard let count = state.pins[key] else { preconditionFailure("unpinned without a pin") }
      state.pins[key] = count == 1 ? nil : count - 1
      if count == 1, state.entries[key] != nil { state.touch(key) }
    }
  }

  /// Forgets all renditions of a poster, pinned ones too: they are stale.
  func remove(_ poster: CacheKey) {
    state.withLock { state in
      for key in state.order where key.poster == poster { state.remove(key) }
    }
  }

  /// Gives all renditions of a poster the metadata that its server has confirmed.
  func renew(_ poster: CacheKey, _ metadata: PosterMetadata) {
    state.withLock { state in
      for (key, value) in state.entries where key.poster == poster {
        state.entries[key]?.entry = BitmapEntry(
          image: value.entry.image, metadata: metadata, bodyHash: value.entry.bodyHash)
      }
    }
  }

  /// Evicts until at most `bytes` are kept, or only pinned ones.
  public func trim(toBytes bytes: Int) {
    state.withLock { $0.trim(to: bytes) }
  }

  /// Evicts everything but pinned ones.
  public func removeAll() {
    trim(toBytes: 0)
  }

  /// The bytes kept now; never more than the limit.
  public var totalBytes: Int { state.withLock { $0.total } }

  /// Those of pinned ones.
  public var pinnedBytes: Int { state.withLock { $0.pinned } }

  /// The number of bitmaps kept now.
  public var count: Int { state.withLock { $0.entries.count } }
}
