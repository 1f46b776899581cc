import FoundationEssentials

/// The cache as a program uses it: memory, then disk, then the origin.
///
/// Safe to use from any thread and task. A request that finds its poster in memory or on disk never
/// waits for the network; requests for the same picture share one transfer, and its bytes are one
/// allocation that the network, both tiers and every caller share. Make one pipeline for a cache
/// directory and keep it as long as the program runs; ``shutdown()`` it before exiting, so that what
/// was fetched is stored.
public final class PosterPipeline: Sendable {
  /// What ``warm(_:)`` had to do.
  public enum WarmOutcome: Sendable, Hashable {
    /// The poster was in the cache already.
    case hit
    /// It was fetched and is stored now; the number of body bytes.
    case fetched(bytes: Int)
  }

  /// The disk tier, `nil` if the configuration names no directory or it cannot be used now. Another
  /// one after the directory was deleted or replaced: do not keep it.
  public var disk: DiskCache? { diskTier?.cache }
  /// The memory tier.
  public let memory: MemoryCache

  private let diskTier: DiskTier?
  private let fetcher: Fetcher
  private let clock: PosterClock
  private let isOffline: Bool
  private let addressRule: AddressRule
  private let warnings: WarningGate

  /// Opens the cache directory and starts the threads for transfers and storing.
  ///
  /// - Throws: ``PosterError/Code/directoryUnavailable``, ``PosterError/Code/unsupportedFormat`` or
  ///   ``PosterError/Code/damagedIndex`` for the directory,
  ///   ``PosterError/Code/invalidConfiguration`` or ``PosterError/Code/resourcesExhausted`` for the
  ///   rest.
  public init(_ configuration: Configuration) throws(PosterError) {
    fetcher = try Fetcher(configuration.fetching, clock: configuration.clock)
    warnings = WarningGate(configuration.onWarning)
    if let directory = configuration.cacheDirectory {
      diskTier = try DiskTier(
        directory, limit: configuration.diskLimit, isRequired: configuration.isDirectoryRequired,
        warnings: warnings)
    } else {
      diskTier = nil
    }
    memory = MemoryCache(limitBytes: configuration.memoryLimit.bytes)
    clock = configuration.clock
    isOffline = configuration.isOffline
    addressRule = configuration.addressRule
  }

  // MARK: - Posters

  /// The poster, from the nearest tier that has it.
  ///
  /// A poster that could not be stored is delivered all the same, with a warning. Cancelling the
  /// task ends the wait with ``PosterError/Code/cancelled`` and disturbs nobody else's.
  ///
  /// - Throws: what the transfer failed with, or ``PosterError/Code/offline``.
  public func poster(for request: PosterRequest) async throws(PosterError) -> Poster {
    try ForkGuard.check()
    let request = request.applying(addressRule)
    if let poster = cachedPoster(for: request) { return poster }
    if let stored = storedPoster(for: request, isSeen: request.priority == .visible) {
      memory.insert(stored)
      return Poster(stored, from: .disk)
    }
    guard !isOffline else { throw offline(request.address) }
    return try await fetcher.value(of: FetchRequest(request)) { [self] result, finish in
      finish(result.map { Poster(arrival(of: $0, for: request).poster, from: .network) })
    }
  }

  /// The poster if the memory tier has it: for a cell that must be filled before the next frame.
  ///
  /// Takes well under a microsecond and never waits for disk or network.
  public func cachedPoster(for request: PosterRequest) -> Poster? {
    let request = request.applying(addressRule)
    guard !ForkGuard.isInChild, let stored = memory.poster(for: request.key),
      stored.metadata.address == request.address, isUsable(stored)
    else { return nil }
    // The disk tier must not take a poster for unused because it is so popular that memory has it.
    disk?.noteUse(of: request, isSeen: request.priority == .visible)
    return Poster(stored, from: .memory)
  }

