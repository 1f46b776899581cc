import CCurl
import Glibc

/// A pooled easy handle, and what its current transfer has received.
///
/// Used on the fetch thread only. Between transfers a handle keeps its options for pictures, so
/// that starting one sets nothing but an address; a list page's are undone by a reset.
final class CurlTransfer {
  /// Redirects followed, as the Fetch standard's 20 would be far too many for a picture.
  static let maximumRedirects = 5

  /// curl's handle. It points to this object, which lives as long as the handle.
  let handle: UnsafeMutableRawPointer
  /// The headers of the last response.
  private(set) var headers = ResponseHeaders()
  /// Bytes received of the last response's body.
  private(set) var receivedCount = 0
  /// Whether the transfer was stopped because its body is too large.
  private(set) var isTooLarge = false

  /// Which transfer of the queue this is, while it runs.
  var id: TransferQueue.TransferID?

  private var body: PosterBody.Builder?
  /// Whether the body has begun: what looks like headers after that are trailers.
  private var hasBegunBody = false
  private var kind = FetchRequest.Kind.picture
  private let options: CurlOptions
  private let errorText: UnsafeMutablePointer<CChar>

  init(_ options: CurlOptions) {
    // Fails only for want of memory, like every allocation in Swift.
    handle = curl_easy_init()!
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    self.options = options
    configure()
  }

  deinit {
    curl_easy_cleanup(handle)
    errorText.deallocate()
  }

  /// The object behind a handle that curl reports.
  static func of(_ handle: UnsafeMutableRawPointer) -> CurlTransfer {
    var context: UnsafeMutableRawPointer?
    let code = postercache_curl_get_pointer(handle, CURLINFO_PRIVATE, &context)
    guard code == CURLE_OK, let context else { preconditionFailure("a handle that is not ours") }
    return Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
  }

  // MARK: - Preparing

  /// Makes the handle ready for `request`; if that fails, it has to be recycled all the same.
  ///
  /// - Parameter partial: the picture's beginning; asks for the rest only, if the server still has
  ///   the same picture.
  func prepare(
    _ request: FetchRequest, resuming partial: PartialBody? = nil
  ) throws(FetchFailure) {
    headers = ResponseHeaders()
    discardBody()
    hasBegunBody = false
    isTooLarge = false
    errorText[0] = 0
    kind = request.kind
    var address = request.source.canonical
    if case .page(let credential) = request.kind {
      check(postercache_curl_set_pointer(handle, CURLOPT_HTTPHEADER, options.pageHeaders))
      check(postercache_curl_set_string(handle, CURLOPT_ACCEPT_ENCODING, ""))
      switch credential {
      case .bearerToken(let token):
        // curl sends it to the first host, port and scheme only (CURLOPT_UNRESTRICTED_AUTH is off).
        check(postercache_curl_set_long(handle, CURLOPT_HTTPAUTH, Self.bearer))
        // Anything but visible characters would end the header that curl puts the token into.
        guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
          postercache_curl_set_string(handle, CURLOPT_XOAUTH2_BEARER, token) == CURLE_OK
        else { throw FetchFailure(unusable: .bearerToken(token), for: request.address) }
      case .apiKey(let key):
        // A redirect replaces the whole address, so that the parameter goes to the first host only.
        let separator = address.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        address += separator + "api_key=" + PercentEncoding.escapingAll(key)
      case nil: break
      }
    }
    // With a key behind it, an address can be longer than curl takes.
    guard postercache_curl_set_string(handle, CURLOPT_URL, address) == CURLE_OK else {
      throw FetchFailure(unusable: request.address)
    }
  }

  /// What has come of a picture whose transfer is stopped now, if it can be resumed: the status is
  /// that of success, the length known, the validator strong.
  func takePartial() -> PartialBody? { nil }

  /// Lets go of the last transfer's body and secrets.
  func recycle() {
    discardBody()
    guard kind != .picture else { return }
    kind = .picture
    curl_easy_reset(handle)
    configure()
  }

  /// `CURLAUTH_BEARER`, a cast that Swift does not import.
  private static let bearer = 1 << 6

