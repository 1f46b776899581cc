/// How a request uses the cache.
public enum CacheMode: String, Sendable, Hashable, CaseIterable {
  /// As RFC 9111 says: what is fresh is used, what has expired is asked for again.
  case normal
  /// The server is asked whatever is stored, and so are caches on the way; a picture that it confirms
  /// is not transferred again. Nothing stands in for its answer if it cannot be had.
  case refresh
  /// The network is never used. What is stored is used also after it has expired, unless its server
  /// forbade that.
  case offline
}
