import FoundationEssentials

/// A list page as it is kept: what its server said about it, and its bytes.
struct StoredPage: Sendable {
  var metadata: PageMetadata
  var body: PosterBody
}

/// What is known about a stored list page besides its bytes.
struct PageMetadata: Sendable, Hashable {
  /// The canonical address it was asked for under, without any credential.
  var address: PosterAddress
  /// The `ETag` of the response, quotes and weakness mark included, if it had one.
  var etag: String?
  /// The `Last-Modified` of the response as sent, if it had one.
  var lastModified: String?
  /// When the response was received, or confirmed last, in whole milliseconds.
  var storedAt: Date
  /// Until when it may be used without asking the server, in whole milliseconds.
  var expiresAt: Date
  /// How it may be used after that.
  var staleUse: StaleUse
  /// What the server chose it by, if its answer depends on more than the address.
  var variant: Variant?

  /// Both dates are rounded to whole milliseconds, as they are stored.
  init(
    address: PosterAddress, etag: String? = nil, lastModified: String? = nil, storedAt: Date,
    expiresAt: Date, staleUse: StaleUse = StaleUse(), variant: Variant? = nil
  ) {
    self.address = address
    self.etag = etag
    self.lastModified = lastModified
    self.storedAt = Date(milliseconds: storedAt.milliseconds)
    self.expiresAt = Date(milliseconds: expiresAt.milliseconds)
    self.staleUse = staleUse
    self.variant = variant
  }
}
