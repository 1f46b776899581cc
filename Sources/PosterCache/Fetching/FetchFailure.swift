import CCurl
import Glibc

/// A failed transfer in words, and whether trying again may help.
struct FetchFailure: Error {
  let error: PosterError
  let isRetriable: Bool
  /// Whether the next try will ask for something else, so that there is nothing to wait for, and nothing
  /// to count.
  var isRetriableAtOnce = false

  init(_ code: PosterError.Code, _ message: String, isRetriable: Bool = false) {
    error = PosterError(code, message)
    self.isRetriable = isRetriable
  }

  /// A response with a status that is none of success.
  init(_ headers: ResponseHeaders, address: PosterAddress) {
    let status = headers.status
    var error = PosterError(.status(status), "the server answered \(status) for \(address)")
    error.statedLifetimeSeconds = Freshness.statedLifetime(of: headers)
    self.error = error
    isRetriable = Self.isRetriable(status: status)
  }

  /// A body that is no picture.
  init(notAnImage bytes: UnsafeRawBufferPointer, contentType: String?, address: PosterAddress) {
    let what = Self.describe(bytes, contentType: contentType)
    self.init(.notAnImage, "\(what) instead of a JPEG, PNG or WebP from \(address)")
  }

  /// A body that ended too soon.
  init(incomplete received: Int, of announced: Int?, address: PosterAddress) {
    let length = announced.map { "after \(received) of \($0) bytes" } ?? "before the picture's end"
    self.init(
      .incompleteBody, "the body ended \(length): \(address)", isRetriable: true)
  }

  /// A body in gzip whose checksum or structure is wrong, or that has no end.
  init(damagedGzip count: Int, address: PosterAddress) {
    self.init(
      .incompleteBody, "\(count) bytes of damaged or incomplete gzip data: \(address)",
      isRetriable: true)
  }

  /// The rest of a picture was asked for, and the answer does not fit its beginning.
  init(otherPartOf address: PosterAddress) {
    self.init(
      .incompleteBody, "the server sent something other than the rest of the picture: \(address)",
      isRetriable: true)
    isRetriableAtOnce = true
  }

  /// A place where the transfer may not go.
  ///
  /// - Parameter place: the address that the connection led to, or the host's name behind a proxy.
  init(forbidden place: String, isRedirected: Bool, address: PosterAddress) {
    if isRedirected {
      self.init(
        .forbiddenRedirect,
        "redirected to \(place), a private address that must not be reached from there: \(address)")
    } else {
      self.init(
        .forbiddenAddress,
        "\(address.host) is a public name but leads to \(place), a private address: \(address)")
    }
  }

  /// A body over the limit.
  init(tooLarge limit: Int, address: PosterAddress) {
    self.init(
      .bodyTooLarge,
      "the body is larger than the limit of \(ByteSize(bytes: limit)): \(address)")
  }

  /// A credential that cannot be sent.
  init(unusable credential: Credential, for address: PosterAddress) {
    self.init(
      .unauthorized,
      "the \(credential) is empty, too long or holds what cannot be sent to \(address)")
  }

  /// An address that curl refuses.
  init(unusable address: PosterAddress) {
    self.init(.invalidAddress, "curl cannot use the address: \(address)")
  }

  /// A host that asks for more patience than a request has.
  ///
  /// - Parameter status: that of the answer that asked for it.
  init(host: String, asksToWait seconds: Int, status: Int, timeoutSeconds: Double) {
    self.init(
      .status(status),
      "\(host) asks to wait \(seconds) s, longer than the \(Self.format(timeoutSeconds)) that a "
        + "request may take; try again later")
  }

  /// Too many requests, and what is the server's own or the network's fault and may pass.
  static func isRetriable(status: Int) -> Bool {
    status == 408 || status == 429 || (500...599).contains(status)
  }

