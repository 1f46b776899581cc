/// A decoded poster as the memory tier keeps it: its pixels, and what decides how long they may be shown.
///
/// Immutable and shared by reference.
final class BitmapEntry: Sendable {
  /// The pixels.
  let image: PosterImage
  /// What is known about the encoded poster: says with ``CachePolicy`` whether the pixels may be used
  /// without looking for it.
  let metadata: PosterMetadata
  /// The XXH3-64 (seed 0) of the encoded poster's body: tells the renditions of one version from those of
  /// the next.
  let bodyHash: UInt64

  init(image: PosterImage, metadata: PosterMetadata, bodyHash: UInt64) {
    self.image = image
    self.metadata = metadata
    self.bodyHash = bodyHash
  }
}
