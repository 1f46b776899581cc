/// How a picture may be used once it has expired (RFC 9111, section 4.2.4, and RFC 5861).
public struct StaleUse: Sendable, Hashable {
  /// Whether it must never be used without asking the server, not even offline or when that fails
  /// (`must-revalidate`, `no-cache`).
  public var isForbidden = false
  /// Seconds after expiry during which it may be used while the server is asked
  /// (`stale-while-revalidate`).
  public var whileRevalidatingSeconds: UInt32 = 0
  /// Seconds after expiry during which it may be used if the server cannot be asked
  /// (`stale-if-error`).
  public var ifErrorSeconds: UInt32 = 0

  public init() {}
}
