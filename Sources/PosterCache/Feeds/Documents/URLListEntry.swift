/// The picture that a line of a list names.
struct URLListEntry: Sendable, Hashable {
  let artwork: Artwork
  /// What tells it from others.
  let key: CacheKey

  /// Reads a line; `nil` if it says nothing, as one that is a comment behind white space of other scripts.
  ///
  /// - Throws: ``PosterError/Code/invalidAddress`` if it names no picture; the message is what is wrong.
  init?(_ content: LineSplitter.Line.Content) throws(PosterError) {
    switch content {
    case .overlong:
      throw PosterError(.invalidAddress, "longer than \(LineSplitter.longestLine) bytes")
    case .notText:
      throw PosterError(.invalidAddress, "not UTF-8")
    case .text(let line):
      // A fragment is not part of an address, and no part of a path either; white space before it would
      // become one.
      let hash = line.utf8.firstIndex(of: UInt8(ascii: "#")) ?? line.endIndex
      let text = line[..<hash].withoutSurroundingWhitespace
      guard !text.isEmpty else { return nil }
      artwork = try Artwork(text: text)
      // An address has one, and a path that has none is no artwork.
      guard let key = artwork.key else {
        throw PosterError(.invalidAddress, "not a usable poster path")
      }
      self.key = key
    }
  }
}
