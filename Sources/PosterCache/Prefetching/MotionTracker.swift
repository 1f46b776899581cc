import Glibc

/// Measures how something scrolls from the positions that it reports.
///
/// The velocity is that of the last few samples; a step that does not continue the motion so far, such as
/// a finger that touches down or lets go, begins a new one. Which law slows it down is a property of the
/// platform, not of one fling, so what every fling shows is remembered for the next.
struct MotionTracker: Sendable {
  private struct Sample {
    var seconds: Double
    var position: Double
  }

  /// Samples that the velocity is fitted to, at most, and how old they may be.
  private static let sampleLimit = 6
  private static let sampleSpan = 0.08
  /// No sample for so long means that nothing moves, for programs that report changes alone.
  static let restSeconds = 0.1
  /// So long after the last of several jumps it is expected to jump again.
  private static let scrubSeconds = 0.03
  /// What is slower, in points per second, is at rest.
  static let restSpeed = 5.0
  /// What is faster has been moved by a program or a scroll bar: a jump, which tells nothing of what
  /// follows. Android's flings end at 8,000.
  static let jumpSpeed = 40_000.0

  /// Beyond this a position is not known to a thousandth of a point.
  private static let farthest = 1e12

  private var samples: [Sample] = []
  private var velocity = 0.0
  private var law = DecelerationLaw.normal
  /// Above 0 for the exponential law; how much better it has explained what was seen.
  private var evidence = 0.0
  /// From where the laws are compared.
  private var mark: (seconds: Double, speed: Double)?

  /// What moves now has begun to lately, and has not been noted.
  private var isNew = false
  private var flingDirection = 1.0
  private var flingSeconds = -1.0
  /// The highest speed since then.
  private var peak = 0.0

  private var hasJumped = false
  private var isScrubbing = false

  /// Where it stood last; 0 before anything was reported.
  private(set) var position = 0.0
  /// How fast the faster ones among the last flings were, in points per second.
  private(set) var habitualSpeed: Double
  /// How much a fling counts for that which is faster, and one which is slower.
  private static let (fasterShare, slowerShare) = (0.5, 0.3)
  /// Faster ones are animations of a program.
  private static let fastestFling = 10_000.0
  /// What begins anew so soon after the last beginning belongs to the same gesture.
  private static let gestureSeconds = 0.25

  /// How often a fling goes on in the direction of the one before, the last few counting most.
  private(set) var persistence = 0.8
  /// How much the last fling counts.
  private static let persistenceShare = 0.25

  /// Into which direction it went last, or is expected to go first: 1 or -1.
  private(set) var direction = 1.0

  /// - Parameter habitualSpeed: how fast it is expected to go before anything has been seen.
  init(habitualSpeed: Double = 0) {
    self.habitualSpeed = habitualSpeed
  }

  /// It stands at `position`. What is no number, or no place that a list could have, or older than what is
  /// known, is ignored.
  mutating func didMove(to position: Double, at seconds: Double) {
    guard abs(position) <= Self.farthest, seconds.isFinite else { return }
    guard let last = samples.last else { return begin(position, seconds) }
    let elapsed = seconds - last.seconds
    guard elapsed >= 0 else { return }
    self.position = position
    guard elapsed > 1e-6 else {
      samples[samples.count - 1].position = position
      return
    }
    let step = (position - last.position) / elapsed
    // What has rested has moved in the last moment alone.
    let way = abs(position - last.position)
    let isJump = way > Self.jumpSpeed * min(elapsed, Self.restSeconds)
    if isJump || elapsed > Self.restSeconds && step == 0 {
      if step != 0 { direction = step > 0 ? 1 : -1 }
      isScrubbing = isJump && hasJumped && elapsed < Self.restSeconds
      hasJumped = isJump
      return begin(position, seconds)
    }
    (isScrubbing, hasJumped) = (false, false)
    // A resting position that was not reported again is where it was until just now.
    let expected = velocity * exp(-law.rate(at: abs(velocity)) * elapsed)
    if elapsed > Self.restSeconds || abs(step - expected) > 60 + 0.25 * abs(expected) {
      // Slowing down by itself is no new fling.
      isNew = abs(step) > abs(expected) || step * expected < 0
      samples = [last]
      mark = nil
    }
    samples.append(Sample(seconds: seconds, position: position))
    let oldest = seconds - Self.sampleSpan
    while samples.count > Self.sampleLimit || samples.count > 2 && samples[0].seconds < oldest {
      samples.removeFirst()
    }
    fit()
    if abs(velocity) > Self.restSpeed {
      direction = velocity > 0 ? 1 : -1
      if isNew, samples.count == 3 { noteFling(at: seconds) }
      if samples.count >= 3 { peak = max(peak, abs(velocity)) }
    }
    compareLaws(at: seconds)
  }

