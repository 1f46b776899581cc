import PosterCache
import ScrollReplay
import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(1)))
struct ScrollMotionTests {
  private func trace(_ places: [(Double, Double)], row: Int? = nil) -> ScrollTrace {
    ScrollTrace(
      name: "trace",
      samples: places.map { seconds, place in
        row.map { .init(seconds: seconds, offset: 0, rowOffsets: [$0: place]) }
          ?? .init(seconds: seconds, offset: place)
      })
  }

  /// 10 rows of 180 seen through 800: they can be scrolled by 1,000.
  private let layout = ScreenLayout(
    view: (390, 800), cell: (120, 180), sections: [.grid(items: 30)])

  @Test func `it stands where the trace last was`() {
    var motion = ScrollMotion(trace([(0, 0), (1, 100), (2, 250.5)]))
    #expect(motion.place(at: 0, in: layout).offset == 0)
    #expect(motion.place(at: 0.9, in: layout).offset == 0)
    #expect(motion.place(at: 1, in: layout).offset == 100)
    let last = motion.place(at: 7, in: layout)
    #expect(last.offset == 250.5 && last.seconds == 7)
  }

  @Test func `whoever is at the end stays there, and moves back from there`() {
    var motion = ScrollMotion(trace([(0, 900), (1, 1500), (2, 1400), (3, -3000), (4, -2900)]))
    #expect(motion.place(at: 0, in: layout).offset == 900)
    #expect(motion.place(at: 1, in: layout).offset == 1000)
    #expect(motion.place(at: 2, in: layout).offset == 900)
    #expect(motion.place(at: 3, in: layout).offset == 0)
    #expect(motion.place(at: 4, in: layout).offset == 100)
  }

  @Test func `a list that has become longer can be scrolled on`() {
    var motion = ScrollMotion(trace([(0, 0), (1, 2000), (2, 2100)]))
    var layout = layout
    #expect(motion.place(at: 1, in: layout).offset == 1000)
    layout.setItems(60, in: 0)
    #expect(motion.place(at: 1.5, in: layout).offset == 1000)
    #expect(motion.place(at: 2, in: layout).offset == 1100)
  }

  @Test func `rows have ends of their own, and what is no row does not move sideways`() {
    let layout = ScreenLayout(
      view: (390, 800), cell: (120, 180), sections: [.row(items: 10), .grid(items: 30)])
    var motion = ScrollMotion(trace([(0, 100), (1, 5000), (2, 4900)], row: 0))
    #expect(motion.place(at: 0, in: layout).rowOffsets == [0: 100])
    #expect(motion.place(at: 1, in: layout).rowOffsets == [0: 810])
    #expect(motion.place(at: 2, in: layout).rowOffsets == [0: 710])
    for section in [1, 7] {
      var motion = ScrollMotion(trace([(0, 100)], row: section))
      let place = motion.place(at: 0, in: layout)
      #expect(place.rowOffsets.values.allSatisfy { $0 == 0 } && place.offset == 0)
    }
  }
}
