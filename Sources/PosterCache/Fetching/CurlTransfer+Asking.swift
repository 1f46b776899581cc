import CCurl

/// Where transfers go, and what curl knows of them.
extension CurlTransfer {
  /// A connection is there. Judges where it leads; `false` stops the transfer before anything is sent.
  ///
  /// - Parameter peer: the connection's other end as text: the proxy, if there is one.
  func willSendRequest(peer: UnsafePointer<CChar>?) -> Bool {
    guard options.configuration.allowsPrivateAddresses || mayGo(to: peer) else { return false }
    progress.requestWasSent(now: monotonicNanoseconds())
    return true
  }

  private func mayGo(to peer: UnsafePointer<CChar>?) -> Bool {
    let place = peer.map { String(cString: $0) } ?? ""
    // Nothing is known of what is no address.
    let connected = AddressClass(literal: place) ?? .unusable
    let hop: HopRule.Hop
    if connected == .global, !options.proxies.isNeeded {
      // Nearly always: a look at the host would say nothing that counts.
      hop = HopRule.Hop(named: .global, connected: .global)
    } else {
      let (host, port, isSecure) = nextHost
      let hasProxy = options.proxies.hasProxy(host: host, isSecure: isSecure)
      hop = HopRule.Hop(
        named: AddressClass(host: host), connected: hasProxy ? nil : connected,
        isOverridden: options.isOverridden(host: host, port: port))
      if !hops.mayGo(to: hop) {
        forbiddenPlace = hasProxy ? host : place
        return false
      }
      return true
    }
    return hops.mayGo(to: hop)
  }

  /// Whom the next request goes to, or the last one went to.
  private var nextHost: (host: String, port: Int, isSecure: Bool) {
    if !hops.isRedirected, let address { return (address.host, address.port, address.isSecure) }
    let text = effectiveAddress
    // curl's own parser: whatever it made of a redirect is where it goes.
    let parts = curl_url()
    defer { curl_url_cleanup(parts) }
    guard curl_url_set(parts, CURLUPART_URL, text, 0) == CURLUE_OK else { return ("", 0, false) }
    func part(_ part: CURLUPart) -> String {
      var value: UnsafeMutablePointer<CChar>?
      guard curl_url_get(parts, part, &value, UInt32(CURLU_DEFAULT_PORT)) == CURLUE_OK, let value
      else { return "" }
      defer { curl_free(value) }
      return String(cString: value)
    }
    return (
      part(CURLUPART_HOST).lowercased(), Int(part(CURLUPART_PORT)) ?? 0,
      part(CURLUPART_SCHEME) == "https"
    )
  }

  /// Remembers which version of HTTP the server speaks.
  func noteVersion() {
    guard let address, address.isSecure, !hops.isRedirected, headers.status != 0 else { return }
    options.serverDidAnswer(address, withHTTP2: negotiatedHTTP2)
  }

  /// Whether the last response came over HTTP/2.
  var negotiatedHTTP2: Bool { long(CURLINFO_HTTP_VERSION) == CURL_HTTP_VERSION_2_0 }

  /// Connections opened for the last transfer, redirects included.
  var connectionCount: Int { long(CURLINFO_NUM_CONNECTS) }

  /// The `errno` of the last failed connection, or 0.
  var systemErrorNumber: CInt { CInt(truncatingIfNeeded: long(CURLINFO_OS_ERRNO)) }

  /// Whether a connection was there to send the request on.
  var wasConnected: Bool { size(CURLINFO_PRETRANSFER_TIME_T) > 0 }

  /// How long the transfer took.
  var elapsedSeconds: Double { Double(size(CURLINFO_TOTAL_TIME_T)) / 1_000_000 }

  /// The address of the last request, as curl has it.
  var effectiveAddress: String {
    var text: UnsafePointer<CChar>?
    guard postercache_curl_get_string(handle, CURLINFO_EFFECTIVE_URL, &text) == CURLE_OK, let text
    else { return "" }
    return String(cString: text)
  }

  /// Whom the last request went to: after a redirect not the host that was asked first.
  var peer: (host: String, port: Int) {
    let (host, port, _) = nextHost
    return host.isEmpty ? ("the server", 0) : (host, port)
  }

  /// The same in words, and whether a proxy is in between, which may be what cannot be reached.
  var peerName: String {
    let (host, port, isSecure) = nextHost
    let hasProxy = options.proxies.hasProxy(host: host, isSecure: isSecure)
    return host.isEmpty
      ? "the server" : "\(host):\(port)" + (hasProxy ? " through the proxy" : "")
  }

  /// Whether a part of a picture has come.
  var hasBegunBody: Bool { receivedCount > 0 && [200, 203, 206].contains(headers.status) }

  func long(_ info: CURLINFO) -> Int {
    var value = 0
    let code = postercache_curl_get_long(handle, info, &value)
    precondition(code == CURLE_OK, "curl_easy_getinfo failed with \(code.rawValue)")
    return value
  }

  func size(_ info: CURLINFO) -> Int {
    var value: curl_off_t = 0
    let code = postercache_curl_get_size(handle, info, &value)
    precondition(code == CURLE_OK, "curl_easy_getinfo failed with \(code.rawValue)")
    return value
  }
}
