import FoundationEssentials

/// A picture that one transfer brought, while it is on its way into the disk tier.
///
/// However many requests wait for a transfer, its picture is stored once; each of them can wait for
/// that.
final class Arrival: Sendable {
  /// The picture.
  let poster: StoredPoster
  /// Whether the server allows keeping it.
  let isStorable: Bool

  private enum Storing {
    case running([@Sendable (Result<Void, PosterError>) -> Void])
    case finished(Result<Void, PosterError>)
  }

  private let storing = Lock(Storing.running([]))

  /// The picture that `response` brought for `request`, received at the time `now`.
  init(of response: FetchResponse, for request: PosterRequest, at now: Date) {
    guard let type = response.type else {
      preconditionFailure("a picture of no known kind was accepted: \(request.address)")
    }
    let freshness = Freshness(response.headers, receivedAt: now)
    poster = StoredPoster(
      key: request.key,
      metadata: PosterMetadata(
        address: request.address, type: type, etag: response.headers.etag,
        lastModified: response.headers.lastModified, storedAt: now, expiresAt: freshness.expiresAt),
      body: response.body)
    isStorable = freshness.isStorable
  }

  /// Notes how storing went and tells those who wait. Call it once.
  func storingDidFinish(_ result: Result<Void, PosterError>) {
    let waiting = storing.withLock { storing -> [@Sendable (Result<Void, PosterError>) -> Void] in
      guard case .running(let waiting) = storing else {
        preconditionFailure("a picture stored twice")
      }
      storing = .finished(result)
      return waiting
    }
    for completion in waiting { completion(result) }
  }

  /// Calls `completion` once the picture is committed to the disk tier or could not be: at once, or
  /// on the writer's thread.
  func whenStored(_ completion: @escaping @Sendable (Result<Void, PosterError>) -> Void) {
    let finished = storing.withLock { storing -> Result<Void, PosterError>? in
      switch storing {
      case .finished(let result): return result
      case .running(let waiting):
        storing = .running(waiting + [completion])
        return nil
      }
    }
    if let finished { completion(finished) }
  }
}
