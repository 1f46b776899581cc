import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct LookAheadTests {
  private func screens(
    megabits: Double, milliseconds: Double, speed: Double, most: Double = 10
  ) -> Double {
    let link = LinkFigures(
      firstByteSeconds: milliseconds / 1000, bytesPerSecond: megabits * 125_000, meanBytes: 40_000)
    return LookAhead(link: link, mostScreens: most).screens(speed: speed, cells: 12.5)
  }

  @Test func `a link that brings more than a fling shows needs a lead of its latency alone`() {
    // 25 screens a second against 5: 0.2 and one and a half times what passes until the first byte.
    #expect(abs(screens(megabits: 100, milliseconds: 80, speed: 5) - 0.8) < 1e-9)
    #expect(abs(screens(megabits: 100, milliseconds: 20, speed: 5) - 0.35) < 1e-9)
  }

  @Test func `what a slow link brings too late has to be there before`() {
    // 1.25 screens a second against 5.
    #expect(abs(screens(megabits: 5, milliseconds: 80, speed: 5) - (0.8 + 3.75)) < 1e-9)
    #expect(screens(megabits: 5, milliseconds: 80, speed: 5, most: 2) == 2)
  }

  @Test func `who reads slowly needs next to nothing`() {
    #expect(abs(screens(megabits: 5, milliseconds: 80, speed: 0.4) - 0.248) < 1e-9)
  }

  @Test func `a window looks less far where its link is fast, and after slow flings`() {
    func count(_ bytesPerSecond: Double, speed: Double) -> Int {
      var window = VisibleWindowTests.window(items: 3000)
      var time = 0.0
      var place = 6000.0
      for _ in 0..<12 {
        let motion = Motion(position: place, velocity: speed)
        for frame in 0..<20 {
          window.didScroll(
            to: motion.position(after: Double(frame) / 60), viewLength: 844,
            at: time + Double(frame) / 60)
        }
        place = motion.position(after: 19.0 / 60)
        time += 1
      }
      let link = LinkFigures(
        firstByteSeconds: 0.08, bytesPerSecond: bytesPerSecond, meanBytes: 40_000)
      return window.plan(at: time, link: link).examinedCount
    }
    let (slowLink, fastLink) = (count(625_000, speed: 5000), count(12_500_000, speed: 5000))
    #expect(fastLink < slowLink)
    #expect(count(625_000, speed: 250) < slowLink)
  }
}
