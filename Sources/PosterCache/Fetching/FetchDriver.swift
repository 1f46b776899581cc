import CCurl
import CLinux
import FoundationEssentials
import Glibc

/// The fetch thread: does what ``TransferQueue`` decides, with curl.
///
/// Made, used and let go of on that thread. Each turn of the loop waits for sockets, lets curl work,
/// starts what may start now, and only then calls completions: the network never waits for callers.
final class FetchDriver {
  private let configuration: FetchConfiguration
  private let clock: PosterClock
  private let inbox: FetchInbox
  private let counters: FetchCounters
  private let links: LinkTable
  private let poller: SocketPoller
  // Set in `init`, once there is a `self` for the callbacks to point to.
  private var options: CurlOptions!
  private let multi: UnsafeMutableRawPointer
  private var queue: TransferQueue
  private var completions: [Ticket: FetchCompletion] = [:]
  private var idle: [CurlTransfer] = []
  /// The handle of each running transfer, by its number.
  private var running: ContiguousArray<Running?> = []
  private var deliveries: [(FetchCompletion, Result<FetchResponse, PosterError>)] = []
  private var unclaimedResponses: [(FetchRequest, FetchResponse)] = []
  /// What was submitted, and the first of it that the queue does not know of.
  private var commands: [FetchInbox.Command] = []
  private var nextCommand = 0
  private var mustTakeCommands = false
  private var partials = PartialStore()
  private let unclaimed: UnclaimedReceiver
  /// By the queue's number of the host.
  private var meters: ContiguousArray<HostMeter> = []
  private let turn = FetchTurn()
  /// Transfers that the queue has started and that cannot be made.
  private var refused: [(id: TransferQueue.TransferID, failure: FetchFailure)] = []
  private var curlDeadline: UInt64?
  private var random = SystemRandomNumberGenerator()

  private struct Running {
    let transfer: CurlTransfer
    let request: FetchRequest
    let meter: HostMeter
    let startedAt: UInt64
    /// What the meter said then.
    let bytesBefore: Int
    /// The same by the wall clock, as the answer's age has to be counted.
    let requestedAt: Date
  }

  private static let commandsAtOnce = 256

  /// Handles kept for later; each keeps what curl allocated for it.
  private static let maximumIdleHandles = 64

  init(
    _ configuration: FetchConfiguration, clock: PosterClock, inbox: FetchInbox,
    counters: FetchCounters, links: LinkTable, epoll: FileDescriptor,
    unclaimed: @escaping UnclaimedReceiver
  ) {
    self.configuration = configuration
    self.clock = clock
    self.inbox = inbox
    self.counters = counters
    self.links = links
    self.unclaimed = unclaimed
    poller = SocketPoller(epoll: epoll)
    queue = TransferQueue(configuration)
    multi = curl_multi_init()!  // fails only for want of memory
    let context = Unmanaged.passUnretained(self).toOpaque()
    options = CurlOptions(
      configuration,
      sockets: CurlOptions.SocketCallbacks(
        open: { context, _, address in
          // curl never passes null, and the context is this object.
          FetchDriver.of(context).poller.open(address!)
        },
        close: { context, socket in FetchDriver.of(context).poller.closeSocket(socket) },
        context: context))
    check(
      postercache_curl_multi_set_socket(
        multi,
        { _, socket, what, context, _ in
          FetchDriver.of(context).poller.watch(socket, what)
          return 0
        }, context))
    check(
      postercache_curl_multi_set_timer(
        multi,
        { _, milliseconds, context in
          FetchDriver.of(context).curlDeadline =
            milliseconds < 0
            ? nil : monotonicNanoseconds() + UInt64(milliseconds) * 1_000_000
          return 0
        }, context))
    // Idle connections kept: by default four times the handles in use, which are few at the end of
    // a list and many at the start of the next one.
    check(
      postercache_curl_multi_set_long(
        multi, CURLMOPT_MAXCONNECTS, max(64, 2 * configuration.connectionsPerHost)))
  }

  private static func of(_ context: UnsafeMutableRawPointer?) -> FetchDriver {
    // Every callback was registered with the driver as its context.
    Unmanaged<FetchDriver>.fromOpaque(context!).takeUnretainedValue()
  }

