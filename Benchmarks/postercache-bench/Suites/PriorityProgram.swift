import CLinux
import FoundationEssentials
import Glibc
import PosterCache

/// One run of the priority suite, at the client's end of a link: prefetching that never ends, visible
/// posters that come now and then, and how long those waited. Writes a ``PriorityResult`` to a file.
///
/// Options: `--address URL` of a poster, which is asked for again and again with another query;
/// `--policy` and `--width` as in ``PriorityPolicy``; `--seconds` that count; `--seed N` of when visible
/// posters come; `--to FILE`.
struct PriorityProgram {
  private let address: String
  private let policy: PriorityPolicy
  private let seconds: Double
  private let seed: UInt64
  private let file: String

  /// Prefetches that wait or run, at any time.
  static let supply = 200
  /// Seconds before the first that counts.
  static let settling = 2.5
  /// Seconds of which each has one visible poster, and one burst of them.
  static let gaps = (alone: 0.5, burst: 3.0)
  /// Posters in a burst, as in a row that comes onto the screen.
  static let burst = 6

  init(_ values: [String: String]) throws(BenchError) {
    guard let address = values["--address"], let file = values["--to"],
      let policy = PriorityPolicy(values["--policy"] ?? "", width: values["--width"] ?? ""),
      let seconds = values["--seconds"].flatMap({ Double($0) }),
      let seed = values["--seed"].flatMap({ UInt64($0) })
    else {
      throw BenchError("priority needs --address, --policy, --width, --seconds, --seed and --to")
    }
    self.address = address
    self.file = file
    self.policy = policy
    self.seconds = seconds
    self.seed = seed
  }

  func run() throws {
    let result = policy.kind == .idle ? try measureIdle() : try measure()
    try TextFile.write(try JSONEncoder().encode(result), to: file)
  }

  // MARK: - Prefetching and visible posters

  /// What the fetch thread and the one that asks have in common.
  private struct State {
    var asked = 0
    var isPrefetching = true
    var isCounting = false
    var prefetchedBytes = 0
    var visibleBytes = 0
    var waitingVisible = 0
    var waits: [PriorityResult.Wait] = []
    var failures = 0
  }

  private func measure() throws -> PriorityResult {
    let fetcher = try Fetcher(policy.configuration)
    let state = Monitor(State())
    for _ in 0..<(policy.kind == .nothing ? 0 : Self.supply) {
      Self.prefetch(address, fetcher, state)
    }

    let start = Self.now()
    let begin = start + Self.settling
    var isCounting = false
    var opening = (time: start, bytes: 0)
    for arrival in arrivals() {
      if !isCounting, arrival.time >= Self.settling {
        Self.sleep(until: begin)
        isCounting = true
        opening = (Self.now(), Self.receivedBytes())
        state.withLock { $0.isCounting = true }
      }
      Self.sleep(until: start + arrival.time)
      for _ in 0..<arrival.posters { show(arrival.posters, fetcher, state) }
    }
    Self.sleep(until: begin + seconds)
    let closing = (time: Self.now(), bytes: Self.receivedBytes())
    let counted = state.withLock { state in
      state.isCounting = false
      state.isPrefetching = false
      return state
    }
    // Who came shortly before the end waits under the same conditions as the others.
    state.withLock { $0.isPrefetching = true }
    state.wait(untilNanoseconds: { _ in nil }, for: { $0.waitingVisible == 0 ? () : nil })
    state.withLock { $0.isPrefetching = false }
    fetcher.shutdown()
    let (waits, failures) = state.withLock { ($0.waits, $0.failures) }
    guard failures == 0 else { throw BenchError("\(failures) posters did not arrive") }
    return PriorityResult(
      seconds: closing.time - opening.time, receivedBytes: closing.bytes - opening.bytes,
      prefetchedBytes: counted.prefetchedBytes, visibleBytes: counted.visibleBytes, waits: waits)
  }

  /// Asks for one more poster ahead, and for another one whenever it has come.
  private static func prefetch(_ address: String, _ fetcher: Fetcher, _ state: Monitor<State>) {
    let number = state.withLock { state in
      state.asked += 1
      return state.asked
    }
    guard let request = Self.request(address, number, .prefetch) else { return }
    // Weak: the fetcher's own completions must not be what keeps it.
    fetcher.fetch(request) { [weak fetcher] result in
      let isWanted = state.withLock { state in
        if case .success(let response) = result {
          if state.isCounting { state.prefetchedBytes += response.body.count }
        } else if state.isPrefetching {
          state.failures += 1
        }
        return state.isPrefetching
      }
      if isWanted, let fetcher { Self.prefetch(address, fetcher, state) }
    }
  }

