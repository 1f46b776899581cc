import FoundationEssentials

/// The cache as a program uses it: memory, then disk, then the origin.
///
/// Safe to use from any thread and task. A request that finds its poster fresh in memory or on disk
/// never waits for the network; requests for the same picture share one transfer, and its bytes are one
/// allocation that the network, both tiers and every caller share. What may be used and when its server
/// is asked is decided by ``CachePolicy``. Make one pipeline for a cache directory and keep it as long as
/// the program runs; ``shutdown()`` it before exiting, so that what was fetched is stored.
public final class PosterPipeline: Sendable {
  /// What ``warm(_:)`` had to do.
  public enum WarmOutcome: Sendable, Hashable {
    /// The poster was in the cache already.
    case hit
    /// It was in the cache, and its server has confirmed it now.
    case revalidated
    /// It was fetched and is stored now; the number of body bytes.
    case fetched(bytes: Int)
  }

  /// The disk tier, `nil` if the configuration names no directory or it cannot be used now. Another
  /// one after the directory was deleted or replaced: do not keep it.
  public var disk: DiskCache? { tiers.disk }
  /// The memory tier.
  public var memory: MemoryCache { tiers.memory }
  /// The memory tier of decoded posters.
  public var bitmaps: BitmapCache { tiers.images.bitmaps }

  let tiers: PosterTiers
  let fetcher: Fetcher
  let revalidations = Revalidations()
  let workers: DecodeWorkers
  /// For posters that are got once more, because no tier kept them.
  let turns = DecodeTurns(count: 4)
  /// For pixels that nobody waits for: more than the decoders and all connections have to do at once.
  let prefetchTurns = DecodeTurns(count: 256)
  let mode: CacheMode
  let addressRule: AddressRule

  /// Opens the cache directory and starts the threads for transfers and storing; those for decoding start
  /// with the first picture.
  ///
  /// - Throws: ``PosterError/Code/directoryUnavailable``, ``PosterError/Code/unsupportedFormat`` or
  ///   ``PosterError/Code/damagedIndex`` for the directory,
  ///   ``PosterError/Code/invalidConfiguration`` or ``PosterError/Code/resourcesExhausted`` for the
  ///   rest.
  public convenience init(_ configuration: Configuration) throws(PosterError) {
    let decoder = ImageDecoder(limits: configuration.decoding)
    try self.init(configuration) {
      (body, rendition, allowingIncomplete) throws(PosterError) in
      try decoder.decode(body, as: rendition, allowingIncomplete: allowingIncomplete)
    }
  }

  /// The same with another way of decoding.
  init(
    _ configuration: Configuration, decode: @escaping DecodeWorkers.Decode
  ) throws(PosterError) {
    guard configuration.decodeWorkers.map({ (1...1024).contains($0) }) ?? true else {
      throw PosterError(.invalidConfiguration, "decodeWorkers must be 1 to 1024")
    }
    guard !configuration.isOffline || !configuration.isRefreshing else {
      throw PosterError(.invalidConfiguration, "nothing can be refreshed offline")
    }
    mode = configuration.isOffline ? .offline : configuration.isRefreshing ? .refresh : .normal
    let tiers = try PosterTiers(configuration)
    self.tiers = tiers
    fetcher = try Fetcher(configuration.fetching, clock: configuration.clock) { request, response in
      tiers.takeUnclaimed(response, of: request)
    }
    addressRule = configuration.addressRule
    workers = DecodeWorkers(
      count: configuration.decodeWorkers ?? DecodeWorkers.defaultCount,
      DecodeWorkers.Work(
        decode: decode, find: { tiers.find($0) }, decoded: { tiers.decoded($0) },
        keep: { tiers.keep($0, $1, isSeen: $2) }))
  }

  // MARK: - Posters

