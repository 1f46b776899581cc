/// What a ``Prefetcher`` is beneath: does what ``PrefetchLedger`` decides.
///
/// Events are taken under one lock, on the thread of whoever reports them. What follows from them is put
/// into an outbox, in order, and done outside the lock by one thread at a time: whoever comes first empties
/// the box, also of what others put there meanwhile.
final class PrefetchDriver: Sendable {
  typealias Number = PrefetchLedger.Number

  /// What is there of a section.
  struct Content: Sendable {
    /// Where further pages come from.
    var feed: any FeedSource
    var items: [FeedItem] = []
    /// What the last page failed with, if it failed.
    var failure: PosterError?
  }

  /// A slot that shows an item.
  struct Binding: Sendable {
    weak var slot: SlotCore?
    var cell: WindowCell
    /// The slot's binding; a later one is not this one's.
    var generation: UInt64
    var rendition: Rendition
    /// It has its picture, or the error.
    var hasPicture: Bool
    /// It has a preview.
    var hasPreview = false

    /// Whether it waits for what `ask` brings.
    func waits(for ask: WindowAsk) -> Bool {
      cell == ask.cell && !hasPicture && (ask.rung == .full || !hasPreview)
    }
  }

  /// What waits for time to go by.
  struct Timer: Sendable {
    var number: Int
    var time: Double
    var task: Task<Void, Never>?
  }

  /// What to do outside the lock.
  enum Effect: Sendable {
    case start(Number, PrefetchJob)
    case loadPage(Number, any FeedSource)
    case stop(Number)
    case tell(Prefetcher.Change, [AsyncStream<Prefetcher.Change>.Continuation])
  }

  struct Shared: Sendable {
    var ledger: PrefetchLedger
    var contents: [Content] = []
    var bindings: [ObjectIdentifier: Binding] = [:]
    var outbox: [Effect] = []
    var isEmptyingOutbox = false
    /// Tickets and pages whose tasks have not ended, dropped ones included.
    var running: Set<Number> = []
    /// Their tasks, but for those that have been cancelled.
    var tasks: [Number: Task<Void, Never>] = [:]
    var idleContinuations: [CheckedContinuation<Void, Never>] = []
    var subscribers: [Int: AsyncStream<Prefetcher.Change>.Continuation] = [:]
    var lastSubscriber = 0
    /// One at most waits.
    var timer: Timer?
    var lastTimer = 0
    /// The pipeline has been told that its prefetches are planned.
    var isPlanning = false
  }

  let pipeline: PosterPipeline
  /// A picture that was asked for last.
  private let askedLast = Lock<PosterAddress?>(nil)
  let configuration: Prefetcher.Configuration
  private let clock: PrefetchClock
  private let shared: Lock<Shared>

  init(
    _ pipeline: PosterPipeline, _ configuration: Prefetcher.Configuration, clock: PrefetchClock
  ) {
    self.pipeline = pipeline
    self.configuration = configuration
    self.clock = clock
    shared = Lock(Shared(ledger: PrefetchLedger(configuration)))
  }

  /// Looks at something.
  func read<Value: Sendable>(_ body: (borrowing Shared) -> Value) -> Value {
    shared.withLock { body($0) }
  }

  /// Changes something that nothing follows from.
  @discardableResult
  func write<Value: Sendable>(_ body: (inout Shared) -> Value) -> Value {
    shared.withLock { body(&$0) }
  }

  /// Takes an event, and does what follows from it.
  @discardableResult
  func take<Value: Sendable>(_ event: (inout Shared, _ now: Double) -> Value) -> Value {
    let now = clock.now()
    let link = link()
    let value = shared.withLock { shared in
      shared.forgetLostSlots()
      let value = event(&shared, now)
      for action in shared.ledger.settle(at: now, link: link) {
        shared.outbox.append(effect(of: action, &shared))
      }
      tellPipeline(&shared)
      return value
    }
    emptyOutbox()
    setTimer()
    return value
  }

  /// What is known of the way to where the pictures come from: the host that was asked last, which need not
  /// be the one that paths lead to.
  func link() -> LinkFigures? {
    pipeline.fetcher.link(to: askedLast.withLock { $0 } ?? configuration.images.base)
  }

  /// Tells the pipeline whether its prefetches are planned from now on, before any of them is asked for.
  private func tellPipeline(_ shared: inout Shared) {
    guard shared.ledger.isPlanning != shared.isPlanning else { return }
    shared.isPlanning.toggle()
    // Adds to a counter, and so may be done under the lock, which keeps both in step.
    if shared.isPlanning {
      pipeline.fetcher.planningDidBegin()
    } else {
      pipeline.fetcher.planningDidEnd()
    }
  }

