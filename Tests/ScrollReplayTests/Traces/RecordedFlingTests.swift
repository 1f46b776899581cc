import FoundationEssentials
import PosterCache
import ScrollReplay
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RecordedFlingTests {
  /// A finger that moves up by 10 pixels every 10 ms.
  private static let file = """
    {"flings": [{"name": "up", "points": [
      {"t_ns": 5000000, "x": 1, "y": 500}, {"t_ns": 15000000, "x": 1, "y": 490},
      {"t_ns": 25000000, "x": 1, "y": 480}, {"t_ns": 35000000, "x": 1, "y": 470}]}]}
    """

  private static let fling = #"{"name": "x", "points": [{"t_ns": 0, "y": 2}, {"t_ns": 1, "y": 2}]}"#

  @Test func `a finger that moves up moves the list on`() throws {
    let flings = try RecordedFling.all(json: Data(Self.file.utf8), pointsPerPixel: 0.5)
    #expect(flings.map(\.name) == ["up"])
    #expect(flings[0].distances == [0, 5, 10, 15])
    #expect(flings[0].seconds == [0, 0.01, 0.02, 0.03])
    #expect(abs(flings[0].releaseVelocity - 500) < 1e-9)
  }

  @Test func `the list follows the finger and then glides as on Android`() throws {
    let flings = try RecordedFling.all(json: Data(Self.file.utf8), pointsPerPixel: 0.5)
    let trace = ScrollTrace.recorded(flings, seed: 1, end: 10_000)
    let moving = trace.samples.filter { $0.offset > 0 }
    #expect(moving.prefix(3).map(\.offset) == [5, 10, 15])
    let end = trace.samples[trace.samples.count - 1].offset
    let farthest = 15 + AndroidSpline.distance(velocity: 500)
    #expect(end > 50 && end <= farthest + 1e-6)
  }

  @Test(arguments: [
    "", "[]", #"{"flings": []}"#, #"{"flings": 1}"#,
    #"{"flings": [{"name": "x", "points": [{"t_ns": 1, "y": 2}]}]}"#,
    #"{"flings": [{"name": "x", "points": [{"t_ns": 2, "y": 2}, {"t_ns": 1, "y": 2}]}]}"#,
    #"{"flings": [{"name": "x", "points": [{"t_ns": 0, "y": 2}, {"t_ns": 6.1e10, "y": 2}]}]}"#,
    #"{"flings": [{"name": "x", "points": [{"t_ns": 0, "y": 2}, {"t_ns": 1e300, "y": 2}]}]}"#,
    #"{"flings": ["# + Array(repeating: fling, count: 1001).joined(separator: ",") + "]}",
  ])
  func `what holds no recorded flings is refused`(text: String) {
    let error = #expect(throws: PosterError.self) {
      try RecordedFling.all(json: Data(text.utf8))
    }
    #expect(error?.code == .invalidConfiguration)
  }

  @Test func `any numbers that are let through make a trace`() throws {
    let text = """
      {"flings": [
        {"name": "far", "points": [{"t_ns": 0, "y": 0}, {"t_ns": 1, "y": -1e300}]},
        {"name": "back", "points": [{"t_ns": -1e10, "y": 1e300}, {"t_ns": 5e10, "y": -1e300}]},
        {"name": "at once", "points": [{"t_ns": 7, "y": 0}, {"t_ns": 7, "y": 9}]}]}
      """
    let trace = ScrollTrace.recorded(
      try RecordedFling.all(json: Data(text.utf8)), seed: 1, end: 1000)
    #expect(trace.samples.allSatisfy { (0...1000).contains($0.offset) && $0.seconds < 100 })
  }

  @Test(.enabled(if: Corpus.isAvailable))
  func `the corpus has 19 flings, which go where their names say`() throws {
    let flings = try RecordedFling.all(json: Corpus.bytes("traces/flings_android.json"))
    #expect(flings.count == 19)
    for fling in flings {
      #expect(fling.name.contains("Up") == (fling.releaseVelocity > 0), "\(fling.name)")
    }
    // Android's own estimate of the same recording: 15,094 pixels a second.
    let fast = try #require(flings.first { $0.name == "SailfishFlingUpFast1" })
    let expected = 15_094.0 * 390 / 1080
    #expect(abs(fast.releaseVelocity - expected) < 0.35 * expected)
    let trace = ScrollTrace.recorded(flings, seed: 2, end: 100_000)
    #expect(trace.samples.allSatisfy { (0...100_000).contains($0.offset) })
  }
}
