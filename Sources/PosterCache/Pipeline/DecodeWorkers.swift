import Glibc

/// The threads that decode posters.
///
/// Decides with ``DecodeQueue``. The threads start with the first poster: programs that decode none have
/// none. Completions are called on them, each exactly once. Safe to use from any thread; workers that are
/// let go of shut down.
final class DecodeWorkers: Sendable {
  typealias Decode =
    @Sendable (PosterBody, Rendition, _ allowingIncomplete: Bool) throws(PosterError) -> PosterImage
  typealias Completion = @Sendable (DecodeOutcome, Delivery?) -> Void

  /// Bytes of pixels on their way to those who wait, at most, before a worker begins with another poster:
  /// a task that has been resumed may take its time until it runs.
  static let maximumUndeliveredBytes = 4 << 20

  /// Pixels on their way: until the last of those who wait for them has let go of this.
  final class Delivery: Sendable {
    private let state: Monitor<State>
    private let bytes: Int

    fileprivate init(_ image: PosterImage, _ state: Monitor<State>) {
      self.state = state
      bytes = image.bitmap.byteCount
      state.withLock { $0.undeliveredBytes += bytes }
    }

    deinit {
      state.withLock { $0.undeliveredBytes -= bytes }
      state.signal()
    }
  }

  /// What the threads do.
  struct Work: Sendable {
    /// Makes pixels; takes as long as it takes.
    let decode: Decode
    /// Looks for a poster that nobody has kept for its job; may read the disk.
    let find: @Sendable (DecodeOrder) -> StoredPoster?
    /// Looks for pixels that another decode has made since this one was ordered.
    let decoded: @Sendable (DecodeOrder) -> PosterImage?
    /// Takes what was decoded, before anybody is told.
    let keep: @Sendable (PosterImage, DecodeOrder, _ isSeen: Bool) -> Void
  }

  struct State {
    fileprivate(set) var queue = DecodeQueue()
    fileprivate var orders: [DecodeQueue.Name: DecodeOrder] = [:]
    fileprivate var completions: [DecodeQueue.Interest: Completion] = [:]
    fileprivate var undeliveredBytes = 0
    fileprivate var lastInterest: UInt64 = 0
    fileprivate var threads: [WorkerThread] = []
    fileprivate var phase = Phase.running
  }

  fileprivate enum Phase {
    case running, ending, ended
  }

  private let count: Int
  private let work: Work
  let state = Monitor(State())

  /// - Parameter count: how many posters are decoded at once; at least 1.
  init(count: Int, _ work: Work) {
    precondition(count >= 1, "no worker")
    self.count = count
    self.work = work
  }

  deinit {
    // In a child made by fork, the threads are the parent's.
    guard !ForkGuard.isInChild else { return }
    shutdown()
  }

  /// One core is left to everything else.
  static var defaultCount: Int { max(sysconf(CInt(_SC_NPROCESSORS_ONLN)) - 1, 1) }

  /// Has `order` decoded, whose poster is at hand.
  ///
  /// - Parameters:
  ///   - mustHold: refer to the poster until its turn comes, however many are referred to.
  ///   - completion: called on a worker's thread, or at once by whoever drops the interest or shuts down.
  /// - Returns: what to ``drop(_:)``.
  @discardableResult
  func submit(
    _ order: DecodeOrder, mustHold: Bool, completion: @escaping Completion
  ) -> DecodeQueue.Interest? {
    let name = order.name
    let (interest, isNew) = state.withLock { state -> (DecodeQueue.Interest?, Bool) in
      state.lastInterest += 1
      let interest = DecodeQueue.Interest(number: state.lastInterest)
      let addition = state.queue.interestWasAdded(
        interest, in: name, order.request.priority, bodyBytes: order.poster?.body.count ?? 0,
        mustHold: mustHold)
      guard let addition else { return (nil, false) }
      state.completions[interest] = completion
      if addition.isNew { state.orders[name] = order.withoutPoster }
      if addition.holdsBody { state.orders[name]?.poster = order.poster }
      startThreads(&state)
      return (interest, addition.isNew)
    }
    guard let interest else {
      completion(.cancelled, nil)
      return nil
    }
    if isNew { state.signal() }
    return interest
  }

