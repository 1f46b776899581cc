import CCurl

/// What all transfers of one fetcher have in common, in the form in which curl wants it.
///
/// Used on the fetch thread only; must outlive every handle it was applied to.
final class CurlOptions {
  /// The limits, time-outs and addresses.
  let configuration: FetchConfiguration
  /// Request headers for a list page.
  let pageHeaders: UnsafeMutablePointer<curl_slist>?

  private let pictureHeaders: UnsafeMutablePointer<curl_slist>?
  private let connectTo: UnsafeMutablePointer<curl_slist>?
  private let share: UnsafeMutableRawPointer
  private let sockets: SocketCallbacks

  /// How curl opens and closes sockets.
  struct SocketCallbacks {
    var open: curl_opensocket_callback
    var close: curl_closesocket_callback
    var context: UnsafeMutableRawPointer
  }

  init(_ configuration: FetchConfiguration, sockets: SocketCallbacks) {
    self.configuration = configuration
    self.sockets = sockets
    // The three kinds we accept, none preferred: the server knows what it has. The rest is for
    // servers that would rather answer 406 than send what they have.
    pictureHeaders = Self.list(["Accept: image/jpeg,image/png,image/webp,*/*;q=0.1"])
    pageHeaders = Self.list(["Accept: application/json"])
    connectTo = Self.list(configuration.connectTo)
    // Sessions belong to a handle unless shared: without this, each handle would handshake in full.
    // One thread uses them all, so that no lock functions are needed.
    share = curl_share_init()!  // fails only for want of memory
    let code = postercache_curl_share(share, CURL_LOCK_DATA_SSL_SESSION)
    precondition(code == CURLSHE_OK, "curl_share_setopt failed with \(code.rawValue)")
  }

  deinit {
    // Refused while a handle uses it; each handle's owner keeps these options until it is gone.
    let code = curl_share_cleanup(share)
    precondition(code == CURLSHE_OK, "curl_share_cleanup failed with \(code.rawValue)")
    curl_slist_free_all(pictureHeaders)
    curl_slist_free_all(pageHeaders)
    curl_slist_free_all(connectTo)
  }

  /// Sets everything for a picture but its address. The strings have been validated with the
  /// configuration.
  func apply(to handle: UnsafeMutableRawPointer) {
    func set(_ option: CURLoption, _ value: Int) {
      check(postercache_curl_set_long(handle, option, value))
    }
    func set(_ option: CURLoption, _ value: String?) {
      check(postercache_curl_set_string(handle, option, value))
    }
    set(CURLOPT_NOSIGNAL, 1)
    // Refused while the buffer of a transfer that never connected is still there; that one has
    // this size already, and outlives curl_easy_reset.
    let code = postercache_curl_set_long(handle, CURLOPT_BUFFERSIZE, 128 << 10)
    if code != CURLE_BAD_FUNCTION_ARGUMENT { check(code) }
    // Without it, removing a handle waits for its resolver thread.
    set(CURLOPT_QUICK_EXIT, 1)
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https")
    set(CURLOPT_FOLLOWLOCATION, 1)
    set(CURLOPT_MAXREDIRS, CurlTransfer.maximumRedirects)
    set(CURLOPT_TIMEOUT_MS, Self.milliseconds(configuration.timeoutSeconds))
    set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(configuration.connectTimeoutSeconds))
    set(CURLOPT_LOW_SPEED_LIMIT, 1)
    set(CURLOPT_LOW_SPEED_TIME, configuration.stallTimeoutSeconds)
    set(CURLOPT_USERAGENT, configuration.userAgent)
    if let proxy = configuration.proxy { set(CURLOPT_PROXY, proxy) }
    if let file = configuration.certificateAuthoritiesFile { set(CURLOPT_CAINFO, file) }
    check(postercache_curl_set_pointer(handle, CURLOPT_HTTPHEADER, pictureHeaders))
    if let connectTo {
      check(postercache_curl_set_pointer(handle, CURLOPT_CONNECT_TO, connectTo))
    }
    check(postercache_curl_set_pointer(handle, CURLOPT_SHARE, share))
    check(
      postercache_curl_set_sockets(handle, sockets.open, sockets.close, sockets.context))
  }

  /// Whole milliseconds, at least 1: curl takes 0 for no limit.
  private static func milliseconds(_ seconds: Double) -> Int {
    max(Int((seconds * 1000).rounded(.up)), 1)
  }

  private static func list(_ lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
    lines.reduce(nil) { curl_slist_append($0, $1) }
  }
}
