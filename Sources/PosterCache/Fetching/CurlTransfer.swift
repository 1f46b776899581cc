import CCurl
import Glibc

/// A pooled easy handle, and what its current transfer has received.
///
/// Used on the fetch thread only: ``prepare(_:resuming:)``, then the transfer runs, then
/// ``finish(_:_:)``, ``takePartial()`` or both, then ``recycle()``. Between transfers a handle keeps its
/// options for pictures, so that starting one usually sets nothing but an address; a list page's are
/// undone by a reset.
final class CurlTransfer {
  /// Redirects followed, as the Fetch standard's 20 would be far too many for a picture.
  static let maximumRedirects = 5

  /// curl's handle. It points to this object, which lives as long as the handle.
  let handle: UnsafeMutableRawPointer
  /// What has come of the transfer.
  var receiver = ResponseReceiver()
  /// How far the transfer has come.
  var progress = Progress()
  /// Where the transfer may go.
  var hops = HopRule()
  /// The place where the transfer was about to go and may not, if that ended it.
  var forbiddenPlace: String?
  /// Whether the server was asked to transfer this before others, in curl's terms: 1-256.
  var weight = defaultWeight
  /// Whether the handle is set to wait for connections that are being made.
  var waitsForConnection = false

  /// Which transfer of the queue this is, while it runs.
  var id: TransferQueue.TransferID?
  /// What counts the bytes of its host, while it runs.
  var meter: HostMeter?
  /// Whether the meter knows that its answer has begun.
  private var isMetered = false

  /// What the transfer is about.
  var kind = FetchRequest.Kind.picture
  /// The address asked for first.
  var address: PosterAddress?
  /// Headers that only this transfer sends. curl reads them until the handle has been removed.
  var ownHeaders: UnsafeMutablePointer<curl_slist>?
  let options: CurlOptions
  private let errorText: UnsafeMutablePointer<CChar>

  /// curl's weight of a stream that nobody has given one.
  static let defaultWeight = 16

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
    curl_slist_free_all(ownHeaders)
    errorText.deallocate()
  }

  /// The object behind a handle that curl reports.
  static func of(_ handle: UnsafeMutableRawPointer) -> CurlTransfer {
    var context: UnsafeMutableRawPointer?
    let code = postercache_curl_get_pointer(handle, CURLINFO_PRIVATE, &context)
    guard code == CURLE_OK, let context else { preconditionFailure("a handle that is not ours") }
    return Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
  }

  // MARK: - Results

  /// The headers of the last response.
  var headers: ResponseHeaders { receiver.headers }

  /// Bytes received of the last response's body; of a picture that is continued, of the rest.
  var receivedCount: Int { receiver.receivedCount }

  /// What has come of a picture whose transfer is stopped now, if it can be resumed: the status is
  /// that of success, the length known, the validator strong.
  ///
  /// Also for a transfer that failed: a beginning that it was to continue is handed back unless the
  /// answer has shown that it is out of date. Call it before ``recycle()``; after ``finish(_:_:)`` there
  /// is what that has not used up.
  func takePartial() -> PartialBody? {
    receiver.takePartial(from: redirectedSource)
  }

  /// What came of the transfer that curl reports as ended with `code`.
  func finish(_ code: CURLcode, _ request: FetchRequest) -> Result<FetchResponse, FetchFailure> {
    let address = request.address
    noteVersion()
    if let forbiddenPlace {
      return .failure(
        FetchFailure(forbidden: forbiddenPlace, isRedirected: hops.isRedirected, address: address))
    }
    // Whatever became of its body: an answer that something failed has been given.
    let hasFailureStatus = kind == .picture && headers.isComplete && headers.status >= 400
    if code != CURLE_OK, !receiver.wasStopped, !hasFailureStatus {
      return .failure(
        FetchFailure(code, of: self, address: address, configuration: options.configuration))
    }
    // A page's body comes unwrapped, so that curl has counted what came on the wire.
    if kind != .picture, !receiver.wasStopped, headers.status == 200,
      let announced = headers.contentLength
    {
      let received = size(CURLINFO_SIZE_DOWNLOAD_T)
      if received < announced {
        return .failure(FetchFailure(incomplete: received, of: announced, address: address))
      }
    }
    return receiver.finish()
  }

  /// Lets go of the last transfer's body, headers and secrets. The handle must have been removed.
  func recycle() {
    receiver = ResponseReceiver()
    address = nil
    if let ownHeaders {
      check(postercache_curl_set_pointer(handle, CURLOPT_HTTPHEADER, options.pictureHeaders))
      curl_slist_free_all(ownHeaders)
      self.ownHeaders = nil
    }
    guard kind != .picture else { return }
    kind = .picture
    curl_easy_reset(handle)
    configure()
  }

  // MARK: - Callbacks

  private func configure() {
    let context = Unmanaged.passUnretained(self).toOpaque()
    weight = Self.defaultWeight
    waitsForConnection = false
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
    check(
      postercache_curl_set_before_request(
        handle,
        { context, peer, _, _, _ in
          let mayGo = Unmanaged<CurlTransfer>.fromOpaque(context!).takeUnretainedValue()
            .willSendRequest(peer: peer)
          return mayGo ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }, context))
    options.apply(to: handle)
  }

  private func didReceive(header line: UnsafeRawBufferPointer) {
    if progress.firstByteAt == nil {
      progress.answerDidBegin(now: monotonicNanoseconds())
      isMetered = meter != nil
      meter?.answerDidBegin()
    }
    if receiver.didReceive(header: line) {
      endMetering()
      hops.redirectWasReceived()
      progress.willRequestAgain(resolvedAfter: size(CURLINFO_NAMELOOKUP_TIME_T))
    }
  }

  private func didReceive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if isMetered { meter?.didReceive(bytes.count) }
    return receiver.didReceive(bytes, from: redirectedSource)
  }

  /// Lets go of the meter, which has to know that no more of the answer comes.
  func stopMetering() {
    endMetering()
    meter = nil
  }

  private func endMetering() {
    if isMetered { meter?.answerDidEnd() }
    isMetered = false
  }

  /// Where the answer comes from, if that is not the address asked for.
  private var redirectedSource: String? { hops.isRedirected ? effectiveAddress : nil }

  /// curl's own words for what went wrong, on one line. They may quote a proxy's address.
  var detail: String {
    let text = PosterAddress.redacted(String(cString: errorText))
    return text.isEmpty ? "unknown reason" : String(text.map { $0.isNewline ? " " : $0 })
  }

  /// Forgets ``detail``.
  func clearDetail() { errorText[0] = 0 }
}

/// Options that are known to this libcurl and have valid values fail only for want of memory.
func check(_ code: CURLcode, line: UInt = #line) {
  precondition(code == CURLE_OK, "curl_easy_setopt failed with \(code.rawValue) at line \(line)")
}
