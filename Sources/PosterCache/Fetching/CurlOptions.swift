import CCurl
import Glibc

/// What all transfers of one fetcher have in common, in the form in which curl wants it.
///
/// Used on the fetch thread only; must outlive every handle it was applied to.
final class CurlOptions {
  /// The limits, time-outs and addresses.
  let configuration: FetchConfiguration
  /// Request headers for a list page.
  let pageHeaders: UnsafeMutablePointer<curl_slist>?

  /// Request headers for a picture.
  let pictureHeaders: UnsafeMutablePointer<curl_slist>?
  /// Which transfers have a proxy. The environment is read once.
  let proxies: ProxyRule

  private let connectTo: UnsafeMutablePointer<curl_slist>?
  private let resolve: UnsafeMutablePointer<curl_slist>?
  /// What `connectTo` overrides: a host and a port, each `nil` for any.
  private let overrides: [(host: String?, port: Int?)]
  /// https servers that have not offered HTTP/2.
  private var http1Servers: Set<Server> = []

  private struct Server: Hashable {
    var host: String
    var port: Int
  }
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
    pictureHeaders = Self.list([Self.pictureAccept])
    pageHeaders = Self.list([Self.pageAccept])
    connectTo = Self.list(configuration.connectTo)
    resolve = Self.list(configuration.resolve)
    overrides = configuration.connectTo.map { Self.overridden(by: $0) }
    proxies = ProxyRule(proxy: configuration.proxy) { name in
      getenv(name).map { String(cString: $0) }
    }
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
    curl_slist_free_all(resolve)
  }

  static let pictureAccept = "Accept: \(RequestFields.accept)"
  static let pageAccept = "Accept: application/json"

  // MARK: - Servers

  /// Whether the configuration itself says where to connect for `host` and `port`.
  func isOverridden(host: String, port: Int) -> Bool {
    overrides.contains { ($0.host ?? host) == host && ($0.port ?? port) == port }
  }

  /// Whether a transfer should rather wait for a connection that is being made than make another:
  /// right where one connection will serve all. Until a server has shown that it does not speak HTTP/2,
  /// the first connection to it answers that.
  func waitsForConnection(to address: PosterAddress) -> Bool {
    address.isSecure && configuration.httpVersion == .automatic
      && (http1Servers.isEmpty
        || !http1Servers.contains(Server(host: address.host, port: address.port)))
  }

  /// An https server has answered.
  func serverDidAnswer(_ address: PosterAddress, withHTTP2: Bool) {
    let server = Server(host: address.host, port: address.port)
    if withHTTP2 {
      http1Servers.remove(server)
    } else {
      if http1Servers.count >= Self.serversKept { http1Servers = [] }
      http1Servers.insert(server)
    }
  }

  /// Servers remembered; forgetting one costs a handshake.
  private static let serversKept = 1024

  /// The host and port in front of a `connectTo` entry; an IPv6 host has brackets.
  private static func overridden(by entry: String) -> (host: String?, port: Int?) {
    let end =
      entry.hasPrefix("[") ? entry.firstIndex(of: "]") ?? entry.startIndex : entry.startIndex
    let colon = entry[end...].firstIndex(of: ":") ?? entry.endIndex
    let host = entry[..<colon].lowercased()
    let port = entry[colon...].dropFirst().prefix { $0 != ":" }
    return (host.isEmpty ? nil : host, port.isEmpty ? nil : Int(port) ?? -1)
  }

  // MARK: - Applying

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
    let code = postercache_curl_set_long(handle, CURLOPT_BUFFERSIZE, 64 << 10)
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
    if let exceptions = proxies.exceptions { set(CURLOPT_NOPROXY, exceptions) }
    // A proxy's own answer to CONNECT is not the server's.
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    if let file = configuration.certificateAuthoritiesFile {
      set(CURLOPT_CAINFO, file)
      // The directory is the system's, and would be asked as well.
      set(CURLOPT_CAPATH, nil)
    }
    let version =
      switch configuration.httpVersion {
      case .automatic where configuration.usesHTTP2WithoutTLS:
        CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
      case .automatic: CURL_HTTP_VERSION_2TLS
      case .http1: CURL_HTTP_VERSION_1_1
      }
    set(CURLOPT_HTTP_VERSION, version)
    if let resolve { check(postercache_curl_set_pointer(handle, CURLOPT_RESOLVE, resolve)) }
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

  /// A list for curl, which whoever asks for it has to free.
  static func list(_ lines: [String]) -> UnsafeMutablePointer<curl_slist>? {
    lines.reduce(nil) { curl_slist_append($0, $1) }
  }
}
