import FoundationEssentials
import PosterCache
import ScrollReplay
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ScrollTraceTests {
  private func read(_ text: String) throws(PosterError) -> ScrollTrace {
    try ScrollTrace(json: Data(text.utf8), name: "file")
  }

  @Test func `a trace is read from rows of time, offset and velocity`() throws {
    let trace = try read("[[0.5, 0, 0], [0.504, 2.4, 600], [1.5, 7]]")
    #expect(trace.name == "file")
    #expect(
      trace.samples == [
        .init(seconds: 0, offset: 0), .init(seconds: 0.504 - 0.5, offset: 2.4),
        .init(seconds: 1, offset: 7),
      ])
  }

  @Test func `a trace is read from an object, with rows`() throws {
    let trace = try read(
      #"{"name": "two", "samples": [{"t": 0, "y": -3}, {"t": 0.25, "y": 1, "rows": {"2": 40}}]}"#)
    #expect(trace.name == "two")
    #expect(trace.samples[0] == .init(seconds: 0, offset: -3))
    #expect(trace.samples[1] == .init(seconds: 0.25, offset: 1, rowOffsets: [2: 40]))
  }

  @Test func `a name neither breaks a line nor commands a terminal`() throws {
    let trace = try read(
      #"{"name": "\u001b[31mred\nline\u0000", "samples": [{"t": 0, "y": 0}]}"#)
    #expect(trace.name == "?[31mred?line?")
    let long = String(repeating: "é", count: 100)
    let cut = try read(#"{"name": "\#(long)", "samples": [{"t": 0, "y": 0}]}"#)
    #expect(cut.name == String(long.prefix(80)))
  }

  @Test func `a trace that was written is read again as it was`() throws {
    let layout = ScreenLayout(sections: Array(repeating: .row(items: 20), count: 10))
    for kind in TraceKind.allCases {
      let trace = ScrollTrace.seeded(kind, seed: 7, seconds: 3, layout: layout)
      #expect(try ScrollTrace(json: Data(trace.json.utf8)) == trace)
    }
  }

  @Test(arguments: [
    ("", "it is neither"), ("17", "it is neither"), ("[]", "it has no samples"),
    ("{}", "it is neither"), (#"{"samples": []}"#, "it has no samples"),
    ("[[0]]", "it is neither"), ("[[0, \"a\"]]", "it is neither"),
    ("[[1, 0], [0, 0]]", "sample 1 goes back in time"),
    ("[[0, 0], [90000, 0]]", "it lasts longer than a day"),
    (#"{"samples": [{"t": 0, "y": 0, "rows": {"first": 1}}]}"#, "\"first\" is no section's index"),
    (#"{"samples": [{"t": 0, "y": 0, "rows": {"-1": 1}}]}"#, "\"-1\" is no section's index"),
  ])
  func `what is no usable trace is refused in one line`(text: String, reason: String) {
    let error = #expect(throws: PosterError.self) { try read(text) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.hasPrefix("not a usable scroll trace: \(reason)") == true)
    #expect(error?.message.contains("\n") == false)
  }

  @Test func `numbers that are not finite are refused`() {
    let error = #expect(throws: PosterError.self) { try read("[[0, 1e999]]") }
    #expect(error?.code == .invalidConfiguration)
  }

  @Test func `a trace of too many samples or bytes is refused`() {
    let many = "[" + Array(repeating: "[0,0]", count: 1_000_001).joined(separator: ",") + "]"
    #expect(
      #expect(throws: PosterError.self) { try read(many) }?.message
        == "not a usable scroll trace: it has more than 1000000 samples")
    let long = Data(repeating: 0x20, count: ScrollTrace.maximumBytes + 1)
    #expect(
      #expect(throws: PosterError.self) { try ScrollTrace(json: long) }?.message
        == "not a usable scroll trace: it has more than 67108864 bytes")
  }

  // MARK: - Seeded traces

  private static let grid = ScreenLayout(sections: [.grid(items: 3000)])

  @Test(arguments: TraceKind.allCases)
  func `the same seed makes the same trace`(kind: TraceKind) {
    let rows = ScreenLayout(sections: Array(repeating: .row(items: 40), count: 30))
    let layout = kind == .rows ? rows : Self.grid
    let trace = ScrollTrace.seeded(kind, seed: 3, layout: layout)
    #expect(trace == ScrollTrace.seeded(kind, seed: 3, layout: layout))
    #expect(trace != ScrollTrace.seeded(kind, seed: 4, layout: layout))
    let times = trace.samples.map(\.seconds)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 <= $1 })
    #expect((13.9...24).contains(times[times.count - 1]))
    #expect(trace.samples.allSatisfy { (0...layout.farthestOffset).contains($0.offset) })
    #expect(trace.samples.contains { $0.offset > 500 })
    #expect(trace.samples.contains { !$0.rowOffsets.isEmpty } == (kind == .rows))
  }

  @Test func `flings as on iOS lose 0.998 to the fourth of their speed in each step of 4 ms`() {
    let samples = ScrollTrace.seeded(.iOSFlings, seed: 1, layout: Self.grid).samples
    #expect(samples.count == 3500)
    let steps = zip(samples, samples.dropFirst()).map { $1.offset - $0.offset }
    #expect(steps[..<98].allSatisfy { $0 == 0 })
    let slower = zip(steps, steps.dropFirst()).filter {
      abs($0) > 0.05 && abs($1 / $0 - 0.992024) < 1e-4
    }
    // Everything but the rest, the first step of a fling, and the ends.
    #expect(slower.count > 1500)
  }

  @Test func `a calm reader stays below 400 points a second`() {
    let samples = ScrollTrace.seeded(.reading, seed: 5, layout: Self.grid).samples
    for (left, right) in zip(samples, samples.dropFirst()) where right.seconds > left.seconds {
      let speed = (right.offset - left.offset) / (right.seconds - left.seconds)
      #expect(abs(speed) < 401)
    }
  }

  @Test func `a jump leaves out what lies between`() {
    let traces = (0..<6).map { ScrollTrace.seeded(.jumps, seed: $0, layout: Self.grid) }
    let farthest = traces.map { trace in
      zip(trace.samples, trace.samples.dropFirst()).map { abs($1.offset - $0.offset) }.max() ?? 0
    }
    #expect(farthest.contains { $0 > 5000 })
  }
}