  private func configure() {
    let context = Unmanaged.passUnretained(self).toOpaque()
    check(postercache_curl_set_pointer(handle, CURLOPT_PRIVATE, context))
    check(postercache_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText))
    check(
      postercache_curl_set_header(
        handle,
        { bytes, size, count, context in
          // curl never calls with null, and the context is the object that `configure` passed.
          Unmanaged<CurlTransfer>.fromOpaque(context!).takeUnretainedValue()
            .didReceive(header: UnsafeRawBufferPointer(start: bytes, count: size * count))
          return size * count
        }, context))
    check(
      postercache_curl_set_write(
        handle,
        { bytes, size, count, context in
          let wasTaken = Unmanaged<CurlTransfer>.fromOpaque(context!).takeUnretainedValue()
            .didReceive(UnsafeRawBufferPointer(start: bytes, count: size * count))
          return wasTaken ? size * count : 0
        }, context))
    options.apply(to: handle)
  }

  // MARK: - Receiving

  private func didReceive(header line: UnsafeRawBufferPointer) {
    // curl keeps the bodies of redirects to itself, so that what follows a body is its trailer. That
    // must not be merged into the headers unless the field allows it (RFC 9110, section 6.5.1), and
    // none of those that count does.
    if !hasBegunBody { headers.append(line: line) }
  }

  /// Takes a piece of the body; `false` stops the transfer.
  private func didReceive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    hasBegunBody = true
    let limit = options.configuration.maximumBodyBytes
    let isWanted = kind != .picture || isSuccess
    if body == nil, isWanted {
      let announced = headers.contentLength
      if let announced, announced > limit {
        isTooLarge = true
        return false
      }
      body = PosterBody.Builder(announced: announced ?? 0)
    }
    guard bytes.count <= limit - receivedCount else {
      isTooLarge = true
      return false
    }
    receivedCount += bytes.count
    if isWanted { body?.append(bytes) }
    return true
  }

  private func discardBody() {
    body = nil
    receivedCount = 0
  }

  /// 200, or 203 from a proxy that has transformed it: no other 2xx promises the picture itself
  /// (RFC 9110, section 15.3).
  private var isSuccess: Bool { headers.status == 200 || headers.status == 203 }

  // MARK: - Ending

  /// What came of the transfer that curl reports as ended with `code`.
  func finish(_ code: CURLcode, _ request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
    let address = request.address
    let configuration = options.configuration
    if isTooLarge, kind != .picture || isSuccess {
      return .failure(FetchFailure(tooLarge: configuration.maximumBodyBytes, address: address))
    }
    if code != CURLE_OK, !isTooLarge {
      return .failure(
        FetchFailure(code, of: self, address: address, configuration: configuration))
    }
    if kind != .picture {
      let page = takeBody()
      return .success(FetchResponse(headers: headers, body: page, type: nil))
    }
    guard isSuccess else {
      return .failure(FetchFailure(status: headers.status, address: address))
    }
    let announced = headers.contentLength
    let received = receivedCount
    // curl 7.88 can report a truncated HTTP/2 body as success.
    if let announced, received < announced {
      return .failure(FetchFailure(incomplete: received, of: announced, address: address))
    }
    let picture = takeBody()
    return picture.withUnsafeBytes { bytes in
      guard let type = ImageType(firstBytes: bytes) else {
        return .failure(
          FetchFailure(notAnImage: bytes, contentType: headers.contentType, address: address))
      }
      guard announced != nil || type.isComplete(bytes) else {
        return .failure(FetchFailure(incomplete: received, of: nil, address: address))
      }
      return .success(FetchResponse(headers: headers, body: picture, type: type))
    }
  }

  private func takeBody() -> PosterBody {
    guard let builder = body.take() else { return PosterBody(capacity: 0) { _ in 0 } }
    return builder.finish()
  }

  // MARK: - Asking curl

  /// Connections opened for the last transfer, redirects included.
  var connectionCount: Int { long(CURLINFO_NUM_CONNECTS) }

  /// The `errno` of the last failed connection, or 0.
  var systemErrorNumber: CInt { CInt(truncatingIfNeeded: long(CURLINFO_OS_ERRNO)) }

  /// Whether a connection was there to send the request on.
  var wasConnected: Bool { size(CURLINFO_PRETRANSFER_TIME_T) > 0 }

  /// How long the transfer took.
  var elapsedSeconds: Double { Double(size(CURLINFO_TOTAL_TIME_T)) / 1_000_000 }

  /// curl's own words for what went wrong, on one line. They may quote a proxy's address.
  var detail: String {
    let text = PosterAddress.redacted(String(cString: errorText))
    return text.isEmpty ? "unknown reason" : String(text.map { $0.isNewline ? " " : $0 })
  }

  /// Whom the last request went to: after a redirect not the host that was asked first.
  var peer: (host: String, port: Int) {
    var text: UnsafePointer<CChar>?
    guard postercache_curl_get_string(handle, CURLINFO_EFFECTIVE_URL, &text) == CURLE_OK, let text,
      let address = Result(catching: { () throws(PosterError) in
        try PosterAddress(String(cString: text))
      }).success
    else { return ("the server", 0) }
    return (address.host, address.port)
  }

  private func long(_ info: CURLINFO) -> Int {
    var value = 0
    let code = postercache_curl_get_long(handle, info, &value)
    precondition(code == CURLE_OK, "curl_easy_getinfo failed with \(code.rawValue)")
    return value
  }

  private func size(_ info: CURLINFO) -> Int {
    var value: curl_off_t = 0
    let code = postercache_curl_get_size(handle, info, &value)
    precondition(code == CURLE_OK, "curl_easy_getinfo failed with \(code.rawValue)")
    return value
  }
}

/// Options that are known to this libcurl and have valid values fail only for want of memory.
func check(_ code: CURLcode, line: UInt = #line) {
  precondition(code == CURLE_OK, "curl_easy_setopt failed with \(code.rawValue) at line \(line)")
}

extension Result {
  /// The value of a success.
  fileprivate var success: Success? {
    if case .success(let value) = self { value } else { nil }
  }
}
