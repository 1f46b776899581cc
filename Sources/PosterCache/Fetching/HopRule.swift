/// Decides, request by request of one transfer, whether where it is about to go is where it may go.
///
/// A public name or a redirect must not lead to a private address: the server of a list could have
/// this machine ask its own network for anything. What is private by its own name is the user's choice
/// for the first request; a redirect from there may stay with the same kind of place.
struct HopRule {
  /// Where a request is about to go.
  struct Hop {
    /// The class that the host's name has by itself.
    var named: AddressClass
    /// The class of the address that the connection leads to; `nil` behind a proxy, where that is the
    /// proxy's.
    var connected: AddressClass?
    /// Whether the configuration itself says where the name leads.
    var isOverridden = false
  }

  /// Where the request before the last redirect went; `nil` before any.
  private var previous: AddressClass?
  private var current: AddressClass?
  /// Whether a redirect has been followed. Nobody may have been judged, as where all may go everywhere.
  private(set) var isRedirected = false

  /// Whether the request may go there. A request that is sent again, on another connection, is judged
  /// again.
  mutating func mayGo(to hop: Hop) -> Bool {
    let reached = hop.connected ?? hop.named
    current = reached
    if reached == .global { return true }
    guard let previous else { return hop.named != .global || hop.isOverridden }
    return previous == reached
  }

  /// The answer was a redirect.
  mutating func redirectWasReceived() {
    previous = current
    isRedirected = true
  }
}