  /// How it moves at the time `seconds`.
  func motion(at seconds: Double) -> Motion {
    let isStale = samples.last.map { seconds - $0.seconds > Self.restSeconds } ?? true
    let isMoving = !isStale && abs(velocity) > Self.restSpeed
    return Motion(position: position, velocity: isMoving ? velocity : 0, law: law)
  }

  /// Whether somebody drags the knob of a scroll bar: it jumps again and again, and what is seen now is gone
  /// at once.
  func isScrubbing(at seconds: Double) -> Bool {
    guard isScrubbing, let last = samples.last else { return false }
    return seconds - last.seconds < Self.scrubSeconds
  }

  private mutating func begin(_ position: Double, _ seconds: Double) {
    self.position = position
    samples = [Sample(seconds: seconds, position: position)]
    velocity = 0
    mark = nil
  }

  /// The slope of the line through the samples, which is the velocity in their middle, slowed down until
  /// now.
  private mutating func fit() {
    let last = samples[samples.count - 1]
    var (sumT, sumP, sumTT, sumTP) = (0.0, 0.0, 0.0, 0.0)
    for sample in samples {
      let (time, place) = (sample.seconds - last.seconds, sample.position - last.position)
      sumT += time
      sumP += place
      sumTT += time * time
      sumTP += time * place
    }
    let count = Double(samples.count)
    let spread = count * sumTT - sumT * sumT
    guard spread > 0 else { return }
    let slope = (count * sumTP - sumT * sumP) / spread
    velocity = slope * exp(law.rate(at: abs(slope)) * sumT / count)
  }

  /// A new fling has begun, or a gesture has changed its mind.
  private mutating func noteFling(at seconds: Double) {
    isNew = false
    let isSameGesture = seconds - flingSeconds < Self.gestureSeconds && direction == flingDirection
    guard !isSameGesture else { return }
    persistence += ((direction == flingDirection ? 1 : 0) - persistence) * Self.persistenceShare
    if peak > 0 {
      let difference = min(peak, Self.fastestFling) - habitualSpeed
      habitualSpeed += difference * (difference > 0 ? Self.fasterShare : Self.slowerShare)
    }
    (flingDirection, flingSeconds, peak) = (direction, seconds, 0)
  }

  /// Finds out which law explains better how far the motion has slowed down.
  private mutating func compareLaws(at seconds: Double) {
    let speed = abs(velocity)
    guard samples.count >= 4, speed > 100 else { return }
    guard let mark else {
      self.mark = (seconds, speed)
      return
    }
    let elapsed = seconds - mark.seconds
    guard elapsed >= 0.1 else { return }
    self.mark = (seconds, speed)
    // A finger that draws evenly, or faster and faster, obeys neither.
    guard speed < 0.95 * mark.speed else { return }
    let exponential = exp(-DecelerationLaw.normal.rate(at: mark.speed) * elapsed)
    let left = max(1 - elapsed / DecelerationLaw.duration(speed: mark.speed), 0.01)
    let power = pow(left, DecelerationLaw.exponent - 1)
    let seen = log(speed / mark.speed)
    let difference = abs(seen - log(power)) - abs(seen - log(exponential))
    evidence = 0.9 * evidence + min(max(difference, -0.5), 0.5)
    // Some evidence to change one's mind.
    if evidence > 0.05 { law = .normal } else if evidence < -0.05 { law = .power }
  }
}
