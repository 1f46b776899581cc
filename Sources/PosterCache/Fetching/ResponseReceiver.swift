/// What a transfer has received so far, and what it is worth in the end.
///
/// Takes header lines and pieces of a body as they come, from curl or from a test, and knows nothing of
/// either. A body whose length is announced is collected in one allocation with one copy. The rest of a
/// picture is appended to its beginning only if the answer proves that it belongs to it.
struct ResponseReceiver: ~Copyable {
  /// The headers of the last response.
  private(set) var headers = ResponseHeaders()
  /// Bytes received of the last response's body; without those that were there already.
  private(set) var receivedCount = 0
  /// Whether this side has stopped the transfer, so that it does not matter how curl calls that.
  var wasStopped: Bool { refusal != nil }

  /// Why a body is not wanted.
  private enum Refusal {
    case tooLarge
    /// A part that does not continue the beginning that is there.
    case otherPart
  }

  private let request: FetchRequest?
  private let limit: Int
  /// The picture's beginning, as long as no answer has decided what it is worth.
  private var beginning: PartialBody?
  /// What the response continues.
  private var continued: PartialBody?
  private var body: PosterBody.Builder?
  /// Whether the body has begun: what looks like headers after that are trailers.
  private var hasBegunBody = false
  private var refusal: Refusal?

  /// Waits for nothing.
  init() {
    request = nil
    limit = 0
  }

  /// Waits for the answer to `request`.
  ///
  /// - Parameters:
  ///   - limit: bytes of the largest body, wrapped or not.
  ///   - beginning: the beginning of the picture; the request must have asked for the rest.
  init(_ request: FetchRequest, limit: Int, beginning: PartialBody?) {
    self.request = request
    self.limit = limit
    self.beginning = beginning
  }

  // MARK: - Receiving

  /// Takes a header line; returns whether it ends the headers of a redirect, which will be followed.
  mutating func didReceive(header line: UnsafeRawBufferPointer) -> Bool {
    // curl keeps the bodies of redirects to itself, so that what follows a body is its trailer. That
    // must not be merged into the headers unless the field allows it (RFC 9110, section 6.5.1), and
    // none of those that count does.
    guard !hasBegunBody else { return false }
    headers.append(line: line)
    return headers.isComplete && headers.isRedirect
  }

  /// Takes a piece of the body; `false` stops the transfer.
  ///
  /// - Parameter source: where it comes from if redirects have led there, as ``PartialBody/source``.
  mutating func didReceive(
    _ bytes: UnsafeRawBufferPointer, from source: @autoclosure () -> String?
  ) -> Bool {
    if !hasBegunBody {
      hasBegunBody = true
      bodyDidBegin(from: source)
    }
    guard refusal == nil else { return false }
    guard bytes.count <= limit - (body?.count ?? receivedCount) else {
      refusal = .tooLarge
      return false
    }
    receivedCount += bytes.count
    if isWanted { body?.append(bytes) }
    return true
  }

  /// Decides what to do with the body, as the headers are known.
  private mutating func bodyDidBegin(from source: () -> String?) {
    if headers.status == 206, let beginning {
      self.beginning = nil
      guard continues(beginning, from: source()) else {
        refusal = .otherPart
        return
      }
      continued = beginning
      body = beginning.takeBuilder()
    } else if isWanted {
      // Another picture than the one that began.
      beginning = nil
      let announced = headers.contentLength
      if let announced, announced > limit {
        refusal = .tooLarge
      } else {
        body = PosterBody.Builder(announced: announced ?? 0)
      }
    }
  }

  /// Whether the response is the rest of `beginning` (RFC 9110, section 15.3.7.3): of the same
  /// representation, from where it ends.
  private func continues(_ beginning: PartialBody, from source: String?) -> Bool {
    guard let range = headers.contentRange else { return false }
    return range.first == beginning.count && range.total == beginning.total
      && (headers.contentLength ?? range.count) == range.count
      && headers.etag == beginning.validator && source == beginning.source
      && headers.isBodyPlain
  }

  private var isPicture: Bool { request?.kind == .picture }

  /// Whether the body is collected.
  private var isWanted: Bool { !isPicture || isSuccess || continued != nil }

  /// 200, or 203 from a proxy that has transformed it: no other 2xx promises the picture itself
  /// (RFC 9110, section 15.3).
  private var isSuccess: Bool { headers.status == 200 || headers.status == 203 }

  // MARK: - Stopping

