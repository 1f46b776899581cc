import PosterCache
import ScrollReplay

/// The same scroll in virtual time: made-up posters of about 40 KB, lists that are there from the beginning.
struct ScrollSimulation {
  let options: Settings.Scroll
  let trace: ScrollTrace
  let layout: ScreenLayout

  /// What it comes to, or what it had come to when `isCancelled` said yes.
  func run(isCancelled: () -> Bool) -> ScrollOutcome {
    let pictures = SimulatedPictures(counts: layout.sections.map(\.itemCount))
    let link = options.link ?? Settings.Scroll.Link()
    // As good as none: a gigabyte in a thousandth of a second.
    let bytesPerSecond = link.bytesPerSecond.map(Double.init) ?? 1e12
    var configuration = VisibleWindow.Configuration()
    configuration.previewShare = options.preview.map { _ in pictures.previewShare }
    let recorder = TimelineRecorder(options.sections.map(\.list.label))
    let policy = RecordedPolicy(
      policy: options.policy.policy(configuration: configuration), recorder: recorder)
    let result = Simulator(trace, layout: layout, pictures: pictures).run(
      policy, bytesPerSecond: bytesPerSecond,
      latency: Double(link.latencyMilliseconds) / 1000, isCancelled: isCancelled)
    let seconds = trace.samples.last?.seconds ?? 0
    let timeline = recorder.timeline(endingAt: seconds)
    return ScrollOutcome(
      options: options, trace: trace.name, report: result.report, timeline: timeline,
      seconds: seconds, frames: result.plans,
      posters: timeline.cells.values.count { $0.arrivedAt != nil })
  }
}

/// Notes what a simulated screen shows.
private final class TimelineRecorder: Sendable {
  private let state: Lock<ScrollTimeline>

  init(_ sections: [String]) {
    state = Lock(ScrollTimeline(sections: sections))
  }

  func note(_ body: (inout ScrollTimeline) -> Void) {
    state.withLock { body(&$0) }
  }

  func timeline(endingAt seconds: Double) -> ScrollTimeline {
    state.withLock { timeline in
      timeline.didEnd(at: seconds)
      return timeline
    }
  }
}

/// Another policy, whose events are noted on their way to it.
private struct RecordedPolicy: ScrollPolicy {
  var policy: any ScrollPolicy
  let recorder: TimelineRecorder

  var wantsProgress: Bool { policy.wantsProgress }

  mutating func screenDidChange(to state: ScreenState) {
    recorder.note { $0.screenDidChange(to: state.visible, at: state.seconds) }
    policy.screenDidChange(to: state)
  }

  mutating func transfersDidProgress(_ bytesLeft: [(ask: WindowAsk, bytes: Double)]) {
    policy.transfersDidProgress(bytesLeft)
  }

  mutating func plan(at seconds: Double, link: LinkFigures?) -> WindowPlan {
    policy.plan(at: seconds, link: link)
  }

  mutating func takeNext() -> (ask: WindowAsk, isVisible: Bool)? { policy.takeNext() }

  mutating func askDidFinish(_ ask: WindowAsk, bytes: Int, at seconds: Double) {
    recorder.note { timeline in
      timeline.pictureDidArrive(for: ask.cell, at: seconds)
      timeline.pictureDidAppear(in: ask.cell, ask.rung, at: seconds)
    }
    policy.askDidFinish(ask, bytes: bytes, at: seconds)
  }

  mutating func askDidFail(_ ask: WindowAsk) { policy.askDidFail(ask) }

  mutating func cellHasNoPicture(_ cell: WindowCell) { policy.cellHasNoPicture(cell) }
}