  /// Asks for a visible poster, one of `group` at once.
  private func show(_ group: Int, _ fetcher: Fetcher, _ state: Monitor<State>) {
    let number = state.withLock { state in
      state.asked += 1
      state.waitingVisible += 1
      return state.asked
    }
    guard let request = Self.request(address, number, policy.visiblePriority) else { return }
    let start = Self.now()
    let counts = state.withLock { $0.isCounting }
    fetcher.fetch(request) { result in
      let wait = Self.now() - start
      let isLast = state.withLock { state in
        switch result {
        case .success(let response):
          if state.isCounting { state.visibleBytes += response.body.count }
          if counts { state.waits.append(PriorityResult.Wait(group: group, seconds: wait)) }
        case .failure: state.failures += 1
        }
        state.waitingVisible -= 1
        return state.waitingVisible == 0
      }
      if isLast { state.signal() }
    }
  }

  // MARK: - The idle link

  /// Posters that nobody disturbs, one after the other over one connection that is warm, and bursts
  /// over as many as a burst has.
  private func measureIdle() throws -> PriorityResult {
    var waits: [PriorityResult.Wait] = []
    for group in [1, Self.burst] {
      var configuration = FetchConfiguration()
      configuration.connectionsPerHost = group
      let fetcher = try Fetcher(configuration)
      let state = Monitor(State())
      for turn in 0..<(group == 1 ? 26 : 16) {
        // The first ones connect and make TCP's windows grow.
        state.withLock { $0.isCounting = turn >= 6 }
        for _ in 0..<group { show(group, fetcher, state) }
        state.wait(untilNanoseconds: { _ in nil }, for: { $0.waitingVisible == 0 ? () : nil })
      }
      fetcher.shutdown()
      waits += state.withLock { $0.waits }
    }
    return PriorityResult(
      seconds: 0, receivedBytes: 0, prefetchedBytes: 0, visibleBytes: 0, waits: waits)
  }

  // MARK: - Times and addresses

  private struct Arrival {
    let time: Double
    let posters: Int
  }

  /// When visible posters come, the same in every run with that seed: some at a random moment of each gap.
  private func arrivals() -> [Arrival] {
    var arrivals: [Arrival] = []
    for (process, posters, gap) in [
      (UInt64(0), 1, Self.gaps.alone), (1, Self.burst, Self.gaps.burst),
    ] {
      var generator = SplitMix64(seed: 2 * seed + process)
      // Counting begins and ends with a gap, so that each run has as many that count.
      for number in -Int(Self.settling / gap)..<Int((seconds / gap).rounded()) {
        let time =
          Self.settling + (Double(number) + Double.random(in: 0..<1, using: &generator)) * gap
        arrivals.append(Arrival(time: time, posters: posters))
      }
    }
    return arrivals.sorted { $0.time < $1.time }
  }

  private static func request(
    _ address: String, _ number: Int, _ priority: Priority
  ) -> FetchRequest? {
    guard let address = try? PosterAddress("\(address)?n=\(number)") else {
      preconditionFailure("no address: \(address)")
    }
    return FetchRequest(address, priority: priority)
  }

  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func sleep(until end: Double) {
    while true {
      let left = end - now()
      guard left > 0 else { return }
      usleep(useconds_t(min(left, 0.5) * 1e6) + 1)
    }
  }

  /// Bytes that the link has brought so far, 0 where there is no link.
  private static func receivedBytes() -> Int {
    guard let lines = try? TextFile.lines("/proc/self/net/dev") else { return 0 }
    for line in lines {
      let fields = line.split { $0 == " " || $0 == ":" }
      if fields.first == "shaped", fields.count > 1 { return Int(fields[1]) ?? 0 }
    }
    return 0
  }
}

/// What one run of the priority suite found.
struct PriorityResult: Codable, Sendable {
  /// How long it counted.
  let seconds: Double
  /// Bytes the link brought in that time, with all headers; 0 where nobody counts them.
  let receivedBytes: Int
  /// Bytes of bodies, complete ones only.
  let prefetchedBytes: Int
  let visibleBytes: Int
  /// Each visible poster that came in that time.
  let waits: [Wait]

  struct Wait: Codable, Sendable {
    /// How many came at once.
    let group: Int
    let seconds: Double
  }

  /// The mean wait of posters that came in groups of so many.
  func meanWait(group: Int) -> Double? {
    let seconds = waits.filter { $0.group == group }.map(\.seconds)
    return seconds.isEmpty ? nil : seconds.reduce(0, +) / Double(seconds.count)
  }
}
