import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct AxisForecastTests {
  /// What a motion shows, found by looking every half millisecond.
  private func look(
    at forecast: AxisForecast, _ start: Double, _ end: Double
  ) -> (enter: Double?, leave: Double?) {
    var enter: Double?
    for step in 0..<40_000 {
      let time = Double(step) / 2000
      let isSeen = forecast.isVisible(start, end, at: forecast.motion.position(after: time))
      if isSeen, enter == nil { enter = time }
      if !isSeen, enter != nil { return (enter, time) }
    }
    return (enter, nil)
  }

  @Test func `a motion shows cells when it is said to`() {
    var random = SplitMix64(seed: 11)
    for round in 0..<60 {
      let velocity = Double(Int.random(in: 0..<12_000, using: &random)) - 6000
      let law = round % 2 == 0 ? DecelerationLaw.normal : .power
      let motion = Motion(position: 20_000, velocity: velocity, law: law)
      let forecast = AxisForecast(
        motion, direction: velocity < 0 ? -1 : 1, viewLength: 844, contentLength: 1e6)
      let start =
        motion.position + (motion.stop - motion.position)
        * Double(Int.random(in: 0..<100, using: &random)) / 80
      let (low, high) = (start - 100, start + 80)
      let span = forecast.span(from: low, to: high)
      let seen = look(at: forecast, low, high)
      guard let enter = seen.enter else {
        #expect(span.weight < 1)
        continue
      }
      #expect(span.weight == 1)
      #expect(abs(span.enter - enter) < 0.002, "velocity \(velocity), \(low)")
      #expect(span.isVisible == (enter == 0))
      if let leave = seen.leave {
        #expect(abs(span.leave - leave) < 0.002, "velocity \(velocity), \(low)")
      } else {
        #expect(span.leave == .infinity)
      }
    }
  }

  @Test func `at rest both sides may be next, the one gone to sooner and more likely`() {
    let forecast = AxisForecast(
      Motion(position: 10_000), direction: 1, viewLength: 800, contentLength: 1e6)
    let ahead = forecast.span(from: 11_000, to: 11_100)
    let farther = forecast.span(from: 12_000, to: 12_100)
    let behind = forecast.span(from: 9700, to: 9800)
    #expect(ahead.weight > behind.weight && ahead.weight > farther.weight)
    #expect(ahead.enter < farther.enter)
    #expect(!ahead.isVisible && ahead.leave > ahead.enter)
    let visible = forecast.span(from: 10_700, to: 10_900)
    #expect(visible.isVisible && visible.enter == 0 && visible.leave == .infinity)
  }

  @Test func `the stop lies within the content`() {
    func stop(_ position: Double, _ velocity: Double, content: Double) -> Double {
      AxisForecast(
        Motion(position: position, velocity: velocity), direction: 1, viewLength: 800,
        contentLength: content
      ).stop
    }
    #expect(stop(1000, 9000, content: 3000) == 2200)
    #expect(stop(1000, -9000, content: 3000) == 0)
    // Beyond the ends while the content is being pulled.
    #expect(stop(-50, 0, content: 3000) == -50)
    #expect(stop(2400, 0, content: 3000) == 2400)
    #expect(stop(0, 0, content: 10) == 0)
  }
}