  /// Makes sure that the disk tier has the poster; returns when it is committed there. Without a
  /// disk tier the same for memory.
  ///
  /// Does not count as looking at the poster: until somebody asks for it, it is evicted first, and a
  /// request of priority ``Priority/visible`` is taken for one of ``Priority/background``. Those leave
  /// the memory tier to what is looked at.
  ///
  /// - Throws: what the transfer failed with, ``PosterError/Code/offline``, or
  ///   ``PosterError/Code/notStored``.
  @discardableResult
  public func warm(_ request: PosterRequest) async throws(PosterError) -> WarmOutcome {
    try ForkGuard.check()
    var request = request.applying(addressRule)
    if request.priority == .visible { request.priority = .background }
    if diskTier == nil, cachedPoster(for: request) != nil { return .hit }
    if storedPoster(for: request, isSeen: false) != nil { return .hit }
    guard !isOffline else { throw offline(request.address) }
    return try await fetcher.value(of: FetchRequest(request)) { [self, request] result, finish in
      switch result {
      case .failure(let error): finish(.failure(error))
      case .success(let response):
        let arrival = arrival(of: response, for: request)
        arrival.whenStored { stored in
          finish(stored.map { .fetched(bytes: arrival.poster.body.count) })
        }
      }
    }
  }

  // MARK: - List pages

  /// Loads a list page; every status is an answer, only a failed transfer throws.
  public func page(_ request: PageRequest) async throws(PosterError) -> PageResponse {
    try ForkGuard.check()
    guard !isOffline else { throw offline(request.address) }
    let response = try await fetcher.response(
      to: FetchRequest(request.address, kind: .page(request.credential)))
    return PageResponse(status: response.status, body: response.body)
  }

  // MARK: - Ending

  /// Stops transfers, stores what has been fetched and closes the directory. Requests that are
  /// still waiting fail with ``PosterError/Code/cancelled``. Idempotent.
  public func shutdown() async {
    // The threads to be waited for are the parent's.
    guard !ForkGuard.isInChild else { return }
    await withCheckedContinuation { continuation in
      // Both wait for a thread, which the tasks' threads must not.
      let thread = WorkerThread(name: "poster-close") { [fetcher, diskTier] in
        fetcher.shutdown()
        diskTier?.close()
        continuation.resume()
      }
      thread.detach()
    }
  }

  // MARK: - Private

  /// The poster if the disk tier has it and it may be used.
  private func storedPoster(for request: PosterRequest, isSeen: Bool) -> StoredPoster? {
    do throws(PosterError) {
      guard let stored = try disk?.poster(for: request, isSeen: isSeen), isUsable(stored) else {
        return nil
      }
      return stored
    } catch {
      // A tier that fails is a miss: the origin still has the picture.
      warnings.warn(error)
      return nil
    }
  }

  /// Whether it is fresh. What was stored later than now was stored under a wrong clock, which also
  /// made its freshness too long; a day of difference is let pass.
  private func isUsable(_ stored: StoredPoster) -> Bool {
    guard !isOffline else { return true }
    let now = clock.now()
    return stored.metadata.expiresAt > now
      && stored.metadata.storedAt < now.addingTimeInterval(86_400)
  }

  /// Puts a picture that has just been received into the tiers, once for all requests that its
  /// transfer served. Called on the fetch thread, for those requests one right after the other.
  private func arrival(of response: FetchResponse, for request: PosterRequest) -> Arrival {
    let isSeen = request.priority == .visible
    let belongsIntoMemory = request.priority > .background || diskTier == nil
    let (arrival, isNew) = response.keepsake.value {
      Arrival(of: response, for: request, at: clock.now())
    }
    if belongsIntoMemory, arrival.isStorable { memory.insert(arrival.poster) }
    guard isNew else {
      if isSeen { disk?.noteUse(of: request, isSeen: true) }
      return arrival
    }
    guard arrival.isStorable else {
      let refusal = PosterError(.notStored, "the server forbids storing \(request.address)")
      arrival.storingDidFinish(.failure(refusal))
      return arrival
    }
    guard let diskTier else {
      arrival.storingDidFinish(.success(()))
      return arrival
    }
    diskTier.insert(arrival.poster, isSeen: isSeen) { [warnings] result in
      if case .failure(let error) = result { warnings.warn(error) }
      arrival.storingDidFinish(result)
    }
    return arrival
  }

  private func offline(_ address: PosterAddress) -> PosterError {
    PosterError(.offline, "not in the cache, and offline: \(address)")
  }
}
