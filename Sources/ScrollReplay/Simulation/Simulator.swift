import PosterCache

/// Replays a scroll in virtual time: what a viewer would have seen under a policy behind a link.
///
/// The same input gives the same numbers every time. Plans are made where the trace has a sample, at most
/// every 16 ms, and as often while it has none; what a plan wants is started then and whenever something
/// arrives. A picture that was received earlier is there at once when it is asked for again.
package struct Simulator {
  package let trace: ScrollTrace
  package let layout: ScreenLayout
  package let pictures: SimulatedPictures

  /// Between two plans, in seconds.
  package static let planInterval = 0.016

  package init(_ trace: ScrollTrace, layout: ScreenLayout, pictures: SimulatedPictures) {
    self.trace = trace
    self.layout = layout
    self.pictures = pictures
  }

  /// What one run came to.
  package struct Result: Sendable, Hashable {
    /// What the viewer saw.
    package var report = ViewerReport()
    /// Plans made, and cells that were looked at for them.
    package var plans = 0
    package var examined = 0
  }

  /// Replays the trace with the engine behind a link of so many bytes a second and seconds of latency.
  ///
  /// - Parameter isCancelled: asked all the time; once it says yes, the scroll ends there.
  package func run(
    _ policy: any ScrollPolicy, bytesPerSecond: Double, latency: Double,
    isCancelled: () -> Bool = { false }
  ) -> Result {
    run(
      policy, QueuedFetching(pictures, bytesPerSecond: bytesPerSecond, latency: latency),
      isCancelled: isCancelled)
  }

  /// Replays the trace with any fetcher.
  package func run(
    _ policy: any ScrollPolicy, _ fetching: any SimulatedFetching,
    isCancelled: () -> Bool = { false }
  ) -> Result {
    var run = Run(policy, fetching, self)
    var nextSample = 0
    guard let end = trace.samples.last?.seconds else { return run.result(at: 0) }
    while true {
      let sample = nextSample < trace.samples.count ? trace.samples[nextSample].seconds : .infinity
      let time = min(run.fetching.nextTime() ?? .infinity, sample, run.nextPlan)
      guard time <= end else { break }
      if isCancelled() { return run.result(at: run.seconds) }
      run.advance(to: time)
      if run.fetching.nextTime().map({ $0 <= time }) ?? false {
        run.takeArrivals()
      } else if sample <= time {
        run.didScroll(to: trace.samples[nextSample])
        nextSample += 1
        if run.nextPlan <= time || nextSample == 1 { run.plan() }
      } else {
        run.plan()
      }
    }
    return run.result(at: end)
  }
}

extension Simulator {
  /// A run at a moment.
  private struct Run {
    var policy: any ScrollPolicy
    var fetching: any SimulatedFetching
    var state: ScreenState
    var tally = ViewerTally()
    var seconds = 0.0
    var nextPlan = 0.0
    var result = Result()
    /// What has been received, whether or not somebody waited for it.
    var cached: Set<WindowAsk> = []
    /// What the policy waits for, and whether its cell was visible when it began.
    var wanted: [WindowAsk: Bool] = [:]

    let pictures: SimulatedPictures

    init(
      _ policy: any ScrollPolicy, _ fetching: any SimulatedFetching, _ simulator: Simulator
    ) {
      self.policy = policy
      self.fetching = fetching
      pictures = simulator.pictures
      state = ScreenState(simulator.layout)
    }

    mutating func advance(to time: Double) {
      seconds = max(seconds, time)
      fetching.advance(to: seconds)
    }

    mutating func didScroll(to sample: ScrollTrace.Sample) {
      let before = state.visible
      state.didScroll(to: sample)
      tally.screenDidChange(to: state.visible, at: seconds)
      policy.screenDidChange(to: state)
      if state.visible != before {
        let state = state
        fetching.screenDidChange { state.isVisible($0) }
      }
    }

    mutating func plan() {
      nextPlan = seconds + Simulator.planInterval
      if policy.wantsProgress { policy.transfersDidProgress(fetching.bytesLeft) }
      let plan = policy.plan(at: seconds, link: fetching.figures)
      result.plans += 1
      result.examined += plan.examinedCount
      for ask in plan.cancel where wanted.removeValue(forKey: ask) != nil { fetching.drop(ask) }
      startNext()
    }

    mutating func startNext() {
      while !fetching.isFull, let (ask, isVisible) = policy.takeNext() {
        wanted[ask] = isVisible
        if cached.contains(ask) {
          pictureIsThere(ask)
        } else {
          fetching.begin(ask, isVisible: isVisible)
        }
      }
    }

    mutating func takeArrivals() {
      let arrivals = fetching.takeArrivals()
      for ask in arrivals {
        cached.insert(ask)
        pictureIsThere(ask)
      }
      countBytes()
      startNext()
    }

    private mutating func pictureIsThere(_ ask: WindowAsk) {
      guard let wasVisible = wanted.removeValue(forKey: ask) else { return }
      tally.pictureDidArrive(ask, isPrefetch: !wasVisible)
      tally.pictureDidAppear(in: ask.cell, ask.rung, at: seconds)
      policy.askDidFinish(ask, bytes: pictures.bytes(ask), at: seconds)
    }

    private mutating func countBytes() {
      for (cell, bytes) in fetching.takeReceived() { tally.bytesDidArrive(bytes, for: cell) }
    }

    mutating func result(at end: Double) -> Result {
      advance(to: end)
      fetching.end()
      countBytes()
      tally.cancelled = fetching.cancelled
      tally.reconnects = fetching.reconnects
      result.report = tally.report(at: end)
      return result
    }
  }
}
