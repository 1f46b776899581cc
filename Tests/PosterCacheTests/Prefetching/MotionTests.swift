import Glibc
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct MotionTests {
  @Test func `a fling of iOS comes as far as half a second of its first velocity`() {
    // UIScrollView: velocity x 0.998^ms; the way is v / -ln(0.998) per millisecond.
    let motion = Motion(position: 100, velocity: 1000)
    #expect(abs(motion.stop - (100 + 499.4998)) < 0.001)
    #expect(abs(motion.position(after: 1) - (100 + 499.4998 * (1 - 0.135065))) < 0.01)
    #expect(abs(motion.seconds(to: 100 + 499.4998 / 2) - 0.346227) < 1e-5)
  }

  @Test func `a fling of Android comes as far as OverScroller says`() {
    // getSplineFlingDistance: f c exp(r / (r - 1) ln(0.35 v / (f c))) with f c = 778.35, r = 2.35820.
    let motion = Motion(position: 0, velocity: 4000, law: .power)
    let friction = 0.015 * 9.80665 * 39.37 * 160 * 0.84
    let rate = log(0.78) / log(0.9)
    let distance = friction * exp(rate / (rate - 1) * log(0.35 * 4000 / friction))
    #expect(abs(distance - 2157) < 2)
    #expect(abs(motion.stop - distance) < 1e-6 * distance)
    // It comes to rest at a finite time.
    let duration = 2 * motion.seconds(to: distance / 2)
    #expect(motion.position(after: 4 * duration) == motion.stop)
  }

  @Test(arguments: [DecelerationLaw.normal, .power])
  func `when a place is reached fits where the motion is then`(law: DecelerationLaw) {
    for velocity in [-9000.0, -700, 60, 2500] {
      let motion = Motion(position: 5000, velocity: velocity, law: law)
      for share in [0.01, 0.2, 0.5, 0.9, 0.99] {
        let target = 5000 + (motion.stop - 5000) * share
        let seconds = motion.seconds(to: target)
        #expect(abs(motion.position(after: seconds) - target) < 0.001)
      }
    }
  }

  @Test func `what lies behind has been reached, what lies beyond the stop never is`() {
    let motion = Motion(position: 0, velocity: 1000)
    #expect(motion.seconds(to: -1) == 0)
    #expect(motion.seconds(to: 0) == 0)
    #expect(motion.seconds(to: 500) == .infinity)
    let rest = Motion(position: 7)
    #expect(rest.seconds(to: 7) == 0)
    #expect(rest.seconds(to: 8) == .infinity)
    #expect(rest.stop == 7)
  }

  @Test(arguments: [DecelerationLaw.normal, .power])
  func `what is left of a motion depends on its velocity alone`(law: DecelerationLaw) {
    let motion = Motion(position: 0, velocity: 3000, law: law)
    let (before, after) = (motion.position(after: 0.3999), motion.position(after: 0.4001))
    let later = Motion(
      position: (before + after) / 2, velocity: (after - before) / 0.0002, law: law)
    #expect(abs(later.stop - motion.stop) < 0.5)
  }
}
