/// Average colours, for placeholders: they are kept in the index, where no picture has to be read for them.
extension DiskCache {
  /// The average colour of the poster that is stored for `request`; `nil` also if it has not been decoded
  /// since it was stored. Reads the index alone, and counts as no use.
  public func averageColor(of request: PosterRequest) -> PosterColor? {
    guard !ForkGuard.isInChild else { return nil }
    if let unwritten = writer.unwritten(request.key) { return unwritten.metadata.averageColor }
    // An index that cannot be read is told by those who look for a picture.
    let row = try? index.read { rows throws(PosterError) in try rows.entry(request.key) }
    return row?.averageColor
  }

  /// Notes the average colour of `poster`, if that is what is stored when the note is written, and has
  /// none yet. No use; dropped where too many notes wait.
  func noteAverageColor(_ color: PosterColor, of poster: StoredPoster) {
    guard !ForkGuard.isInChild else { return }
    writer.noteColor(ColorNote(color, of: poster))
  }
}
