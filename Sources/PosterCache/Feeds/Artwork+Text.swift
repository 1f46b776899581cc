extension Artwork {
  /// A picture as lists write it: a whole http or https address, or a poster's path (`/abc.jpg`).
  /// Surrounding white space is dropped.
  ///
  /// - Throws: ``PosterError/Code/invalidAddress`` for anything else, as an address without a scheme
  ///   (`//host/abc.jpg`), or a path that leaves its image host's directory.
  init(text: some StringProtocol) throws(PosterError) {
    let text = text.withoutSurroundingWhitespace
    guard text.utf8.first == UInt8(ascii: "/"), text.utf8.dropFirst().first != UInt8(ascii: "/")
    else {
      self = .address(try PosterAddress(String(text)))
      return
    }
    self = .path(String(text), .poster)
    if let flaw { throw flaw }
  }

  /// Why there can be no such picture; `nil` for one that can be asked for.
  var flaw: PosterError? {
    guard case .path(let path, let kind) = self else { return nil }
    // The image host is not known yet; what leads out of a size of this one does so on every host.
    let size = "\(PosterAddress.tmdbImages.canonical)\(PosterSize.original)/"
    guard request(size: .original)?.address.canonical.hasPrefix(size) != true else { return nil }
    return PosterError(
      .invalidAddress,
      "not a usable \(kind.rawValue) path: \(ServerWords.oneLine(PosterAddress.redacted(path)))")
  }

  /// What tells this picture from others, the same for each of its sizes; `nil` for a path that is none.
  var key: CacheKey? { request(size: .original)?.key }
}

extension StringProtocol {
  /// The same without white space of any kind before and behind it.
  var withoutSurroundingWhitespace: SubSequence {
    let isSpace: (Unicode.Scalar) -> Bool = { $0.properties.isWhitespace || $0 == "\u{FEFF}" }
    let rest = unicodeScalars.drop(while: isSpace)
    guard let last = rest.lastIndex(where: { !isSpace($0) }) else {
      return self[endIndex..<endIndex]
    }
    return self[rest.startIndex..<rest.index(after: last)]
  }
}
