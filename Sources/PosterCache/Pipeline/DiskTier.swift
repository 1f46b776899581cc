import Glibc
import Synchronization

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

  /// The generation tells a cache that was lost from the one that took its place.
  private enum State {
    case open(DiskCache, generation: Int)
    /// Being opened; what waits to be stored in it, and its bytes.
    /// The cache is there once its directory is open and while it is given what has waited.
    case opening([Insertion], bytes: Int, generation: Int, DiskCache?)
    /// Could not be opened, for this reason, and is not tried again before this time or a change of
    /// what stands at the path.
    case unusable(PosterError, retryAt: UInt64, found: Standing, generation: Int)
    /// Closed, but for what this cache still has to commit, if there is one.
    case closed(DiskCache?)
  }

  /// What stands at a path, so far as a change of it is worth another try.
  private struct Standing: Equatable {
    private var device: dev_t = 0
    private var inode: ino_t = 0
    private var changedAt = 0

    init(_ path: String) {
      var status = stat()
      guard stat(path, &status) == 0 else { return }
      device = status.st_dev
      inode = status.st_ino
      changedAt = status.st_ctim.tv_sec * 1_000_000_000 + status.st_ctim.tv_nsec
    }
  }

  /// Bytes of posters that wait while the directory is opened; what exceeds it is not stored.
  static let maximumWaitingBytes = 32 << 20
  /// A directory that cannot be opened is tried again after this long, when there is something to
  /// store.
  static let retryNanoseconds: UInt64 = 10 * nanosecondsPerSecond

  private let path: String
  /// A limit that was asked for; a directory that is made anew gets it as well.
  private let limit: ByteSize?
  private let isLimitSet = Atomic(false)
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
    // Also after the program has changed its working directory.
    let path = CacheDirectory.absolute(path)
    self.path = path
    self.limit = limit
    self.warnings = warnings
    do throws(PosterError) {
      state = Lock(.open(try DiskCache(directory: path, limit: limit), generation: 0))
      isLimitSet.store(true, ordering: .relaxed)
    } catch {
      guard !isRequired else { throw error }
      warnings.warn(error)
      state = Lock(Self.unusable(path, error)(0))
    }
  }

  /// The cache, `nil` while it cannot be used.
  var cache: DiskCache? {
    state.withLock { state in
      if case .open(let cache, _) = state { cache } else { nil }
    }
  }

  /// Stores `poster`; `completion` is called once, on any thread.
  func insert(_ poster: StoredPoster, isSeen: Bool, completion: @escaping Completion) {
    insert(Insertion(poster: poster, isSeen: isSeen, completion: completion), isRepeated: false)
  }

  /// Notes that a server has confirmed `poster`, as ``DiskCache/confirm(_:as:completion:)`` does;
  /// `completion` is called once, on any thread. Where the directory is lost, or being opened anew, the
  /// confirmed poster is stored instead, as if it had been sent again.
  func confirm(
    _ poster: StoredPoster, as metadata: PosterMetadata, completion: @escaping Completion
  ) {
    let open = state.withLock { state -> (cache: DiskCache, generation: Int)? in
      if case .open(let cache, let generation) = state { (cache, generation) } else { nil }
    }
    let insertion = Insertion(
      poster: poster.confirmed(as: metadata), isSeen: false, completion: completion)
    guard let (cache, generation) = open else { return insert(insertion, isRepeated: false) }
    cache.confirm(poster, as: metadata) { result in
      guard case .failure(let error) = result, error.code == .directoryUnavailable else {
        return completion(result)
      }
      self.cacheWasLost(generation, error)
      self.insert(insertion, isRepeated: true)
    }
  }

  /// What is remembered about a picture that the server did not have; `nil` also where nothing can be
  /// remembered.
  func absence(of request: PosterRequest) -> Absence? {
    do throws(PosterError) {
      return try cache?.absence(of: request)
    } catch {
      // A tier that fails remembers nothing: the server can be asked again.
      warnings.warn(error)
      return nil
    }
  }

  /// Remembers that the server has no picture for `request`, unless the cache cannot be used just now.
  func noteAbsence(of request: PosterRequest, _ absence: Absence) {
    cache?.noteAbsence(of: request, absence)
  }

  /// Commits what waits and closes the directory. Idempotent; waits for the disk, whoever began it.
  func close() {
    let (closing, waiting) = state.withLock { state -> (DiskCache?, [Insertion]) in
      switch state {
      case .open(let cache, _):
        state = .closed(cache)
        return (cache, [])
      case .opening(let waiting, _, _, let cache):
        state = .closed(cache)
        return (cache, waiting)
      case .closed(let cache): return (cache, [])
      case .unusable:
        state = .closed(nil)
        return (nil, [])
      }
    }
    closing?.close()
    Self.refuse(waiting, Self.closedError)
    // Let go of only when there is nothing more to wait for.
    state.withLock { $0 = .closed(nil) }
  }

  // MARK: - Private

  private static let closedError = PosterError(.notStored, "the cache is closed")

  private func insert(_ insertion: Insertion, isRepeated: Bool) {
    let (decision, mustOpen) = state.withLock { state -> (Decision, Bool) in
      switch state {
      case .open(let cache, let generation):
        return (.store(cache, generation), false)
      case .opening(let waiting, let bytes, let generation, let cache):
        let total = bytes + insertion.poster.body.count
        guard total <= Self.maximumWaitingBytes else {
          return (.refuse(PosterError(.notStored, "the disk cannot keep up")), false)
        }
        state = .opening(waiting + [insertion], bytes: total, generation: generation, cache)
        return (.wait, false)
      case .unusable(let error, let retryAt, let found, let generation):
        guard retryAt <= monotonicNanoseconds() || found != Standing(path) else {
          return (.refuse(error), false)
        }
        state = .opening(
          [insertion], bytes: insertion.poster.body.count, generation: generation + 1, nil)
        return (.wait, true)
      case .closed:
        return (.refuse(Self.closedError), false)
      }
    }
    if mustOpen { open() }
    switch decision {
    case .wait: break
    case .refuse(let error): insertion.completion(.failure(error))
    case .store(let cache, let generation):
      cache.insert(insertion.poster, isSeen: insertion.isSeen) { result in
        guard case .failure(let error) = result, error.code == .directoryUnavailable, !isRepeated
        else { return insertion.completion(result) }
        self.cacheWasLost(generation, error)
        self.insert(insertion, isRepeated: true)
      }
    }
  }

  private enum Decision {
    case store(DiskCache, Int)
    case wait
    case refuse(PosterError)
  }

  /// Gives the cache of `lost` up and opens the directory anew, unless that has been seen to already.
  private func cacheWasLost(_ lost: Int, _ error: PosterError) {
    let cache = state.withLock { state -> DiskCache? in
      guard case .open(let cache, lost) = state else { return nil }
      state = .opening([], bytes: 0, generation: lost + 1, nil)
      return cache
    }
    // Its last reference may go here, outside the lock: that ends its thread.
    guard cache != nil else { return }
    warnings.warn(error)
    open()
  }

  /// Opens the directory and has stored what waits for it, in the order in which it came.
  private func open() {
    WorkerThread(name: "poster-reopen") { [self] in
      do throws(PosterError) {
        // A limit that has been set belongs to the directory, which somebody may have given another one.
        let isDue = !isLimitSet.load(ordering: .relaxed) || access("\(path)/format", F_OK) != 0
        let cache = try DiskCache(directory: path, limit: isDue ? limit : nil)
        isLimitSet.store(true, ordering: .relaxed)
        while let waiting = takeWaiting(for: cache) {
          for insertion in waiting {
            cache.insert(
              insertion.poster, isSeen: insertion.isSeen, completion: insertion.completion)
          }
        }
      } catch {
        warnings.warn(error)
        let next = Self.unusable(path, error)
        let waiting = state.withLock { state -> [Insertion] in
          guard case .opening(let waiting, _, let generation, _) = state else { return [] }
          state = next(generation)
          return waiting
        }
        Self.refuse(waiting, error)
      }
    }.detach()
  }

  /// What waits to be stored in `cache`, or `nil` if nothing does: then it is open, or closed if nobody
  /// wants it any more.
  private func takeWaiting(for cache: DiskCache) -> [Insertion]? {
    let (waiting, isWanted) = state.withLock { state -> ([Insertion], Bool) in
      guard case .opening(let waiting, _, let generation, _) = state else { return ([], false) }
      state =
        waiting.isEmpty
        ? .open(cache, generation: generation)
        : .opening([], bytes: 0, generation: generation, cache)
      return (waiting, true)
    }
    guard isWanted else {
      cache.close()
      return nil
    }
    if waiting.isEmpty { warnings.faultIsOver() }
    return waiting.isEmpty ? nil : waiting
  }

  /// The state after `error`, for the generation that is to be given.
  private static func unusable(_ path: String, _ error: PosterError) -> (Int) -> State {
    let retryAt = monotonicNanoseconds() + retryNanoseconds
    let found = Standing(path)
    return { .unusable(error, retryAt: retryAt, found: found, generation: $0) }
  }

  private static func refuse(_ insertions: [Insertion], _ error: PosterError) {
    for insertion in insertions { insertion.completion(.failure(error)) }
  }
}
