import FoundationEssentials

extension PosterMetadata {
  /// What is known about a picture that its server has confirmed with the 304 whose headers these are
  /// (RFC 9111, sections 3.2 and 4.3.4): what they say replaces what was known, the rest stays.
  ///
  /// - Returns: `nil` if the 304 is about another picture: its `ETag` is not the one asked about, weakly
  ///   compared (RFC 9110, section 8.8.3.2), or, without such tags, its `Last-Modified` is not.
  func confirmed(
    by headers: ResponseHeaders, freshness: Freshness, receivedAt: Date, fields: RequestFields
  ) -> PosterMetadata? {
    if let etag, let other = headers.etag {
      guard Self.opaque(etag) == Self.opaque(other) else { return nil }
    } else if let lastModified, let other = headers.lastModified, lastModified != other {
      // Three formats say the same.
      guard let date = Date(http: lastModified), date == Date(http: other) else { return nil }
    }
    let hasDirectives = headers.cacheControl != nil || headers.pragma != nil
    // Without a word about freshness, what the picture came with stays, and counts anew.
    var lifetime = max(expiresAt.timeIntervalSince(storedAt), 0)
    if freshness.isStated {
      let stated = freshness.expiresAt.timeIntervalSince(receivedAt)
      // Directives that it came with would outweigh an `Expires`, and nobody knows whether it had any.
      lifetime = hasDirectives ? stated : min(lifetime, stated)
    }
    var metadata = PosterMetadata(
      address: address, type: type, etag: headers.etag ?? etag,
      lastModified: headers.lastModified ?? lastModified, storedAt: receivedAt,
      expiresAt: receivedAt.addingTimeInterval(lifetime))
    metadata.staleUse = hasDirectives ? freshness.staleUse : staleUse
    metadata.averageColor = averageColor
    metadata.variant = fields.variant(vary: headers.vary ?? variant?.fields)
    return metadata
  }

  /// An entity tag without its weakness mark.
  private static func opaque(_ etag: String) -> Substring {
    etag.hasPrefix("W/") ? etag.dropFirst(2) : etag[...]
  }
}
