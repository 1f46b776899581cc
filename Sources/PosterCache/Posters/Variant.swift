/// Which of several answers for one address a stored one is (`Vary`: RFC 9111, section 4.1).
public struct Variant: Sendable, Hashable {
  /// The names of the request's header fields that the server chose by: in lower case, sorted, joined
  /// by commas; `*` for anything at all, which no further request matches.
  public var fields: String
  /// XXH3-64 of the values that the request had for them.
  public var hash: UInt64

  public init(fields: String, hash: UInt64) {
    self.fields = fields
    self.hash = hash
  }
}
