import Glibc

/// Knows which transfers curl makes through a proxy, which it does not tell itself.
///
/// curl takes the proxy from its option, else from the variables `http_proxy` (lower case only),
/// `https_proxy`, `all_proxy` and the latter's upper-case names; `no_proxy` makes exceptions from all of
/// them. An empty variable counts as none. This follows `noproxy.c`, `url.c` and `getenv.c` of libcurl
/// 7.88.
struct ProxyRule {
  /// Whether requests to http and https addresses have a proxy at all.
  private let forHTTP: Bool
  private let forHTTPS: Bool
  /// Hosts that are asked directly, as `no_proxy` lists them; `nil` if there is no such list.
  let exceptions: String?

  /// - Parameters:
  ///   - proxy: the configured one, which may be empty for none.
  ///   - environment: the value of a variable.
  init(proxy: String?, environment: (String) -> String?) {
    func value(_ names: [String]) -> String? {
      names.lazy.compactMap(environment).first { !$0.isEmpty }
    }
    func named(_ names: [String]) -> Bool {
      (proxy ?? value(names))?.isEmpty == false
    }
    forHTTP = named(["http_proxy", "all_proxy", "ALL_PROXY"])
    forHTTPS = named(["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
    exceptions = value(["no_proxy", "NO_PROXY"])
  }

  /// Whether there is a proxy for anything.
  var isNeeded: Bool { forHTTP || forHTTPS }

  /// Whether curl asks a proxy for what is on `host`; an IPv6 address has its brackets.
  func hasProxy(host: String, isSecure: Bool) -> Bool {
    guard isSecure ? forHTTPS : forHTTP else { return false }
    guard let exceptions else { return true }
    if exceptions == "*" { return false }
    return !exceptions.split { $0 == "," || $0 == " " || $0 == "\t" }
      .contains { Self.matches(host, $0) }
  }

  private static func matches(_ host: String, _ pattern: Substring) -> Bool {
    if host.hasPrefix("[") {
      return isInNetwork(String(host.dropFirst().prefix { $0 != "]" }), pattern, AF_INET6)
    }
    if bytes(host, AF_INET) != nil { return isInNetwork(host, pattern, AF_INET) }
    // Suffixes, at a dot; dots at either end of a pattern, and at a name's end, do not count.
    var pattern = pattern.lowercased()[...]
    if pattern.hasSuffix(".") { pattern = pattern.dropLast() }
    if pattern.hasPrefix(".") { pattern = pattern.dropFirst() }
    var name = host.lowercased()[...]
    if name.hasSuffix(".") { name = name.dropLast() }
    return name == pattern || name.hasSuffix("." + pattern)
  }

  /// Whether `address` is in the network `pattern`: an address, or one and a number of bits.
  private static func isInNetwork(
    _ address: String, _ pattern: Substring, _ family: CInt
  ) -> Bool {
    let parts = pattern.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let own = bytes(address, family), let network = bytes(String(parts[0]), family) else {
      return false
    }
    // curl takes 0 bits for all of them.
    var bits = parts.count == 2 ? Int(parts[1].prefix { $0.isNumber }) ?? 0 : 0
    if bits == 0 { bits = own.count * 8 }
    guard bits <= own.count * 8 else { return false }
    let whole = bits / 8
    guard own[..<whole] == network[..<whole] else { return false }
    let rest = bits % 8
    return rest == 0 || (own[whole] ^ network[whole]) >> (8 - rest) == 0
  }

  private static func bytes(_ text: String, _ family: CInt) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16)
    return inet_pton(family, text, &buffer) == 1 ? buffer : nil
  }
}