  /// What curl's result says.
  ///
  /// - Parameter status: the last status received, 0 if none.
  init(
    _ code: CURLcode, of transfer: CurlTransfer, address: PosterAddress,
    configuration: FetchConfiguration
  ) {
    let status = transfer.headers.status
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST:
      self.init(
        .network, "cannot resolve \(transfer.peer.host); check the name and the network",
        isRetriable: true)
    case CURLE_COULDNT_RESOLVE_PROXY:
      self.init(.network, "cannot resolve the proxy's name", isRetriable: true)
    case CURLE_COULDNT_CONNECT:
      let number = transfer.systemErrorNumber
      let reason = number == 0 ? transfer.detail : String(cString: strerror(number))
      self.init(
        .network, "cannot connect to \(transfer.peerName): \(reason)", isRetriable: true)
    case CURLE_OPERATION_TIMEDOUT:
      self.init(timeoutOf: transfer, address: address, configuration: configuration)
    case CURLE_PARTIAL_FILE:
      self.init(
        incomplete: transfer.receivedCount, of: transfer.headers.contentLength, address: address)
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
      CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      self.init(
        .untrustedCertificate,
        "the certificate of \(transfer.peer.host) cannot be trusted: \(transfer.detail)")
    case CURLE_SSL_CACERT_BADFILE:
      let file = configuration.certificateAuthoritiesFile ?? "the system's"
      self.init(.invalidConfiguration, "cannot read the certificate authorities file: \(file)")
    case CURLE_TOO_MANY_REDIRECTS:
      self.init(
        .status(status),
        "redirected more than \(CurlTransfer.maximumRedirects) times: \(address)")
    case CURLE_UNSUPPORTED_PROTOCOL where (300...399).contains(status):
      self.init(
        .forbiddenRedirect,
        "redirected to an address that is not http or https: \(address)")
    case CURLE_URL_MALFORMAT where (300...399).contains(status):
      self.init(.forbiddenRedirect, "redirected to an address that is none: \(address)")
    case CURLE_URL_MALFORMAT:
      self.init(unusable: address)
    case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY:
      self.init(.network, "no HTTP answer from \(address)", isRetriable: true)
    case CURLE_GOT_NOTHING:
      self.init(
        .network, "the server closed the connection without an answer: \(address)",
        isRetriable: true)
    case CURLE_RECV_ERROR where transfer.hasBegunBody, CURLE_HTTP2 where transfer.hasBegunBody,
      CURLE_HTTP2_STREAM where transfer.hasBegunBody:
      // The server has answered, and is not down.
      self.init(
        .incompleteBody,
        "the body broke off after \(transfer.receivedCount) bytes: \(transfer.detail): \(address)",
        isRetriable: true)
    case CURLE_OUT_OF_MEMORY:
      // curl's word for a header line that it has no room for.
      self.init(
        .network, "a header line that is too long, or no memory left: \(address)",
        isRetriable: true)
    default:
      self.init(
        .network, "transfer failed: \(transfer.detail): \(address)", isRetriable: true)
    }
  }

  /// Which of the three time-outs it was: curl has one code for all.
  private init(
    timeoutOf transfer: CurlTransfer, address: PosterAddress, configuration: FetchConfiguration
  ) {
    let message: String
    if !transfer.wasConnected {
      let limit = min(configuration.connectTimeoutSeconds, configuration.timeoutSeconds)
      message = "timed out after \(Self.format(limit)) connecting to \(transfer.peerName)"
    } else if transfer.elapsedSeconds < configuration.timeoutSeconds {
      let limit = Self.format(Double(configuration.stallTimeoutSeconds))
      message = "no data for \(limit) from \(address)"
    } else {
      let limit = Self.format(configuration.timeoutSeconds)
      message = "timed out after \(limit) waiting for \(address)"
    }
    self.init(.timedOut, message, isRetriable: true)
  }

  /// `2 s`, `0.25 s`.
  private static func format(_ seconds: Double) -> String {
    seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
  }

  /// What `bytes` are, judged by themselves and only then by what the server calls them.
  private static func describe(_ bytes: UnsafeRawBufferPointer, contentType: String?) -> String {
    // White space and a byte order mark may precede markup.
    let skipped: [UInt8] = [0x09, 0x0A, 0x0D, 0x20, 0xEF, 0xBB, 0xBF]
    let start = bytes.drop { skipped.contains($0) }
    let text = String(decoding: start.prefix(64), as: UTF8.self).lowercased()
    if start.isEmpty { return "an empty body" }
    if text.hasPrefix("<!doctype html") || text.hasPrefix("<html") { return "an HTML page" }
    if text.hasPrefix("<svg") { return "an SVG picture" }
    if text.hasPrefix("<") { return "an HTML or XML page" }
    if text.hasPrefix("{") || text.hasPrefix("[") { return "JSON" }
    if text.hasPrefix("gif8") { return "a GIF" }
    if bytes.starts(with: [0x1F, 0x8B]) { return "gzip-compressed data" }
    let kind = contentType?.prefix { $0 != ";" && $0 > " " && $0 < "\u{7F}" } ?? ""
    return kind.isEmpty || kind.utf8.count > 80 ? "unknown data" : "\(kind) data"
  }
}