  // MARK: - The loop

  /// Runs until the inbox is closed; then everything is cancelled and freed.
  func run() {
    var isOpen = readInbox()
    while isOpen {
      work()
      deliver()
      turn.end()
      let wasWoken = poller.wait(
        milliseconds: hasCommands || mustTakeCommands ? 0 : waitingTime(),
        wakeup: inbox.wakeup.number,
        isReady: socketIsReady)
      if wasWoken { mustTakeCommands = true }
      if hasCommands || mustTakeCommands { isOpen = readInbox() }
    }
    perform(queue.didShutDown(now: monotonicNanoseconds()), nil)
    deliver()
    idle = []
    let code = curl_multi_cleanup(multi)
    precondition(code == CURLM_OK, "curl_multi_cleanup failed with \(code.rawValue)")
  }

  /// Whether something was submitted that the queue does not know of yet.
  private var hasCommands: Bool { nextCommand < commands.count }

  /// Takes a part of what was submitted, so that the network does not wait until ten thousand requests
  /// are in the queue; `false` once the inbox is closed.
  private func readInbox() -> Bool {
    var isOpen = true
    if !hasCommands {
      mustTakeCommands = false
      isOpen = inbox.take(&commands)
    }
    let now = monotonicNanoseconds()
    queue.prefetchingIsPlanned = counters.planners.load(ordering: .relaxed) > 0
    let end = isOpen ? min(nextCommand + Self.commandsAtOnce, commands.count) : commands.count
    while nextCommand < end {
      switch commands[nextCommand] {
      case .fetch(let ticket, var request, let completion):
        if let response = request.arrivedMeanwhile.take()?() {
          deliveries.append((completion, .success(response)))
          break
        }
        completions[ticket] = completion
        perform(queue.requestWasMade(request, ticket: ticket, now: now), nil)
      case .drop(let ticket):
        perform(queue.ticketWasDropped(ticket, now: now, isNearlyDone: isNearlyDone), nil)
      }
      nextCommand += 1
    }
    // Completions hold on to what callers have put into them.
    if !hasCommands {
      commands.removeAll(keepingCapacity: true)
      nextCommand = 0
    }
    return isOpen
  }

  /// Lets curl work and the queue react until both have nothing more to do at once. Starting a
  /// transfer makes curl's timer due at once, and its request should leave before anything waits;
  /// a few rounds are enough, and the sockets must have their turn.
  private func work() {
    for _ in 0..<4 {
      let now = monotonicNanoseconds()
      if let deadline = curlDeadline, deadline <= now {
        curlDeadline = nil
        act(CURL_SOCKET_TIMEOUT, 0)
      }
      collectResults()
      if let wake = queue.nextWake, wake <= now {
        perform(queue.timeDidPass(now: now), nil)
      }
      guard let deadline = curlDeadline, deadline <= now else { return }
    }
  }

  private func waitingTime() -> CInt {
    let deadline = min(curlDeadline ?? .max, queue.nextWake ?? .max)
    guard deadline != .max else { return -1 }
    let now = monotonicNanoseconds()
    guard deadline > now else { return 0 }
    // Rounded up: waking a moment early would mean turning in circles until the time has come.
    return CInt(min((deadline - now + 999_999) / 1_000_000, 60_000))
  }

  private func socketIsReady(_ socket: CInt, _ bits: CInt) {
    act(socket, bits)
  }

  private func act(_ socket: CInt, _ bits: CInt) {
    var runningHandles: CInt = 0
    check(curl_multi_socket_action(multi, socket, bits, &runningHandles))
  }

  private func check(_ code: CURLMcode, line: UInt = #line) {
    precondition(code == CURLM_OK, "curl_multi failed with \(code.rawValue) at line \(line)")
  }

  // MARK: - Results

