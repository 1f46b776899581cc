import FoundationEssentials

/// A picture that one transfer brought or confirmed, while it is on its way into the disk tier.
///
/// However many requests wait for a transfer, its picture is stored once; each of them can wait for
/// that.
final class Arrival: Sendable {
  /// The picture.
  let poster: StoredPoster
  /// Whether the server allows keeping it.
  let isStorable: Bool
  /// The stored picture that the server confirmed; `nil` if it sent one.
  let confirmed: StoredPoster?

  private enum Storing {
    case running([@Sendable (Result<Void, PosterError>) -> Void])
    case finished(Result<Void, PosterError>)
  }

  private let storing = Lock(Storing.running([]))

  /// The picture that `response` brought or confirmed for `request`, received at the time `now`;
  /// `nil` if it confirms another one than was asked about.
  init?(
    of response: FetchResponse, for request: PosterRequest, at now: Date, rules: CachingRules,
    fields: RequestFields
  ) {
    let headers = response.headers
    let freshness = Freshness(
      headers, receivedAt: now,
      delaySeconds: response.requestedAt.map { now.timeIntervalSince($0) } ?? 0,
      rules: rules)
    isStorable = freshness.isStorable
    confirmed = response.confirmed
    if response.isNotModified {
      guard let stored = response.confirmed,
        let metadata = stored.metadata.confirmed(
          by: headers, freshness: freshness, receivedAt: now, fields: fields)
      else { return nil }
      poster = StoredPoster(key: stored.key, metadata: metadata, body: stored.body)
      return
    }
    guard let type = response.type else {
      preconditionFailure("a picture of no known kind was accepted: \(request.address)")
    }
    var metadata = PosterMetadata(
      address: request.address, type: type, etag: headers.etag,
      lastModified: headers.lastModified, storedAt: now, expiresAt: freshness.expiresAt)
    metadata.staleUse = freshness.staleUse
    metadata.variant = fields.variant(vary: headers.vary)
    poster = StoredPoster(key: request.key, metadata: metadata, body: response.body)
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

  /// Waits until the picture is committed to the disk tier or could not be. Cancelling the task ends
  /// the wait and not the storing.
  func waitUntilStored() async throws(PosterError) {
    let wait = StoringWait()
    let result = await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        wait.begin(continuation)
        whenStored { wait.end($0) }
      }
    } onCancel: {
      wait.end(.failure(.fetchCancelled))
    }
    try result.get()
  }
}

/// A task that waits for an arrival to be stored, and goes on at the first of two events: that, or its
/// cancellation.
private final class StoringWait: Sendable {
  typealias Outcome = Result<Void, PosterError>

  private enum State {
    case pending
    case waiting(UnsafeContinuation<Outcome, Never>)
    case over(Outcome)
  }

  private let state = Lock(State.pending)

  /// Resumes `continuation` once, perhaps at once. Call it once.
  func begin(_ continuation: UnsafeContinuation<Outcome, Never>) {
    let outcome = state.withLock { state -> Outcome? in
      if case .over(let outcome) = state { return outcome }
      state = .waiting(continuation)
      return nil
    }
    if let outcome { continuation.resume(returning: outcome) }
  }

  /// The first event counts.
  func end(_ outcome: Outcome) {
    let continuation = state.withLock { state -> UnsafeContinuation<Outcome, Never>? in
      switch state {
      case .over: return nil
      case .pending:
        state = .over(outcome)
        return nil
      case .waiting(let continuation):
        state = .over(outcome)
        return continuation
      }
    }
    continuation?.resume(returning: outcome)
  }
}
