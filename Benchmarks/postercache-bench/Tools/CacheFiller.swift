import PosterCache

/// Puts many posters into a cache.
enum CacheFiller {
  /// Half of what the disk tier lets wait.
  private static let maximumWaitingBytes = 16 << 20
  /// What a record takes beside its body, at most.
  private static let overheadBytes = 8192

  /// Inserts `posters` no faster than they are stored, and waits until all of them are committed.
  static func insert(_ posters: some Sequence<StoredPoster>, into cache: DiskCache) throws {
    let waiting = Monitor((bytes: 0, failure: PosterError?.none))
    for poster in posters {
      let bytes = poster.body.count + overheadBytes
      waiting.wait(
        untilNanoseconds: { _ in nil }, for: { $0.bytes < maximumWaitingBytes ? () : nil })
      waiting.withLock { $0.bytes += bytes }
      cache.insert(poster) { result in
        waiting.withLock { waiting in
          waiting.bytes -= bytes
          if case .failure(let error) = result { waiting.failure = error }
        }
        waiting.signal()
      }
    }
    try cache.flush()
    if let failure = waiting.withLock({ $0.failure }) { throw failure }
  }
}
