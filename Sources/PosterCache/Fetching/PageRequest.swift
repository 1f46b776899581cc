/// A list page to load: JSON from an API, through the same connections and limits as the posters.
public struct PageRequest: Sendable {
  /// The page's address, without any credential.
  public var address: PosterAddress
  /// What authorises the request; sent to the address' own host only.
  public var credential: Credential?
  /// How urgently it is wanted. Default ``Priority/visible``: somebody waits for the list. Where nobody
  /// looks, a lower one keeps pages from holding prefetches back.
  public var priority = Priority.visible
  /// For how long the page counts as fresh at least, in seconds, whatever its server says: for what hardly
  /// ever changes. Default `nil`: as its headers say.
  public var leastLifetimeSeconds: Double?
  /// How the cache is used; `nil` (the default) for as the pipeline is configured. One that is offline stays so.
  public var mode: CacheMode?

  public init(address: PosterAddress, credential: Credential? = nil) {
    self.address = address
    self.credential = credential
  }
}

/// A secret that authorises a request. It never appears in a message, a key or the cache.
public enum Credential: Sendable, Hashable {
  /// A token for `Authorization: Bearer`.
  case bearerToken(String)
  /// A value for the query parameter `api_key`.
  case apiKey(String)
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible {
  /// The kind of credential, without its value.
  public var description: String {
    switch self {
    case .bearerToken: "bearer token"
    case .apiKey: "API key"
    }
  }
  /// The same as ``description``: a debugger's log is a log, too.
  public var debugDescription: String { description }
}

/// What the server answers to a ``PageRequest``, whatever its status.
public struct PageResponse: Sendable {
  /// The HTTP status; 200 for a page.
  public var status: Int
  /// The body: the page, or the server's explanation.
  public var body: PosterBody
  /// Where the page came from: ``Poster/Source/network``, or the disk tier
  /// (``Poster/Source/disk``, ``Poster/Source/revalidated``, ``Poster/Source/stale``).
  public var source: Poster.Source

  public init(status: Int, body: PosterBody, source: Poster.Source = .network) {
    self.status = status
    self.body = body
    self.source = source
  }
}