  /// What has come of a picture whose transfer was stopped or broke off, if the rest can be asked for:
  /// the status is that of success, the length known, the validator strong. Also the beginning that
  /// the transfer was to continue, where the answer has not shown that it is out of date.
  ///
  /// - Parameter source: as in ``didReceive(_:from:)``.
  mutating func takePartial(from source: @autoclosure () -> String?) -> PartialBody? {
    if let beginning {
      let isUndecided =
        !headers.isComplete || headers.isRedirect
        || FetchFailure.isRetriable(status: headers.status)
      self.beginning = nil
      return isUndecided ? beginning : nil
    }
    guard let request, refusal == nil, let builder = body.take() else { return nil }
    if let continued {
      return builder.count < continued.total
        ? PartialBody(
          address: request.address, source: continued.source, validator: continued.validator,
          total: continued.total, builder: builder) : nil
    }
    guard isPicture, headers.status == 200, headers.isBodyPlain, let total = headers.contentLength,
      builder.count > 0, builder.count < total, let etag = headers.etag, Self.isStrong(etag),
      !CacheDirectives(headers.cacheControl ?? "").isNoStore
    else { return nil }
    return PartialBody(
      address: request.address, source: source(), validator: etag, total: total, builder: builder)
  }

  /// Whether `etag` promises equal bytes (RFC 9110, section 8.8.3): quoted, and not marked as weak.
  private static func isStrong(_ etag: String) -> Bool {
    etag.utf8.count >= 2 && etag.hasPrefix("\"") && etag.hasSuffix("\"")
      && etag.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
  }

  // MARK: - Ending

  /// What came of the transfer, which curl calls a success or this side has stopped.
  mutating func finish() -> Result<FetchResponse, FetchFailure> {
    guard let request else { preconditionFailure("nothing was asked for") }
    let address = request.address
    if !hasBegunBody, headers.status == 206, beginning != nil { refusal = .otherPart }
    switch refusal {
    case .tooLarge where isWanted:
      return .failure(FetchFailure(tooLarge: limit, address: address))
    case .otherPart: return .failure(FetchFailure(otherPartOf: address))
    default: break
    }
    guard isPicture else {
      return .success(FetchResponse(headers: headers, body: takeBody(), type: nil))
    }
    if headers.status == 304, let stored = request.stored {
      var response = FetchResponse(
        headers: headers, body: stored.body, type: stored.metadata.type)
      response.isNotModified = true
      return .success(response)
    }
    // There was no condition that a 304 could be about.
    if headers.status == 416 || headers.status == 304, beginning != nil {
      return .failure(FetchFailure(otherPartOf: address))
    }
    guard isSuccess || continued != nil else {
      return .failure(FetchFailure(headers, address: address))
    }
    return finishPicture(address)
  }

  private mutating func finishPicture(
    _ address: PosterAddress
  ) -> Result<FetchResponse, FetchFailure> {
    let announced = continued?.total ?? headers.contentLength
    var picture = takeBody()
    // curl 7.88 can report a truncated HTTP/2 body as success, and drops what had come of it if the
    // stream was reset without an error code.
    if picture.count < announced ?? 1 {
      return .failure(FetchFailure(incomplete: picture.count, of: announced, address: address))
    }
    if continued != nil, picture.count != announced {
      return .failure(FetchFailure(otherPartOf: address))
    }
    let isProvenWhole = announced != nil && continued == nil
    // Twice: a server may compress what somebody has stored compressed.
    for _ in 0..<2 where picture.withUnsafeBytes({ Gzip.isWrapped($0) }) {
      do throws(Gzip.Failure) {
        picture = try picture.withUnsafeBytes { bytes throws(Gzip.Failure) in
          try Gzip.unwrap(bytes, limit: limit)
        }
      } catch {
        return .failure(
          error == .tooLarge
            ? FetchFailure(tooLarge: limit, address: address)
            : FetchFailure(damagedGzip: picture.count, address: address))
      }
    }
    let length = picture.count
    return picture.withUnsafeBytes { bytes in
      guard let type = ImageType(firstBytes: bytes) else {
        return .failure(
          FetchFailure(notAnImage: bytes, contentType: headers.contentType, address: address))
      }
      guard isProvenWhole || type.isComplete(bytes) else {
        return .failure(FetchFailure(incomplete: length, of: nil, address: address))
      }
      return .success(FetchResponse(headers: headers, body: picture, type: type))
    }
  }

  private mutating func takeBody() -> PosterBody {
    guard let builder = body.take() else { return PosterBody(capacity: 0) { _ in 0 } }
    return builder.finish()
  }
}

extension ResponseHeaders {
  /// Whether curl goes on to where the response points, if it points anywhere.
  fileprivate var isRedirect: Bool { (300...399).contains(status) && status != 304 }

  /// Whether the body is the picture byte by byte: what can be continued.
  fileprivate var isBodyPlain: Bool {
    let encoding = contentEncoding?.lowercased() ?? "identity"
    let isMultipart = contentType?.lowercased().hasPrefix("multipart/") ?? false
    return encoding == "identity" && !hasTransferEncoding && !isMultipart
  }
}
