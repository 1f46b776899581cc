import CCurl

extension FetchConfiguration {
  /// Throws ``PosterError/Code/invalidConfiguration`` where a value is out of its range.
  func validate() throws(PosterError) {
    func check(_ isValid: Bool, _ message: @autoclosure () -> String) throws(PosterError) {
      guard isValid else { throw PosterError(.invalidConfiguration, message()) }
    }
    try check(
      (1...256).contains(connectionsPerHost),
      "connections per host must be 1 to 256, not \(connectionsPerHost)")
    if let rate = requestsPerSecond {
      try check(
        rate >= 0.001 && rate <= 1_000_000,
        "requests per second must be 0.001 to 1000000, not \(rate)")
    }
    for (name, seconds) in [
      ("time-out", timeoutSeconds), ("connect time-out", connectTimeoutSeconds),
      ("stall time-out", Double(stallTimeoutSeconds)),
    ] {
      try check(
        seconds >= 0.001 && seconds <= 1_000_000,
        "the \(name) must be 0.001 to 1000000 seconds, not \(seconds)")
    }
    try check((1...10).contains(tries), "tries must be 1 to 10, not \(tries)")
    try check(
      (1...1 << 30).contains(maximumBodyBytes),
      "the largest body must be 1 byte to 1 GiB, not \(maximumBodyBytes)")
    for text in [proxy, certificateAuthoritiesFile, userAgent] + connectTo + resolve {
      try check(
        text?.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } ?? true,
        "control characters in the proxy, user agent or an address")
      // curl refuses strings of more than 8 MB; nothing here is a hundredth of that on purpose.
      try check(
        text?.utf8.count ?? 0 <= PosterAddress.maximumLength,
        "the proxy, user agent or an address is longer than \(PosterAddress.maximumLength) bytes")
    }
    try check(
      Self.isUsable(proxy: proxy ?? ""),
      "a proxy's address begins with http, https, socks4, socks4a, socks5 or socks5h, not as"
        + " \(PosterAddress.redacted(proxy ?? ""))")
  }

  /// Whether curl can make something of `proxy`, which may lack its scheme or be empty for none.
  private static func isUsable(proxy: String) -> Bool {
    if proxy.isEmpty { return true }
    let parts = curl_url()
    defer { curl_url_cleanup(parts) }
    let flags = UInt32(CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME)
    var scheme: UnsafeMutablePointer<CChar>?
    guard curl_url_set(parts, CURLUPART_URL, proxy, flags) == CURLUE_OK,
      curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK, let scheme
    else { return false }
    defer { curl_free(scheme) }
    return ["http", "https", "socks", "socks4", "socks4a", "socks5", "socks5h"]
      .contains(String(cString: scheme))
  }
}
