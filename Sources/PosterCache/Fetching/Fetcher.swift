import CCurl
import CLinux
import Glibc

/// Gets pictures and list pages over HTTP.
///
/// One thread owns curl: a multi handle driven by `curl_multi_socket_action`, epoll and an eventfd
/// for submissions. What runs when is decided by ``TransferQueue``, which knows nothing of curl;
/// requests for one address share one transfer. A picture is delivered only if its status is 200 or
/// 203, its body complete and its first bytes those of a JPEG, PNG or WebP. Network errors,
/// time-outs, bodies cut short and the statuses 408, 429 and 5xx are tried again as often as
/// configured.
///
/// Safe to use from any thread. Completions are called on the fetch thread; each is called exactly
/// once, whatever happens. A fetcher that is let go of shuts down.
package final class Fetcher: Sendable {
  private let inbox: FetchInbox
  private let counters = FetchCounters()
  private let links = LinkTable()
  private let thread: WorkerThread
  private let phase = Monitor(Phase.running)

  private enum Phase {
    case running, ending, ended
  }

  /// Starts the fetch thread.
  ///
  /// - Parameters:
  ///   - clock: for `Retry-After` dates, and to say when something was asked for.
  ///   - unclaimed: called on the fetch thread with pictures whose last ticket was dropped when they
  ///     were nearly there.
  /// - Throws: ``PosterError/Code/invalidConfiguration`` if a value is out of its range,
  ///   ``PosterError/Code/resourcesExhausted`` if there are no descriptors left.
  package init(
    _ configuration: FetchConfiguration = FetchConfiguration(), clock: PosterClock = .system,
    unclaimed: @escaping UnclaimedReceiver = { _, _ in }
  ) throws(PosterError) {
    try ForkGuard.check()
    ForkGuard.watch()
    try configuration.validate()
    Self.initializeLibrary
    let epoll: FileDescriptor
    let inbox: FetchInbox
    do throws(SystemError) {
      epoll = try Self.open("epoll_create1", epoll_create1(CInt(EPOLL_CLOEXEC)))
      let flags = CInt(EFD_CLOEXEC | EFD_NONBLOCK)
      let wakeup = try Self.open("eventfd", eventfd(0, flags))
      var event = epoll_event(
        events: EPOLLIN.rawValue | EPOLLET.rawValue, data: epoll_data(fd: wakeup.number))
      guard epoll_ctl(epoll.number, EPOLL_CTL_ADD, wakeup.number, &event) == 0 else {
        throw SystemError(call: "epoll_ctl")
      }
      inbox = FetchInbox(wakeup: wakeup)
    } catch {
      throw PosterError(
        .resourcesExhausted, "cannot start fetching; raise the limit of open files",
        underlying: error)
    }
    self.inbox = inbox
    thread = WorkerThread(name: "poster-fetch") { [counters, links] in
      FetchDriver(
        configuration, clock: clock, inbox: inbox, counters: counters, links: links, epoll: epoll,
        unclaimed: unclaimed
      ).run()
    }
  }

  deinit {
    // In a child made by fork, the thread is the parent's.
    guard !ForkGuard.isInChild else { return }
    // Asked only while the thread runs: once it has been joined, a new thread may be its equal.
    if phase.withLock({ $0 == .running }), thread.isCurrent {
      // The last reference went in a completion: the thread ends on its own after it.
      inbox.close()
      pthread_detach(pthread_self())
    } else {
      shutdown()
    }
  }

  // MARK: - Fetching

  /// Fetches what `request` names and calls `completion` with what came of it.
  ///
  /// - Returns: what to ``drop(_:)`` when the answer is not wanted any more.
  @discardableResult
  package func fetch(
    _ request: FetchRequest, completion: @escaping FetchCompletion
  ) -> Ticket {
    inbox.submit(request, completion)
  }

  /// Fetches what `request` names. Cancelling the task drops the request.
  package func response(to request: FetchRequest) async throws(PosterError) -> FetchResponse {
    try await value(of: request) { result, finish in finish(result) }
  }

  /// Fetches what `request` names and waits for what `receive` makes of it. Cancelling the task drops
  /// the request.
  ///
  /// - Parameter receive: called on the fetch thread with what came of the request, before anything
  ///   else is received; has to call its second argument once, from any thread, at once or later.
  package func value<Value: Sendable>(
    of request: FetchRequest,
    _ receive:
      @escaping @Sendable (
        Result<FetchResponse, PosterError>, @escaping @Sendable (Result<Value, PosterError>) -> Void
      ) -> Void
  ) async throws(PosterError) -> Value {
    let wait = Wait<Value>(counters)
    return try await withTaskCancellationHandler {
      // Unchecked: the driver traps on a ticket that completes twice, and leaves none uncompleted.
      await withUnsafeContinuation { continuation in
        wait.begin(continuation)
        let ticket = fetch(request) { result in
          wait.didReceive()
          receive(result) { wait.finish($0) }
        }
        // The task may have been cancelled before there was a ticket.
        if wait.didGet(ticket) || Task.isCancelled { cancel(wait) }
      }
    } onCancel: {
      cancel(wait)
    }.get()
  }

  private func cancel<Value>(_ wait: Wait<Value>) {
    if let ticket = wait.cancel() { drop(ticket) }
  }

  /// One task that waits for a value: first for the response, which it can drop, then for what is made
  /// of that, which goes on without it.
  private final class Wait<Value: Sendable>: Sendable {
    typealias Continuation = UnsafeContinuation<Result<Value, PosterError>, Never>

    private struct State {
      var continuation: Continuation?
      var ticket: Ticket?
      var hasResponse = false
      var isCancelled = false
    }

    private let state = Lock(State())
    private let counters: FetchCounters

    init(_ counters: FetchCounters) {
      self.counters = counters
    }

    func begin(_ continuation: Continuation) {
      state.withLock { $0.continuation = continuation }
    }

    /// Notes the ticket; `true` if the task has been cancelled already.
    func didGet(_ ticket: Ticket) -> Bool {
      state.withLock { state in
        state.ticket = ticket
        return state.isCancelled
      }
    }

    func didReceive() {
      state.withLock { $0.hasResponse = true }
    }

    /// Ends the wait, unless it has ended.
    func finish(_ result: Result<Value, PosterError>) {
      state.withLock { $0.continuation.take() }?.resume(returning: result)
    }

    /// - Returns: the ticket to drop, if the response has not come.
    func cancel() -> Ticket? {
      let (ticket, continuation) = state.withLock { state -> (Ticket?, Continuation?) in
        state.isCancelled = true
        // Taken here, so that who cancels twice is counted once.
        return state.hasResponse ? (nil, state.continuation.take()) : (state.ticket, nil)
      }
      if let continuation {
        counters.storing.add(1, ordering: .relaxed)
        continuation.resume(returning: .failure(.fetchCancelled))
      }
      return ticket
    }
  }

  /// Ends the interest that `ticket` stands for, which completes as cancelled unless it has
  /// completed already. A transfer that nobody else wants is not started, or stopped.
  package func drop(_ ticket: Ticket) {
    inbox.drop(ticket)
  }

  /// From now on somebody plans what is prefetched, and how much of it is in flight at once; until
  /// ``planningDidEnd()`` has been called as often.
  package func planningDidBegin() { counters.planners.add(1, ordering: .relaxed) }

  /// He does not any more.
  package func planningDidEnd() { counters.planners.subtract(1, ordering: .relaxed) }

  /// How many plan what is prefetched now.
  var plannerCount: Int { counters.planners.load(ordering: .relaxed) }

  /// Counts since this fetcher was made; a moment old at most.
  package var statistics: FetchStatistics {
    counters.current
  }

  /// What has been measured of the way to the host of `address`; a moment old at most, and `nil` before a
  /// picture has come from there. Takes well under a microsecond.
  package func link(to address: PosterAddress) -> LinkFigures? {
    links[address]
  }

  /// Stops every transfer, completes every request as cancelled, closes every connection and waits
  /// for the fetch thread. Calling it again does nothing but wait. Never call it in a completion.
  package func shutdown() {
    let isFirst = phase.withLock { phase in
      defer { if phase == .running { phase = .ending } }
      return phase == .running
    }
    if isFirst {
      // Asked only while the thread runs: once it has been joined, a new thread may be its equal.
      precondition(!thread.isCurrent, "a fetcher cannot be shut down in one of its completions")
      inbox.close()
      thread.join()
      phase.withLock { $0 = .ended }
      phase.signal()
    } else {
      phase.wait(untilNanoseconds: { _ in nil }, for: { $0 == .ended ? () : nil })
    }
  }

  // MARK: - Starting

  private static let initializeLibrary: Void = {
    let code = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    precondition(code == CURLE_OK, "curl_global_init failed with \(code.rawValue)")
  }()

  private static func open(_ call: String, _ number: CInt) throws(SystemError) -> FileDescriptor {
    guard number >= 0 else { throw SystemError(call: call) }
    return FileDescriptor(owning: number)
  }
}
