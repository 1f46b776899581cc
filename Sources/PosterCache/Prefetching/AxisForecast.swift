import Glibc

/// When what lies along one scroll is seen through its view.
///
/// The motion goes on to its stop and rests there for a while. What lies beyond the stop is seen after
/// the next fling, which goes on in the same direction more often than not; the farther away, the later and
/// the less likely.
struct AxisForecast {
  /// When something is seen.
  struct Span {
    /// Seconds until it is; 0 for what is seen now.
    var enter: Double
    /// Seconds until it is gone again; infinite for what is still there when the motion rests.
    var leave: Double
    /// How likely that is, from 0 to 1.
    var weight: Double
    /// It is seen now.
    var isVisible: Bool
  }

  /// How long a rest lasts on the average.
  static let dwellSeconds = 1.2
  /// How long a next fling shows what it passes.
  static let passingSeconds = 0.6
  /// Seconds that a next fling takes for each screen.
  static let secondsPerScreen = 0.25
  /// By how much each screen of distance makes it less likely.
  static let decayPerScreen = 0.35

  let motion: Motion
  let viewLength: Double
  /// Where it will stop, within the content.
  let stop: Double
  /// 1 or -1: where the next fling is expected to go.
  let direction: Double
  /// How likely it is to go there, at least a half.
  let likelihood: Double
  /// How fast, in points per second.
  let habitualSpeed: Double
  /// Seconds until it stops, or nearly.
  private let stopSeconds: Double
  private let isMoving: Bool

  init(_ tracker: MotionTracker, at seconds: Double, viewLength: Double, contentLength: Double) {
    self.init(
      tracker.motion(at: seconds),
      direction: tracker.persistence < 0.5 ? -tracker.direction : tracker.direction,
      likelihood: max(tracker.persistence, 1 - tracker.persistence),
      habitualSpeed: tracker.habitualSpeed, viewLength: viewLength, contentLength: contentLength)
  }

  init(
    _ motion: Motion, direction: Double, likelihood: Double = 0.8, habitualSpeed: Double = 0,
    viewLength: Double, contentLength: Double
  ) {
    self.likelihood = likelihood
    self.motion = motion
    self.viewLength = viewLength
    self.direction = direction
    self.habitualSpeed = habitualSpeed
    let last = max(0, contentLength - viewLength)
    stop = min(max(motion.stop, min(0, motion.position)), max(last, motion.position))
    isMoving = motion.velocity != 0
    // The last hundredth of a point takes for ever.
    stopSeconds = isMoving ? motion.seconds(to: stop - (motion.velocity > 0 ? 0.01 : -0.01)) : 0
  }

  /// What is worth looking at: the way to the stop, and so many screens around it.
  ///
  /// - Parameters:
  ///   - aheadScreens: where the next fling is expected to go. The less sure that is, the more of them
  ///     count on the other side, too.
  ///   - behindScreens: on the other side in any case.
  func range(aheadScreens: Double, behindScreens: Double) -> ClosedRange<Double> {
    let odds = (1 - likelihood) / likelihood
    let behindScreens = max(behindScreens, aheadScreens * odds * odds)
    let (before, after) =
      direction > 0 ? (behindScreens, aheadScreens) : (aheadScreens, behindScreens)
    let low = min(motion.position, stop) - before * viewLength
    let high = max(motion.position, stop) + viewLength + after * viewLength
    return low...high
  }

  /// Whether what lies between `start` and `end` is seen with the scroll standing at `position`.
  func isVisible(_ start: Double, _ end: Double, at position: Double) -> Bool {
    start < position + viewLength && end > position
  }

  /// When what lies between `start` and `end` is seen.
  func span(from start: Double, to end: Double) -> Span {
    let isForward = motion.velocity > 0
    let stays = isVisible(start, end, at: stop)
    // Where the scroll stands when it leaves.
    let leaving = isForward ? end : start - viewLength
    if isVisible(start, end, at: motion.position) {
      let leave = stays ? .infinity : motion.seconds(to: leaving)
      return Span(enter: 0, leave: leave, weight: 1, isVisible: true)
    }
    let entering = isForward ? start - viewLength : end
    if isMoving, (entering - motion.position) * motion.velocity > 0 {
      if stays || (entering - stop) * motion.velocity < 0 {
        let enter = motion.seconds(to: entering)
        if enter.isFinite {
          return Span(
            enter: enter, leave: stays ? .infinity : motion.seconds(to: leaving), weight: 1,
            isVisible: false)
        }
      }
      return nextFling(
        distance: abs(entering - stop), isAhead: isForward == (direction > 0),
        after: 0.6 * abs(motion.velocity) / 3000 + Self.dwellSeconds * 0.5)
    }
    let isAfter = start > motion.position
    let nearest = isAfter ? start - viewLength : end
    return nextFling(
      distance: abs(nearest - motion.position), isAhead: isAfter == (direction > 0),
      after: Self.dwellSeconds * 0.5)
  }

  private func nextFling(distance: Double, isAhead: Bool, after seconds: Double) -> Span {
    let screens = distance / viewLength
    let enter = seconds + Self.secondsPerScreen * screens
    let likelihood = isAhead ? likelihood : 1 - likelihood
    return Span(
      enter: enter, leave: enter + Self.passingSeconds,
      weight: likelihood * exp(-Self.decayPerScreen * screens), isVisible: false)
  }

  /// When something leaves that is there to stay, if it enters after `enter` seconds.
  func restEnd(enter: Double) -> Double {
    enter > 0 ? enter + Self.dwellSeconds + 0.5 : stopSeconds + Self.dwellSeconds
  }
}
