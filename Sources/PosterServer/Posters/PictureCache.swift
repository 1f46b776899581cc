import PosterCache

/// Encoded pictures that have been asked for lately, so that an origin draws each only once.
///
/// Two generations: what is used moves to the young one, and when that is full the old one is
/// dropped. Any thread.
final class PictureCache: Sendable {
  /// A picture as it is sent.
  struct Picture {
    let bytes: StableBytes
    /// A strong validator that follows from the bytes.
    let etag: String
  }

  private struct Key: Hashable {
    let name: String
    let frame: PictureFrame
  }

  private struct Generations {
    var young: [Key: Picture] = [:]
    var old: [Key: Picture] = [:]
    var youngBytes = 0
  }

  private let generations = Lock(Generations())
  private let generationLimitBytes: Int

  /// - Parameter limitBytes: for the bytes of all pictures together; default 256 MiB, enough for
  ///   3,000 posters of size w342.
  init(limitBytes: Int = 256 << 20) {
    generationLimitBytes = limitBytes / 2
  }

  /// The picture called `name`, a valid name, drawn now if it has not been lately.
  func picture(name: String, frame: PictureFrame) -> Picture {
    let key = Key(name: name, frame: frame)
    let known = generations.withLock { generations -> Picture? in
      if let picture = generations.young[key] { return picture }
      guard let picture = generations.old[key] else { return nil }
      insert(picture, for: key, into: &generations)
      return picture
    }
    if let known { return known }
    // Drawn outside the lock; two threads that draw the same one at the same time do no harm.
    let bytes = StableBytes(DemoPoster.encode(name: name, frame: frame))
    let picture = Picture(bytes: bytes, etag: bytes.etag)
    generations.withLock { insert(picture, for: key, into: &$0) }
    return picture
  }

  private func insert(_ picture: Picture, for key: Key, into generations: inout Generations) {
    if generations.youngBytes + picture.bytes.count > generationLimitBytes {
      generations.old = generations.young
      generations.young = [:]
      generations.youngBytes = 0
    }
    if generations.young.updateValue(picture, forKey: key) == nil {
      generations.youngBytes += picture.bytes.count
    }
  }
}
