import CCurl

extension CurlTransfer {
  /// Makes the handle ready for `request`; if that fails, it has to be recycled all the same.
  ///
  /// - Parameter partial: the picture's beginning; asks for the rest only, if the server still has
  ///   the same picture. It is used up, whatever comes of the transfer: what of it is still good comes
  ///   back from ``takePartial()``.
  func prepare(
    _ request: FetchRequest, resuming partial: PartialBody? = nil
  ) throws(FetchFailure) {
    let beginning = partial?.address == request.address && request.kind == .picture ? partial : nil
    receiver = ResponseReceiver(
      request, limit: options.configuration.maximumBytes(of: request.kind), beginning: beginning)
    hops = HopRule()
    forbiddenPlace = nil
    progress = Progress()
    clearDetail()
    kind = request.kind
    address = request.address
    let waits = options.waitsForConnection(to: request.address)
    if waits != waitsForConnection {
      check(postercache_curl_set_long(handle, CURLOPT_PIPEWAIT, waits ? 1 : 0))
      waitsForConnection = waits
    }
    setUrgency(request.priority)
    var target = request.source.canonical
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
        let separator = target.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        target += separator + "api_key=" + PercentEncoding.escapingAll(key)
      case nil: break
      }
    }
    if request.validators != nil || request.isRefresh || beginning != nil {
      setOwnHeaders(Self.headers(of: request, resuming: beginning))
    }
    // With a key behind it, an address can be longer than curl takes.
    guard postercache_curl_set_string(handle, CURLOPT_URL, target) == CURLE_OK else {
      throw FetchFailure(unusable: request.address)
    }
  }

  /// Tells the server how urgently the picture is wanted, before or while it is transferred. That
  /// counts among the streams of one HTTP/2 connection only, and only with servers that heed it.
  func setUrgency(_ priority: Priority) {
    let weight =
      switch priority {
      case .visible: 256
      case .prefetch: 32
      case .background: 16
      }
    guard weight != self.weight else { return }
    check(postercache_curl_set_long(handle, CURLOPT_STREAM_WEIGHT, weight))
    self.weight = weight
  }

  /// `CURLAUTH_BEARER`, a cast that Swift does not import.
  private static let bearer = 1 << 6

  private func setOwnHeaders(_ lines: [String]) {
    let list = CurlOptions.list(lines)
    check(postercache_curl_set_pointer(handle, CURLOPT_HTTPHEADER, list))
    // Nothing runs on the handle, so that nobody reads the earlier ones.
    curl_slist_free_all(ownHeaders)
    ownHeaders = list
  }

  /// The headers of a request that has some of its own.
  private static func headers(of request: FetchRequest, resuming beginning: PartialBody?)
    -> [String]
  {
    var lines = [request.kind == .picture ? CurlOptions.pictureAccept : CurlOptions.pageAccept]
    if request.isRefresh { lines.append("Cache-Control: no-cache") }
    if let stored = request.validators {
      if let etag = stored.etag, isHeaderValue(etag) { lines.append("If-None-Match: \(etag)") }
      if let date = stored.lastModified, isHeaderValue(date) {
        lines.append("If-Modified-Since: \(date)")
      }
    }
    if let beginning {
      lines.append("Range: bytes=\(beginning.count)-")
      // Without the right validator, the answer is the whole picture (RFC 9110, section 13.1.5).
      lines.append("If-Range: \(beginning.validator)")
    }
    return lines
  }

  /// Whether `text`, which comes from a server, can stand in a header of ours: it must not end it.
  private static func isHeaderValue(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}
