/// How transfers are made. The defaults suit TMDB's hosts.
public struct FetchConfiguration: Sendable, Hashable {
  /// Transfers at once to one host, 1-256. Default 16.
  public var connectionsPerHost = 16
  /// Requests started per second to one host, or `nil` for no limit. Default `nil`: the limit of
  /// TMDB's hosts, 40 a second, is applied to those hosts alone; loopback has none.
  public var requestsPerSecond: Double?
  /// Longest duration of one whole transfer, in seconds. Default 60.
  public var timeoutSeconds = 60.0
  /// Longest duration of resolving and connecting, in seconds. Default 10.
  public var connectTimeoutSeconds = 10.0
  /// A transfer slower than 1 byte per second for this many seconds has stalled. Default 15.
  public var stallTimeoutSeconds = 15
  /// How often one request is tried, the first time included, 1-10. Default 3.
  public var tries = 3
  /// Largest picture accepted, 1 byte to 1 GiB, in bytes. Default 32 MiB. A list page may have 32 MiB in any
  /// case.
  public var maximumBodyBytes = 32 << 20
  /// A proxy for every transfer, instead of the ones that the environment names (`http_proxy`,
  /// `https_proxy`, `all_proxy`); empty for none. Hosts that the variable `no_proxy` lists are asked
  /// directly in either case.
  public var proxy: String?
  /// Whether public names, and redirects from public addresses, may lead to private ones: loopback,
  /// private networks, the link. Default no. An address that is private by its own name (`localhost`,
  /// `nas.local`, `192.168.1.2`, one without a dot) or by ``connectTo`` may be asked for in any case.
  public var allowsPrivateAddresses = false
  /// Which versions of HTTP to speak. Default ``HTTPVersion/automatic``.
  public var httpVersion = HTTPVersion.automatic
  /// A PEM file of certificate authorities to trust instead of the system's.
  public var certificateAuthoritiesFile: String?
  /// `from-host:from-port:to-host:to-port`: addresses to connect to instead of those that the names
  /// resolve to (curl's `CURLOPT_CONNECT_TO`).
  public var connectTo: [String] = []
  /// The `User-Agent` header. Default `postercache/` and the version.
  public var userAgent = "postercache/\(postercacheVersion)"
  /// How many transfers that nobody waits for may be in flight to one host.
  package var prefetchWindow = PrefetchWindow.Policy.adaptive(share: 1)
  /// `host:port:address,address`: what names resolve to (curl's `CURLOPT_RESOLVE`). Unlike
  /// ``connectTo``, this counts as what a name server says.
  package var resolve: [String] = []
  /// Whether to speak HTTP/2 to http addresses without asking: no server on the Internet does.
  package var usesHTTP2WithoutTLS = false

  public init() {}
}

/// Which versions of HTTP transfers speak.
public enum HTTPVersion: Sendable, Hashable {
  /// HTTP/2 with https servers that offer it, else HTTP/1.1.
  case automatic
  /// HTTP/1.1 only.
  case http1
}

/// The version of the library and the command.
public let postercacheVersion = "0.1.0"

extension FetchConfiguration {
  /// The largest body accepted of a kind, in bytes.
  func maximumBytes(of kind: FetchRequest.Kind) -> Int {
    switch kind {
    case .picture: maximumBodyBytes
    case .page: max(maximumBodyBytes, 32 << 20)
    }
  }
}
