/// The disk tier as a pipeline has it: a ``DiskCache`` that may be lost and found again.
///
/// Somebody may delete or replace the cache directory while a program runs, as people do with what
/// lies in `~/.cache`. The next poster that is to be stored notices: the directory is opened anew, on
/// a thread of its own, and what is to be stored meanwhile waits. Where that is impossible, posters
/// are delivered without being stored, and it is tried again now and then.
///
/// Safe to use from any thread.
final class DiskTier: Sendable {
  typealias Completion = @Sendable (Result<Void, PosterError>) -> Void

  private struct Insertion {
    let poster: StoredPoster
    let isSeen: Bool
    let completion: Completion
  }

  private enum State {
    case open(DiskCache)
    /// Being opened; what waits to be stored in it, and its bytes.
    case opening([Insertion], bytes: Int)
    /// Could not be opened, for this reason, and is not tried again before this time.
    case unusable(PosterError, retryAt: UInt64)
    case closed
  }

  /// Bytes of posters that wait while the directory is opened; what exceeds it is not stored.
  static let maximumWaitingBytes = 32 << 20
  /// A directory that cannot be opened is tried again after this long, when there is something to
  /// store.
  static let retryNanoseconds: UInt64 = 10 * nanosecondsPerSecond

  private let path: String
  private let warnings: WarningGate
  private let state: Lock<State>

  /// Opens the cache directory at `path`.
  ///
  /// - Parameters:
  ///   - limit: a new limit for the directory.
  ///   - isRequired: throw where it cannot be opened, instead of warning and trying again later.
  init(
    _ path: String, limit: ByteSize?, isRequired: Bool, warnings: WarningGate
  ) throws(PosterError) {
    self.path = path
    self.warnings = warnings
    do throws(PosterError) {
      state = Lock(.open(try DiskCache(directory: path, limit: limit)))
    } catch {
      guard !isRequired else { throw error }
      warnings.warn(error)
      state = Lock(.unusable(error, retryAt: monotonicNanoseconds() + Self.retryNanoseconds))
    }
  }

  /// The cache, `nil` while it cannot be used.
  var cache: DiskCache? {
    state.withLock { state in
      if case .open(let cache) = state { cache } else { nil }
    }
  }

  /// Stores `poster`; `completion` is called once, on any thread.
  func insert(_ poster: StoredPoster, isSeen: Bool, completion: @escaping Completion) {
    insert(Insertion(poster: poster, isSeen: isSeen, completion: completion), isRepeated: false)
  }

  /// Commits what waits and closes the directory. Idempotent; waits for the disk.
  func close() {
    let last = state.withLock { state -> State in
      let last = state
      state = .closed
      return last
    }
    switch last {
    case .open(let cache): cache.close()
    case .opening(let waiting, _): Self.refuse(waiting, Self.closedError)
    case .unusable, .closed: break
    }
  }

  // MARK: - Private

  private static let closedError = PosterError(.notStored, "the cache is closed")

  private func insert(_ insertion: Insertion, isRepeated: Bool) {
    let (decision, mustOpen) = state.withLock { state -> (Decision, Bool) in
      switch state {
      case .open(let cache):
        return (.store(cache), false)
      case .opening(let waiting, let bytes):
        let total = bytes + insertion.poster.body.count
        guard total <= Self.maximumWaitingBytes else {
          return (.refuse(PosterError(.notStored, "the disk cannot keep up")), false)
        }
        state = .opening(waiting + [insertion], bytes: total)
        return (.wait, false)
      case .unusable(let error, let retryAt):
        guard retryAt <= monotonicNanoseconds() else { return (.refuse(error), false) }
        state = .opening([insertion], bytes: insertion.poster.body.count)
        return (.wait, true)
      case .closed:
        return (.refuse(Self.closedError), false)
      }
    }
    if mustOpen { open() }
    switch decision {
    case .wait: break
    case .refuse(let error): insertion.completion(.failure(error))
    case .store(let cache):
      cache.insert(insertion.poster, isSeen: insertion.isSeen) { [weak cache] result in
        guard case .failure(let error) = result, error.code == .directoryUnavailable, !isRepeated,
          let cache
        else { return insertion.completion(result) }
        self.cacheWasLost(cache, error)
        self.insert(insertion, isRepeated: true)
      }
    }
  }

  private enum Decision {
    case store(DiskCache)
    case wait
    case refuse(PosterError)
  }

  /// Gives `lost` up and opens the directory anew, unless somebody has seen to that already.
  private func cacheWasLost(_ lost: DiskCache, _ error: PosterError) {
    let isNews = state.withLock { state in
      guard case .open(let cache) = state, cache === lost else { return false }
      state = .opening([], bytes: 0)
      return true
    }
    guard isNews else { return }
    warnings.warn(error)
    open()
  }

  /// Opens the directory and has stored what waits for it.
  private func open() {
    WorkerThread(name: "poster-reopen") { [self] in
      let result = Result { () throws(PosterError) in try DiskCache(directory: path) }
      let (waiting, isWanted) = state.withLock { state -> ([Insertion], Bool) in
        guard case .opening(let waiting, _) = state else { return ([], false) }
        switch result {
        case .success(let cache): state = .open(cache)
        case .failure(let error):
          state = .unusable(error, retryAt: monotonicNanoseconds() + Self.retryNanoseconds)
        }
        return (waiting, true)
      }
      switch result {
      case .success(let cache):
        guard isWanted else { return cache.close() }
        warnings.faultIsOver()
        for insertion in waiting { insert(insertion, isRepeated: true) }
      case .failure(let error):
        warnings.warn(error)
        Self.refuse(waiting, error)
      }
    }.detach()
  }

  private static func refuse(_ insertions: [Insertion], _ error: PosterError) {
    for insertion in insertions { insertion.completion(.failure(error)) }
  }
}
