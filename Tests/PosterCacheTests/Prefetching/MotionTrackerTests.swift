import Glibc
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct MotionTrackerTests {
  /// Reports `motion` sixty times a second from `start` on.
  private func report(
    _ motion: Motion, from start: Double = 0, seconds: Double, rounded: Bool = false,
    to tracker: inout MotionTracker
  ) {
    for frame in 0...Int(seconds * 60) {
      let time = Double(frame) / 60
      let place = motion.position(after: time)
      tracker.didMove(to: rounded ? place.rounded() : place, at: start + time)
    }
  }

  @Test(arguments: [400.0, -2500, 9000])
  func `a fling's stop is known after a few frames`(velocity: Double) {
    let fling = Motion(position: 20_000, velocity: velocity)
    for rounded in [false, true] {
      var tracker = MotionTracker()
      report(fling, seconds: 0.1, rounded: rounded, to: &tracker)
      let way = abs(fling.stop - 20_000)
      let error = abs(tracker.motion(at: 0.1).stop - fling.stop)
      #expect(error < (rounded ? max(0.06 * way, 15) : 0.005 * way))
    }
  }

  @Test func `Android's law is recognised and remembered`() {
    var tracker = MotionTracker()
    let fling = Motion(position: 0, velocity: 7000, law: .power)
    report(fling, seconds: 0.5, to: &tracker)
    #expect(tracker.motion(at: 0.5).law == .power)
    #expect(abs(tracker.motion(at: 0.5).stop - fling.stop) < 0.03 * fling.stop)
    // The next fling is predicted by it from its first frames on.
    let next = Motion(position: 10_000, velocity: 2000, law: .power)
    report(next, from: 2, seconds: 0.05, to: &tracker)
    #expect(abs(tracker.motion(at: 2.05).stop - next.stop) < 0.05 * (next.stop - 10_000))
  }

  @Test func `iOS' law is recognised again`() {
    var tracker = MotionTracker()
    report(Motion(position: 0, velocity: 7000, law: .power), seconds: 1, to: &tracker)
    report(Motion(position: 9000, velocity: 7000), from: 2, seconds: 1.5, to: &tracker)
    #expect(tracker.motion(at: 3.5).law == .normal)
  }

  @Test func `a reversal is seen within two frames`() {
    var tracker = MotionTracker()
    report(Motion(position: 0, velocity: 3000), seconds: 0.2, to: &tracker)
    #expect(tracker.direction == 1)
    report(Motion(position: 500, velocity: -3000), from: 0.21, seconds: 2.0 / 60, to: &tracker)
    let velocity = tracker.motion(at: 0.24).velocity
    #expect(tracker.direction == -1)
    #expect((-3000 ... -2600).contains(velocity))
  }

  @Test func `nothing moves without reports`() {
    var tracker = MotionTracker()
    report(Motion(position: 0, velocity: 3000), seconds: 0.2, to: &tracker)
    #expect(tracker.motion(at: 0.25).velocity > 1900)
    #expect(tracker.motion(at: 0.35).velocity == 0)
    // What begins after a rest is no slow motion since then.
    tracker.didMove(to: tracker.position + 50, at: 5)
    #expect(tracker.motion(at: 5).velocity == 0)
    tracker.didMove(to: tracker.position + 50, at: 5 + 1.0 / 60)
    #expect(abs(tracker.motion(at: 5.02).velocity - 3000) < 60)
  }

  @Test func `a jump is no motion, but shows a direction`() {
    var tracker = MotionTracker()
    report(Motion(position: 50_000, velocity: 1000), seconds: 0.2, to: &tracker)
    tracker.didMove(to: 0, at: 0.2 + 1.0 / 60)
    #expect(tracker.motion(at: 0.22) == Motion(position: 0))
    #expect(tracker.direction == -1)
  }

  @Test func `a jump after a rest is none, either, however long that was`() {
    for rest in [0.2, 5, 3600] {
      var tracker = MotionTracker()
      tracker.didMove(to: 0, at: 0)
      tracker.didMove(to: 30_000, at: rest)
      #expect(tracker.motion(at: rest) == Motion(position: 30_000))
    }
  }

  @Test func `what makes no sense is ignored`() {
    var tracker = MotionTracker()
    #expect(tracker.motion(at: 0) == Motion(position: 0))
    tracker.didMove(to: .nan, at: 0)
    tracker.didMove(to: 1, at: .infinity)
    tracker.didMove(to: 10, at: 1)
    tracker.didMove(to: 99, at: 0.5)
    #expect(tracker.position == 10)
    tracker.didMove(to: 11, at: 1)
    #expect(tracker.motion(at: 1) == Motion(position: 11))
    tracker.didMove(to: -.greatestFiniteMagnitude, at: 2)
    tracker.didMove(to: .greatestFiniteMagnitude, at: 2.01)
    #expect(tracker.motion(at: 2.01).velocity == 0)
  }

  @Test func `how fast flings are and how often they turn back is learned`() {
    var tracker = MotionTracker(habitualSpeed: 4000)
    var time = 0.0
    func fling(_ velocity: Double) {
      report(
        Motion(position: tracker.position, velocity: velocity), from: time, seconds: 0.3,
        to: &tracker)
      time += 1
    }
    for _ in 0..<12 { fling(600) }
    #expect((500...800).contains(tracker.habitualSpeed), "\(tracker.habitualSpeed)")
    #expect(tracker.persistence > 0.9)
    // Faster ones count at once.
    fling(6000)
    fling(6000)
    #expect(tracker.habitualSpeed > 3000)
    for turn in 0..<8 { fling(turn % 2 == 0 ? -2000 : 2000) }
    #expect(tracker.persistence < 0.2)
  }
}
