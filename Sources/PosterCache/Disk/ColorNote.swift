/// The average colour of a stored picture, on its way into the index.
struct ColorNote: Sendable {
  let key: CacheKey
  let color: PosterColor
  /// The record that it was read from; of a picture that has just come, what will tell its record.
  private let sequence: UInt64?
  private let storedAt: Int64
  private let bodyLength: Int

  init(_ color: PosterColor, of poster: StoredPoster) {
    key = poster.key
    self.color = color
    sequence = poster.sequence
    storedAt = poster.metadata.storedAt.milliseconds
    bodyLength = poster.body.count
  }

  /// Whether `entry` is that of the picture.
  func isAbout(_ entry: EntryRow) -> Bool {
    if let sequence { return entry.sequence == sequence }
    return entry.storedAt == storedAt && Int(entry.bodyLength) == bodyLength
  }
}
