import ScrollReplay
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FlingTests {
  /// By hand: F = 0.015 x 9.80665 x 39.37 x 160 x 0.84 = 778.353, d = 2.358202.
  @Test(arguments: [(1000.0, 0.5551818, 194.31362), (5000, 1.8157840, 3177.62192)])
  func `a fling on Android lasts and reaches as far as the formula says`(
    velocity: Double, seconds: Double, points: Double
  ) {
    let duration = AndroidSpline.duration(velocity: velocity)
    let distance = AndroidSpline.distance(velocity: velocity)
    #expect(abs(duration - seconds) < 1e-6 * seconds)
    #expect(abs(distance - points) < 1e-6 * points)
    #expect(AndroidSpline.distance(velocity: -velocity) == -distance)
  }

  @Test func `faster flings than Android has are cut off`() {
    #expect(AndroidSpline.distance(velocity: 50_000) == AndroidSpline.distance(velocity: 8000))
  }

  /// The curve's two Bézier polynomials, solved on another way.
  @Test(arguments: [(0.01, 0.0285586), (0.25, 0.5838134), (0.5, 0.8584066), (0.75, 0.9710664)])
  func `a fling on Android slows down along the published curve`(share: Double, progress: Double) {
    #expect(abs(AndroidSpline.progress(at: share) - progress) < 1e-7)
  }

  @Test func `a fling on Android begins as fast as the finger let go`() {
    let fling = Fling(.spline, velocity: 3000)
    let first = fling.duration / 100
    let speed = fling.travelled(after: first) / first
    #expect(abs(speed - 3000) < 60)
    #expect(fling.travelled(after: fling.duration) == fling.distance)
    #expect(fling.travelled(after: 100) == fling.distance)
  }

  /// v(t) = v 0.998^1000t, so that (10 - 1000) / (1000 ln 0.998) points lie between 1000 and 10 a second.
  @Test func `a fling on iOS loses two thousandths of its speed each millisecond`() {
    let fling = Fling(.exponential, velocity: -1000)
    #expect(abs(fling.distance + 494.5045) < 1e-3)
    #expect(abs(fling.duration - 2.300284) < 1e-5)
    let speed = (fling.travelled(after: 0.101) - fling.travelled(after: 0.1)) / 0.001
    #expect(abs(speed + 817.7) < 1)
  }

  @Test(arguments: Fling.Law.allCases)
  func `no fling turns round`(law: Fling.Law) {
    let fling = Fling(law, velocity: 4321)
    let places = (0...200).map { fling.travelled(after: fling.duration * Double($0) / 200) }
    #expect(zip(places, places.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(places[0] == 0)
    #expect(Fling(law, velocity: 0).distance == 0)
  }
}