  private func collectResults() {
    var left: CInt = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else {
        continue
      }
      // The message goes with the handle's removal.
      let code = message.pointee.data.result
      transferDidEnd(CurlTransfer.of(handle), code)
    }
  }

  private func transferDidEnd(_ transfer: CurlTransfer, _ code: CURLcode) {
    guard let id = transfer.id, let run = running[id] else {
      preconditionFailure("a transfer ended that nobody started")
    }
    running[id] = nil
    countTraffic(of: run)
    let result = transfer.finish(code, run.request).map { response in
      var response = response
      response.requestedAt = run.requestedAt
      if response.isNotModified { response.confirmed = run.request.stored }
      return response
    }
    let outcome: TransferQueue.Outcome
    // Drawn only where it is used: a random number is a system call.
    var jitter = 0.0
    switch result {
    case .success(let response) where !FetchFailure.isRetriable(status: response.status):
      outcome = .final
    case .failure(let failure) where !failure.isRetriable:
      outcome = .final
    case .failure(let failure) where failure.isRetriableAtOnce:
      outcome = .retriableAtOnce
    default:
      let isAnswer =
        transfer.headers.isComplete && FetchFailure.isRetriable(status: transfer.headers.status)
      outcome = .retriable(
        retryAfter: isAnswer ? transfer.headers.retryAfterSeconds(now: clock.now()) : nil,
        status: transfer.headers.status)
      jitter = .random(in: 0..<1, using: &random)
      // The next try goes on where this one broke off.
      keepPartial(of: transfer)
    }
    let now = monotonicNanoseconds()
    let sample = sample(of: run, now: now)
    remove(transfer)
    let host = queue.host(of: id)
    perform(
      queue.transferDidFinish(id, outcome, sample: sample, now: now, jitter: jitter),
      result.mapError { $0.error }, run.request)
    if let figures = queue.figures(ofHost: host) {
      links.note(figures, for: run.request.address)
    }
  }

  private func countTraffic(of run: Running) {
    let count = run.transfer.connectionCount
    if count > 0 { counters.connectionsOpened.add(count, ordering: .relaxed) }
    if run.request.kind == .picture {
      counters.pictureBytes.add(run.transfer.receivedCount, ordering: .relaxed)
    }
  }

  /// What a transfer that has ended tells about the way to its host; `nil` if it is a page, which takes
  /// its server longer than a picture and is no picture's size.
  private func sample(of run: Running, now: UInt64) -> TransferSample? {
    guard run.request.kind == .picture else { return nil }
    let seconds = Double(max(now - run.startedAt, 1)) / Double(nanosecondsPerSecond)
    let bytes = run.transfer.receivedCount
    return TransferSample(
      bytes: bytes,
      firstByteSeconds: run.transfer.firstByteNanoseconds.map {
        Double($0) / Double(nanosecondsPerSecond)
      },
      // Who has received nothing says nothing of it, and must not take what others have measured.
      bytesPerSecond: bytes > 0 ? run.meter.takeRate(since: run.bytesBefore, seconds: seconds) : 0)
  }

  /// Whether finishing a transfer costs less than stopping it.
  private func isNearlyDone(_ id: TransferQueue.TransferID, _ link: LinkEstimate) -> Bool {
    guard let transfer = running[id]?.transfer else { return false }
    if let remaining = transfer.remainingBytes { return link.isNearlyDone(bytesLeft: remaining) }
    // Without an answer for longer than one takes, it is stuck.
    guard let waited = transfer.waitingNanoseconds(now: monotonicNanoseconds()),
      let latency = link.latencySeconds,
      Double(waited) < 2 * latency * Double(nanosecondsPerSecond)
    else { return false }
    return link.isNearlyDone(bytesLeft: nil)
  }

  /// Keeps what has come of a picture, if the rest can be asked for.
  private func keepPartial(of transfer: CurlTransfer) {
    if let partial = transfer.takePartial() { partials.insert(partial) }
  }

  // MARK: - Doing what the queue says

  /// - Parameters:
  ///   - result: what `.finished` in `actions` refers to.
  ///   - request: what it is the result of.
  private func perform(
    _ actions: [TransferQueue.Action], _ result: Result<FetchResponse, PosterError>?,
    _ request: FetchRequest? = nil
  ) {
    carryOut(actions, result, request)
    // Each may let the next one start: in turn, not nested, as there may be thousands.
    while let (id, failure) = refused.popLast() {
      let actions = queue.transferDidFinish(id, .final, now: monotonicNanoseconds(), jitter: 0)
      carryOut(actions, .failure(failure.error), nil)
    }
    counters.retries.store(queue.retryCount, ordering: .relaxed)
    let cancellations = queue.cancellations
    counters.queued.store(cancellations.queued, ordering: .relaxed)
    counters.waitingForRetry.store(cancellations.waitingForRetry, ordering: .relaxed)
    counters.finishing.store(cancellations.finishing, ordering: .relaxed)
  }

  private func carryOut(
    _ actions: [TransferQueue.Action], _ result: Result<FetchResponse, PosterError>?,
    _ request: FetchRequest?
  ) {
    for action in actions {
      switch action {
      case .start(let id): start(id)
      case .abort(let id):
        guard let run = running[id] else {
          preconditionFailure("transfer \(id) aborted without running")
        }
        let transfer = run.transfer
        running[id] = nil
        counters.transferWasStopped(at: transfer.stage)
        countTraffic(of: run)
        keepPartial(of: transfer)
        remove(transfer)
      case .prioritize(let id, let priority):
        running[id]?.transfer.setUrgency(priority)
      case .complete([], .finished):
        if case .success(let response) = result, let request, request.kind == .picture {
          unclaimedResponses.append((request, response))
        }
      case .complete(let tickets, let ending):
        for ticket in tickets { complete(ticket, ending, result) }
      }
    }
  }

  private func start(_ id: TransferQueue.TransferID) {
    let transfer = idle.popLast() ?? CurlTransfer(options)
    let request = queue.request(of: id)
    // What is stored is asked about as a whole.
    let partial =
      request.kind == .picture && request.stored == nil ? partials.take(request.address) : nil
    do {
      try transfer.prepare(request, resuming: partial)
    } catch {
      recycle(transfer)
      refused.append((id, error))
      return
    }
    transfer.id = id
    transfer.setUrgency(queue.priority(of: id))
    let meter = meter(queue.host(of: id))
    transfer.meter = meter
    while running.count <= id { running.append(nil) }
    running[id] = Running(
      transfer: transfer, request: request, meter: meter, startedAt: monotonicNanoseconds(),
      bytesBefore: meter.bytes, requestedAt: clock.now())
    counters.transfersStarted.add(1, ordering: .relaxed)
    if partial != nil { counters.resumed.add(1, ordering: .relaxed) }
    check(curl_multi_add_handle(multi, transfer.handle))
  }

  private func meter(_ host: Int) -> HostMeter {
    while meters.count <= host { meters.append(HostMeter(turn)) }
    return meters[host]
  }

  private func remove(_ transfer: CurlTransfer) {
    check(curl_multi_remove_handle(multi, transfer.handle))
    transfer.id = nil
    transfer.stopMetering()
    recycle(transfer)
  }

  private func recycle(_ transfer: CurlTransfer) {
    transfer.recycle()
    if idle.count < Self.maximumIdleHandles { idle.append(transfer) }
  }

  private func complete(
    _ ticket: Ticket, _ ending: TransferQueue.Ending,
    _ result: Result<FetchResponse, PosterError>?
  ) {
    guard let completion = completions.removeValue(forKey: ticket) else {
      preconditionFailure("ticket \(ticket.number) completed twice")
    }
    switch ending {
    case .finished:
      guard let result else { preconditionFailure("finished without a result") }
      deliveries.append((completion, result))
    case .cancelled:
      deliveries.append((completion, .failure(.fetchCancelled)))
    case .held(let host, let seconds, let status):
      let failure = FetchFailure(
        host: host, asksToWait: seconds, status: status,
        timeoutSeconds: configuration.timeoutSeconds)
      deliveries.append((completion, .failure(failure.error)))
    }
  }

  private func deliver() {
    // A completion submits through the inbox at most, which cannot add to the deliveries.
    for (completion, result) in deliveries { completion(result) }
    deliveries.removeAll(keepingCapacity: true)
    for (request, response) in unclaimedResponses { unclaimed(request, response) }
    unclaimedResponses.removeAll(keepingCapacity: true)
  }
}

extension PosterError {
  /// What a dropped ticket, or one whose fetcher was shut down, completes with.
  static var fetchCancelled: PosterError { PosterError(.cancelled, "cancelled") }
}
