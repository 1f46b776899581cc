import FoundationEssentials

/// A list page's metadata: the same fields, but for the kind of picture.
extension RecordMetadata {
  /// The fields of `page`, or `nil` if a text is too long to be stored.
  static func bytes(of page: PageMetadata) -> [UInt8]? {
    let texts = [page.address.canonical, page.etag, page.lastModified, page.variant?.fields]
    guard texts.allSatisfy({ $0?.utf8.count ?? 0 <= Int(UInt16.max) - 8 }) else { return nil }
    var bytes: [UInt8] = []
    append(.address, page.address.canonical, to: &bytes)
    if let etag = page.etag { append(.entityTag, etag, to: &bytes) }
    if let lastModified = page.lastModified { append(.lastModified, lastModified, to: &bytes) }
    append(.storedAt, page.storedAt.milliseconds, to: &bytes)
    append(.expiresAt, page.expiresAt.milliseconds, to: &bytes)
    if page.staleUse != StaleUse() { append(page.staleUse, to: &bytes) }
    if let variant = page.variant { append(variant, to: &bytes) }
    return bytes
  }

  /// Reads `bytes`, or returns `nil` if a field that must be there is not.
  static func page(in bytes: UnsafeRawBufferPointer) -> PageMetadata? {
    var address: PosterAddress?
    var etag: String?
    var lastModified: String?
    var storedAt: Int64?
    var expiresAt: Int64?
    var staleUse: StaleUse? = StaleUse()
    var variant: Variant??
    let isWellFormed = forEachField(bytes) { tag, value in
      switch Tag(rawValue: tag) {
      case .address: address = PosterAddress(canonicalBytes: value)
      case .entityTag: etag = String(decoding: value, as: UTF8.self)
      case .lastModified: lastModified = String(decoding: value, as: UTF8.self)
      case .storedAt: storedAt = integer(value)
      case .expiresAt: expiresAt = integer(value)
      case .staleUse: staleUse = Self.staleUse(value)
      case .variant: variant = .some(Self.variant(value))
      case .contentType, nil: break
      }
    }
    guard isWellFormed, let address, let storedAt, let expiresAt, let staleUse else { return nil }
    if let variant, variant == nil { return nil }
    return PageMetadata(
      address: address, etag: etag, lastModified: lastModified,
      storedAt: Date(milliseconds: storedAt), expiresAt: Date(milliseconds: expiresAt),
      staleUse: staleUse, variant: variant ?? nil)
  }
}