  // MARK: - Effects

  private func effect(of action: PrefetchLedger.Action, _ shared: inout Shared) -> Effect {
    switch action {
    case .start(let number, let ask, let priority):
      shared.running.insert(number)
      let job = job(for: ask, priority, shared)
      askedLast.withLock { $0 = job.request.address }
      return .start(number, job)
    case .drop(let number), .dropPage(let number):
      return .stop(number)
    case .loadPage(let number, let section):
      shared.running.insert(number)
      return .loadPage(number, shared.contents[section].feed)
    }
  }

  /// Does what waits in the outbox, unless another thread is at it.
  private func emptyOutbox() {
    var isMine = false
    while true {
      let effects = shared.withLock { shared -> [Effect]? in
        if shared.isEmptyingOutbox, !isMine { return nil }
        isMine = true
        shared.isEmptyingOutbox = !shared.outbox.isEmpty
        defer { shared.outbox = [] }
        return shared.outbox.isEmpty ? nil : shared.outbox
      }
      guard let effects else { return }
      for effect in effects { perform(effect) }
    }
  }

  private func perform(_ effect: Effect) {
    switch effect {
    case .start(let number, let job):
      keep(
        number,
        Task.detached(priority: job.request.priority == .visible ? .userInitiated : .utility) {
          [self] in
          let result = await job.run(pipeline)
          ticketDidEnd(number, result)
          taskDidEnd(number)
        })
    case .loadPage(let number, let feed):
      keep(
        number,
        Task.detached(priority: .userInitiated) { [self] in
          var feed = feed
          let result: Result<FeedPage?, PosterError>
          do throws(PosterError) {
            result = .success(try await feed.nextPage())
          } catch {
            result = .failure(error)
          }
          pageDidEnd(number, feed, result)
          taskDidEnd(number)
        })
    case .stop(let number):
      let task = shared.withLock { $0.tasks.removeValue(forKey: number) }
      task?.cancel()
    case .tell(let change, let subscribers):
      for subscriber in subscribers { subscriber.yield(change) }
    }
  }

  /// Keeps the task of a ticket or a page, so that it can be stopped: what has been dropped already is
  /// stopped by the next effects. It may have ended before.
  private func keep(_ number: Number, _ task: Task<Void, Never>) {
    shared.withLock { shared in
      if shared.running.contains(number) { shared.tasks[number] = task }
    }
  }

  private func taskDidEnd(_ number: Number) {
    let continuations = shared.withLock { shared in
      shared.tasks[number] = nil
      shared.running.remove(number)
      guard shared.running.isEmpty else { return [CheckedContinuation<Void, Never>]() }
      defer { shared.idleContinuations = [] }
      return shared.idleContinuations
    }
    for continuation in continuations { continuation.resume() }
  }

  /// Waits until no task runs any more.
  func finish() async {
    await withCheckedContinuation { continuation in
      let isIdle = shared.withLock { shared in
        if !shared.running.isEmpty { shared.idleContinuations.append(continuation) }
        return shared.running.isEmpty
      }
      if isIdle { continuation.resume() }
    }
  }

  // MARK: - Time

  /// Has one timer wait for the ledger's next time. One that waits for an earlier time is let be: it will
  /// look again.
  private func setTimer() {
    let (replaced, next) = shared.withLock { shared -> (Timer?, (number: Int, time: Double)?) in
      guard let time = shared.ledger.nextWake else { return (shared.timer.take(), nil) }
      if let timer = shared.timer, timer.time <= time { return (nil, nil) }
      shared.lastTimer += 1
      let replaced = shared.timer
      shared.timer = Timer(number: shared.lastTimer, time: time)
      return (replaced, (shared.lastTimer, time))
    }
    replaced?.task?.cancel()
    guard let next else { return }
    let task = Task.detached { [weak self, clock] in
      await clock.wait(next.time)
      self?.timerDidFire(next.number)
    }
    let isCurrent = write { shared in
      guard shared.timer?.number == next.number else { return false }
      shared.timer?.task = task
      return true
    }
    // Another thread has set another one, or it has fired already.
    if !isCurrent { task.cancel() }
  }

  private func timerDidFire(_ number: Int) {
    let isCurrent = shared.withLock { shared in
      guard shared.timer?.number == number else { return false }
      shared.timer = nil
      return true
    }
    if isCurrent { take { shared, now in shared.ledger.timeDidPass(at: now) } }
  }
}