  /// The poster, from the nearest tier that has it and may use it.
  ///
  /// What has expired is asked for again, and used without an answer where its server allows that: while
  /// it is asked (`stale-while-revalidate`), or if it cannot be asked or is in trouble
  /// (`stale-if-error`, ``CachingRules/errorGraceSeconds``), which is a warning. A server's answer that
  /// it has no such picture (404, 410) is remembered, and a stored one is dropped unless it is pinned. A
  /// poster that could not be stored is delivered all the same, with a warning. Cancelling the task ends
  /// the wait with ``PosterError/Code/cancelled`` and disturbs nobody else's.
  ///
  /// - Parameter mode: how to use the cache; as configured unless said otherwise.
  /// - Throws: what the transfer failed with, or ``PosterError/Code/offline``.
  public func poster(
    for request: PosterRequest, mode: CacheMode? = nil
  ) async throws(PosterError) -> Poster {
    try ForkGuard.check()
    let request = request.applying(addressRule)
    let mode = mode ?? self.mode
    if let found = tiers.rememberedPoster(for: request, mode, now: tiers.clock.now()) {
      return found
    }
    let lookup = tiers.lookups.begin(request.key)
    let (verdict, found) = tiers.look(for: request, mode)
    if let found {
      switch verdict {
      case .use: return found
      case .useAndRevalidate:
        revalidate(request)
        return Poster(found.stored, from: .stale)
      case .revalidate(let mayUse):
        do throws(PosterError) {
          return Poster(
            try await arrival(of: request, found.stored, mode, after: lookup))
        } catch {
          guard mayUse, error.isFailureToAsk else { throw error }
          tiers.warnings.warn(error)
          return Poster(found.stored, from: .stale)
        }
      case .fetch, .failAsAbsent, .failOffline: break
      }
    }
    try tiers.fail(on: verdict, request, isStored: found != nil)
    return Poster(try await arrival(of: request, nil, mode, after: lookup))
  }

  /// The poster if the memory tier has it and it is fresh: for a cell that must be filled before the
  /// next frame.
  ///
  /// Takes well under a microsecond and never waits for disk or network.
  public func cachedPoster(for request: PosterRequest) -> Poster? {
    guard !ForkGuard.isInChild else { return nil }
    return withName(request) { tiers.rememberedPoster(for: $0, mode, now: tiers.clock.now()) }
  }

  /// What `look` finds for `request` under its name. Where no rule makes another one, the request is not
  /// copied: that would take as long as a look into memory.
  func withName<Result>(_ request: PosterRequest, _ look: (PosterRequest) -> Result) -> Result {
    addressRule.isEmpty ? look(request) : look(request.applying(addressRule))
  }

  /// Makes sure that the disk tier has the poster, and that it is fresh; returns when it is committed
  /// there. Without a disk tier the same for memory.
  ///
  /// Does not count as looking at the poster: until somebody asks for it, it is evicted first, and a
  /// request of priority ``Priority/visible`` is taken for one of ``Priority/background``. Those leave
  /// the memory tier to what is looked at. Cancelling the task ends the wait with
  /// ``PosterError/Code/cancelled``; a poster that has arrived is stored all the same.
  ///
  /// - Parameter mode: how to use the cache; as configured unless said otherwise.
  /// - Throws: what the transfer failed with, ``PosterError/Code/offline``, or
  ///   ``PosterError/Code/notStored``. What has expired stays stored then.
  @discardableResult
  public func warm(
    _ request: PosterRequest, mode: CacheMode? = nil
  ) async throws(PosterError) -> WarmOutcome {
    try ForkGuard.check()
    let mode = mode ?? self.mode
    var request = request.applying(addressRule)
    if request.priority == .visible { request.priority = .background }
    let lookup = tiers.lookups.begin(request.key)
    let (verdict, stored) = tiers.lookForWarming(request, mode)
    if stored != nil, verdict == .use { return .hit }
    try tiers.fail(on: verdict, request, isStored: stored != nil)
    let arrival = try await arrival(
      of: request, verdict == .fetch ? nil : stored, mode, after: lookup)
    try await arrival.waitUntilStored()
    return arrival.confirmed == nil ? .fetched(bytes: arrival.poster.body.count) : .revalidated
  }

  // MARK: - The link

  /// What transfers have measured of the way to the server of `request`: for planning what to ask for.
  ///
  /// As of the last picture that came from there; `nil` before the first. Takes well under a microsecond.
  public func link(to request: PosterRequest) -> LinkFigures? {
    guard !ForkGuard.isInChild else { return nil }
    return fetcher.link(to: request.address)
  }

  /// How hard its fetcher has worked so far.
  package var fetchStatistics: FetchStatistics { fetcher.statistics }

  // MARK: - Ending

  /// Waits until no poster that is in use already is being asked about: for programs that are about to
  /// exit and would rather have the answer first.
  public func finishRevalidating() async {
    guard !ForkGuard.isInChild else { return }
    await revalidations.finish()
  }

  /// Stops transfers and decoding, stores what has been fetched and closes the directory. Requests that are
  /// still waiting fail with ``PosterError/Code/cancelled``. Idempotent.
  public func shutdown() async {
    // The threads to be waited for are the parent's.
    guard !ForkGuard.isInChild else { return }
    await withCheckedContinuation { continuation in
      // All of them wait for a thread, which the tasks' threads must not.
      let thread = WorkerThread(name: "poster-close") { [fetcher, workers, tiers] in
        fetcher.shutdown()
        workers.shutdown()
        tiers.diskTier?.close()
        continuation.resume()
      }
      thread.detach()
    }
  }
}
