/// What is to be transferred, and how urgently.
package struct FetchRequest: Sendable {
  /// What is expected behind the address.
  package enum Kind: Sendable, Hashable {
    /// A JPEG, PNG or WebP; everything else is an error.
    case picture
    /// A list page, asked for with a credential; every status is an answer.
    case page(Credential?)
  }

  /// What names a version of what is behind an address (RFC 9110, section 8.8).
  package struct Validators: Sendable, Hashable {
    /// The `ETag` and the `Last-Modified`, as the server sent them.
    package var etag: String?
    package var lastModified: String?
  }

  /// The address that names it, without any credential.
  package var address: PosterAddress
  /// Where it is: ``address``, and what a rule leaves out of that. No message names it.
  package var source: PosterAddress
  /// The name of `address`.
  package var key: CacheKey
  /// How urgently it is wanted.
  package var priority: Priority
  /// What is expected.
  package var kind: Kind
  /// What is in the cache and may still be right: the request becomes conditional (RFC 9110, section
  /// 13), and is answered with this picture if the server says that it has not changed.
  package var stored: StoredPoster?
  /// What names the version of a page that is in the cache and may still be right: the request becomes
  /// conditional, and a 304 is an answer.
  package var pageValidators: Validators?
  /// Whether caches on the way must ask the server, too (`Cache-Control: no-cache`).
  package var isRefresh = false
  /// Asked once on the fetch thread when this request's turn has come: what arrived for the same picture
  /// since the caller looked for it in vain. The request is answered with that instead of a transfer.
  package var arrivedMeanwhile: (@Sendable () -> FetchResponse?)?

  /// What names the version that is in the cache, if one is asked about.
  var validators: Validators? {
    guard kind == .picture else { return pageValidators }
    return stored.map {
      Validators(etag: $0.metadata.etag, lastModified: $0.metadata.lastModified)
    }
  }

  /// A request for `address`, whose key is computed unless it is known already.
  package init(
    _ address: PosterAddress, key: CacheKey? = nil, priority: Priority = .visible,
    kind: Kind = .picture, source: PosterAddress? = nil
  ) {
    self.address = address
    self.source = source ?? address
    self.key = key ?? CacheKey(address)
    self.priority = priority
    self.kind = kind
  }

  /// The same request for a picture as the pipeline knows it.
  package init(_ request: PosterRequest) {
    self.init(
      request.address, key: request.key, priority: request.priority, source: request.source)
  }
}