  /// Ends an interest, which completes as cancelled unless it has completed already.
  func drop(_ interest: DecodeQueue.Interest) {
    guard !ForkGuard.isInChild else { return }
    // Let go of outside the lock.
    let (completion, order) = state.withLock { state -> (Completion?, DecodeOrder?) in
      var order: DecodeOrder?
      if case .endedJob(let name) = state.queue.interestWasDropped(interest) {
        order = state.orders.removeValue(forKey: name)
      }
      return (state.completions.removeValue(forKey: interest), order)
    }
    withExtendedLifetime(order) { completion?(.cancelled, nil) }
  }

  /// Completes everything that waits as cancelled and waits for the threads. Idempotent; never call it in
  /// a completion.
  func shutdown() {
    // What waited is let go of outside the lock.
    let (completions, orders, threads) = state.withLock {
      state -> ([Completion], [DecodeQueue.Name: DecodeOrder], [WorkerThread]?) in
      guard state.phase == .running else { return ([], [:], nil) }
      state.phase = .ending
      let ended = state.queue.didShutDown()
      let completions = ended.compactMap { state.completions.removeValue(forKey: $0) }
      defer { state.orders = [:] }
      return (completions, state.orders, state.threads)
    }
    withExtendedLifetime(orders) { for completion in completions { completion(.cancelled, nil) } }
    guard let threads else {
      return state.wait(untilNanoseconds: { _ in nil }, for: { $0.phase == .ended ? () : nil })
    }
    state.signal()
    for thread in threads {
      // The last reference may go where a completion lets go of it.
      if thread.isCurrent { thread.detach() } else { thread.join() }
    }
    state.withLock { $0.phase = .ended }
    state.signal()
  }

  // MARK: - The workers' threads

  private func startThreads(_ shared: inout State) {
    guard shared.threads.isEmpty else { return }
    shared.threads = (0..<count).map { _ in
      WorkerThread(name: "poster-decode") { [state, work] in Self.run(state, work) }
    }
  }

  private static func run(_ state: Monitor<State>, _ work: Work) {
    while let (name, order) = next(state) {
      let outcome = outcome(of: order, work) { state.withLock { $0.queue.isSeen(name) } }
      let completions = state.withLock { state in
        state.queue.jobDidFinish(name).compactMap { state.completions.removeValue(forKey: $0) }
      }
      var delivery: Delivery?
      if case .image(let image, _) = outcome { delivery = Delivery(image, state) }
      for completion in completions { completion(outcome, delivery) }
    }
  }

  /// Waits for a job; `nil` at the end.
  private static func next(
    _ state: Monitor<State>
  ) -> (name: DecodeQueue.Name, order: DecodeOrder)? {
    state.wait(
      untilNanoseconds: { _ in nil },
      for: { state -> (DecodeQueue.Name, DecodeOrder)?? in
        if state.phase != .running { return .some(nil) }
        guard state.undeliveredBytes <= maximumUndeliveredBytes,
          let name = state.queue.workerBecameFree()
        else { return nil }
        guard let order = state.orders.removeValue(forKey: name) else {
          preconditionFailure("a job without an order: \(name)")
        }
        return (name, order)
      })
  }

  private static func outcome(
    of order: DecodeOrder, _ work: Work, isSeen: () -> Bool
  ) -> DecodeOutcome {
    var order = order
    if order.poster == nil {
      guard let poster = work.find(order) else { return .gone }
      // Perhaps another version than there was: the later one.
      order.poster = poster
      order.bodyHash = poster.body.contentHash
    }
    guard let poster = order.poster else { return .gone }
    if let image = work.decoded(order) { return .image(image, bodyHash: order.bodyHash) }
    do throws(PosterError) {
      let image = try work.decode(poster.body, order.rendition, order.allowsIncomplete)
      work.keep(image, order, isSeen())
      return .image(image, bodyHash: order.bodyHash)
    } catch {
      return .failed(error, bodyHash: order.bodyHash)
    }
  }
}
