import FoundationEssentials
import Glibc
import PosterCache
import PosterServer
import ScrollReplay
import TestSupport
import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(3)))
struct ScrollTests {
  private let directory = TemporaryDirectory()

  /// Runs `scroll`; what it makes for itself it makes in ``directory``.
  private func scroll(_ arguments: [String]) async -> PosterCacheBinary.Result {
    await PosterCacheBinary.run(["scroll"] + arguments, environment: environment)
  }

  private var environment: [String: String] {
    ["TMPDIR": directory.path, "TMDB_API_KEY": Workplace.key]
  }

  /// What is left in ``directory``, traces apart.
  private func leftovers() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path).filter {
      !$0.hasSuffix(".json") && !$0.hasSuffix(".png")
    }
  }

  /// Writes a trace and returns its file.
  private func file(_ trace: ScrollTrace) throws -> String {
    let path = "\(directory.path)/\(trace.name.replacing(" ", with: "-")).json"
    try Data(trace.json.utf8).write(to: URL(filePath: path))
    return path
  }

  /// Nothing moves for a while.
  private func still(_ seconds: Double) throws -> String {
    try file(
      ScrollTrace(
        name: "still \(seconds)",
        samples: [.init(seconds: 0, offset: 0), .init(seconds: seconds, offset: 0)]))
  }

  /// A look at the first screen, then flings, one after the other.
  private func flings(_ flings: [(velocity: Double, seconds: Double)]) -> ScrollTrace {
    var samples = [ScrollTrace.Sample(seconds: 0, offset: 0)]
    func add(_ duration: Double, _ place: (Double) -> Double) {
      let begin = samples[samples.count - 1].seconds
      for step in 1...Int(duration * 120) {
        let time = Double(step) / 120
        samples.append(.init(seconds: begin + time, offset: place(time)))
      }
    }
    add(0.5) { _ in 0 }
    for (velocity, seconds) in flings {
      let (start, fling) = (
        samples[samples.count - 1].offset, Fling(.exponential, velocity: velocity)
      )
      add(seconds) { start + fling.travelled(after: $0) }
    }
    return ScrollTrace(name: "flings", samples: samples)
  }

  // MARK: - Results

  @Test func `a scroll in real time is what the simulator says`() async throws {
    // With a rest at the end: a machine that is busy delays the first screen by some 50 ms, which is to be
    // little against the whole.
    let trace = flings([(2500, 0.7), (4000, 0.8), (6000, 4)])
    let result = await scroll([
      "--list", "trending", "--demo", "--trace", try file(trace), "--latency", "80ms",
      "--bandwidth", "20M", "--json",
    ])
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    #expect(result.keys == ScrollJSON.keys)
    let json = try result.decoded(as: ScrollJSON.self)
    #expect(json.lists == ["trending/all/day"] && json.policy == "adaptive" && !json.simulated)
    #expect(json.latencyMs == 80 && json.bytesPerSecond == 2_500_000)
    let simulated = try await simulated(trace)
    #expect(
      abs(json.blankRatio - simulated.blankRatio) <= 0.02,
      "\(json.blankRatio) and \(simulated.blankRatio)")
    #expect(json.failed == 0 && json.failures.isEmpty && json.pages ?? 0 >= 2)
    #expect(json.visible > 30 && json.visits >= json.visible && json.neverSeen <= json.visits)
    #expect(json.prefetched >= json.used && json.used > 0)
    #expect(json.bytes > json.wastedBytes && json.posters > 15)
    #expect(json.timeToVisibleMs.p50 <= json.timeToVisibleMs.p95)
    #expect(json.timeToVisibleMs.p95 <= json.timeToVisibleMs.p99)
    #expect(json.reconnects < json.connections ?? 0)
    #expect(try leftovers() == [])
  }

  /// The same scroll through posters of the same sizes in virtual time.
  private func simulated(_ trace: ScrollTrace) async throws -> ViewerReport {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let pipeline = try PosterPipeline(PosterPipeline.Configuration())
    var feed = try TMDBFeed(
      .trending(media: .all, window: .day), api: place.origin.api,
      credential: .apiKey(Workplace.key), pageLimit: 7, load: pipeline.page)
    var sizes: [Int] = []
    while let page = try await feed.nextPage() {
      for item in page.items {
        let name = item.posterPath.map { String($0.dropFirst()) }
        sizes.append(name.map { DemoPoster.encode(name: $0, size: .w342).count } ?? 1)
      }
    }
    await pipeline.shutdown()
    let layout = ScreenLayout(sections: [.grid(items: sizes.count)])
    return Simulator(trace, layout: layout, pictures: SimulatedPictures(sizes: [sizes])).run(
      AdaptivePolicy(), bytesPerSecond: 2_500_000, latency: 0.08
    ).report
  }

  @Test func `what is looked at is fetched, and nothing else without prefetching`() async throws {
    let result = await scroll([
      "--list", "trending", "--demo", "--trace", try still(0.4), "--policy", "none", "--latency",
      "0", "--bandwidth", "unlimited", "--json",
    ])
    let json = try result.decoded(as: ScrollJSON.self)
    #expect(result.status == 0 && json.policy == "none" && json.bytesPerSecond == nil)
    #expect(json.prefetched == 0 && json.used == 0 && json.wastedBytes == 0)
    #expect(json.visible <= 15 && json.visible >= 12 && json.posters == json.visible)
    #expect(json.blankRatio < 0.9 && json.cancelled.values.allSatisfy { $0 == 0 })
  }

  @Test func `a fixed policy prefetches so many items`() async throws {
    let result = await scroll([
      "--list", "trending", "--media", "movie", "--demo", "--trace", try still(0.4), "--policy",
      "fixed:6", "--latency", "0", "--bandwidth", "unlimited", "--viewport", "120x360", "--json",
    ])
    let json = try result.decoded(as: ScrollJSON.self)
    // One column of two cells.
    #expect(json.policy == "fixed:6" && json.visible <= 2)
    #expect(json.prefetched > 0 && json.prefetched <= 6 && json.used == 0)
    #expect(json.wastedBytes > 0 && json.wastedBytes < json.bytes)
  }

  @Test func `previews come first where there is a ladder`() async throws {
    let result = await scroll([
      "--list", "trending", "--demo", "--trace", try still(0.6), "--ladder", "w92", "--latency",
      "20ms", "--bandwidth", "40M", "--json",
    ])
    let json = try result.decoded(as: ScrollJSON.self)
    #expect(result.status == 0 && json.previewRatio > 0 && json.previewRatio + json.blankRatio < 1)
  }

  @Test func `rows scroll sideways above the list`() async throws {
    let trace = ScrollTrace(
      name: "sideways",
      samples: (0...42).map {
        .init(
          seconds: Double($0) / 60, offset: 0,
          rowOffsets: [0: Double($0) * 12, 1: 0])
      })
    let result = await scroll([
      "--list", "trending", "--rows", "similar,recommendations", "--id", "1002", "--media", "tv",
      "--demo", "--trace", try file(trace), "--latency", "0", "--bandwidth", "unlimited", "--json",
    ])
    let json = try result.decoded(as: ScrollJSON.self)
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      json.lists == ["tv/1002/similar", "tv/1002/recommendations", "trending/tv/day"]
        && json.pages ?? 0 >= 3)
    // Four of each row at first, five more of the row that moved, and the grid below.
    #expect(json.visible >= 15)
  }

  @Test func `people get a table, and a picture of it`() async throws {
    let plot = "\(directory.path)/out.png"
    let result = await scroll([
      "--list", "trending", "--demo", "--trace", try still(0.3), "--plot", plot, "--progress",
      "never",
    ])
    #expect(result.status == 0)
    for words in ["trending/all/day", "adaptive", "20 Mbit/s, 80 ms", "blank", "prefetched"] {
      #expect(result.output.contains(words), "\(words)")
    }
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: plot)))
    let picture = try ImageDecoder().decode(
      PosterBody(copying: bytes), as: Rendition(.full, alpha: .straight))
    #expect(result.errorLines == ["\(plot): \(picture.fullSize)"])
    // The first screen is blank at first and is there at last, whatever the machine.
    let red = ScrollPlot.Meaning.blank.ink
    let pixels = picture.bitmap.withUnsafeBytes { Array($0) }
    let isRed = stride(from: 0, to: pixels.count, by: 4).count {
      pixels[$0] == red.red && pixels[$0 + 1] == red.green && pixels[$0 + 2] == red.blue
    }
    #expect(isRed > 1000)
    #expect(try leftovers() == [])
  }

  @Test func `a simulation asks nobody, and says the same every time`() async throws {
    let arguments = ["--list", "trending", "--simulate", "--seed", "3", "--seconds", "6", "--json"]
    let first = await scroll(arguments)
    #expect(first.status == 0 && first.errors.isEmpty && first.keys == ScrollJSON.keys)
    #expect(await scroll(arguments).output == first.output)
    let json = try first.decoded(as: ScrollJSON.self)
    #expect(
      json.simulated && abs(json.seconds - 6) < 0.1 && json.visible > 30 && json.connections == nil
        && json.pages == nil)
    let other = await scroll(arguments + ["--policy", "none"])
    #expect(try other.decoded(as: ScrollJSON.self).blankRatio > json.blankRatio)
    let plot = "\(directory.path)/simulated.png"
    #expect(await scroll(arguments + ["--plot", plot]).output == first.output)
    #expect(access(plot, F_OK) == 0)
    #expect(try leftovers() == [])
  }

  // MARK: - Failures

  private func scroll(
    _ place: Workplace, _ more: String...
  ) async throws -> PosterCacheBinary.Result {
    await scroll(
      [
        "--list", "trending", "--api", place.origin.api.canonical,
        "--images", place.origin.images.canonical, "--trace", try still(0.3), "--retries", "0",
        "--json",
      ] + more)
  }

  @Test func `posters that cannot be had are told, and make the status 1`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    var feed = try TMDBFeed(
      .trending(media: .all, window: .day), api: place.origin.api,
      credential: .apiKey(Workplace.key),
      load: PosterPipeline(PosterPipeline.Configuration()).page)
    let lost = try #require(try await feed.nextPage()?.items.first { $0.posterPath != nil })
    let path = try #require(lost.posterPath)
    place.origin.addFault(Fault(PathPattern("/t/p/w342\(path)"), .status(404)))
    let result = try await scroll(place)
    #expect(result.status == 1)
    let json = try result.decoded(as: ScrollJSON.self)
    #expect(json.failed == 1 && json.failures.map(\.status) == [404])
    #expect(json.failures[0].url?.hasSuffix(path) == true)
    #expect(result.errorLines.count == 1 && result.errors.contains(path))
    #expect(json.latencyMs == nil && json.bytesPerSecond == nil)
  }

  @Test func `an origin that is down is status 4, and refused credentials are 3`() async throws {
    let place = try Workplace([Fault("/3/*", .status(503))])
    defer { place.origin.shutdown() }
    let down = try await scroll(place)
    #expect(down.status == 4 && down.errorLines.count == 1)
    #expect(try down.decoded(as: ScrollJSON.self).failures.map(\.status) == [503])
    place.origin.setFaults([Fault("/t/p/*", .status(503))])
    #expect(try await scroll(place).status == 4)
    place.origin.setFaults([Fault("/3/*", .status(401))])
    let refused = try await scroll(place)
    #expect(refused.status == 3)
    #expect(!refused.output.contains(Workplace.key) && !refused.errors.contains(Workplace.key))
    #expect(try leftovers() == [])
  }

  @Test func `an interruption ends it and leaves nothing behind`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let command = PosterCacheBinary.start(
      [
        "scroll", "--list", "trending", "--api", place.origin.api.canonical,
        "--images", place.origin.images.canonical, "--trace", try still(500), "--json",
      ], environment: environment)
    await place.origin.waitForRequests(12, of: "/t/p/*")
    command.send(SIGINT)
    let result = await command.result()
    #expect(result.status == 130 && result.output.isEmpty)
    #expect(result.errorLines == ["interrupted: the scroll was not replayed to its end"])
    #expect(try leftovers() == [])
  }

  @Test func `what is cached is there at once, and counts as no transfer`() async throws {
    let cache = "\(directory.path)/cache"
    let arguments = [
      "--list", "trending", "--demo", "--trace", try still(0.4), "--policy", "none", "--latency",
      "0", "--bandwidth", "unlimited", "--cache-dir", cache, "--json",
    ]
    #expect(try await scroll(arguments).decoded(as: ScrollJSON.self).bytes > 0)
    let again = try await scroll(arguments).decoded(as: ScrollJSON.self)
    #expect(again.bytes == 0 && again.blankRatio < 0.2 && again.visible >= 12)
    #expect(try leftovers() == ["cache"])
  }

  @Test func `a trace that is none is wrong usage`() async throws {
    let missing = await scroll(["--list", "trending", "--demo", "--trace", "/nonexistent"])
    #expect(missing.status == 2 && missing.errorLines.count == 1)
    let long = await scroll(["--list", "trending", "--demo", "--trace", try still(601)])
    #expect(long.status == 2 && long.errors.contains("--seconds"))
    let nonsense = "\(directory.path)/nonsense.json"
    try Data("{}".utf8).write(to: URL(filePath: nonsense))
    let wrong = await scroll(["--list", "trending", "--demo", "--trace", nonsense])
    #expect(wrong.status == 2 && wrong.errors.contains("nonsense.json"))
    try Data(#"{"flings": [{"name": "stub", "points": []}]}"#.utf8).write(
      to: URL(filePath: nonsense))
    let stub = await scroll(["--list", "trending", "--demo", "--trace", nonsense])
    #expect(stub.status == 2 && stub.errors.contains("the recorded fling stub"))
    let moment = await scroll(["--list", "trending", "--demo", "--trace", try still(0)])
    #expect(moment.status == 2 && moment.errors.contains("it takes no time"))
    let folder = await scroll(["--list", "trending", "--demo", "--trace", directory.path])
    #expect(folder.status == 2 && folder.errors.contains("Is a directory"))
    let endless = await scroll(["--list", "trending", "--demo", "--trace", "/dev/zero"])
    #expect(endless.status == 2 && endless.errors.contains("it has more than"))
    #expect(try leftovers() == [])
  }

  @Test func `a plot that cannot be written does not cost the result`() async {
    let result = await scroll([
      "--list", "trending", "--simulate", "--seconds", "1", "--plot", "/nonexistent/a.png",
      "--json",
    ])
    #expect(result.status == 1 && result.errorLines.count == 1)
    #expect(result.errors.contains("cannot write") && result.keys == ScrollJSON.keys)
  }

  @Test func `a trace may come out of a pipe, and who waits for it can be interrupted`()
    async throws
  {
    let pipe = "\(directory.path)/pipe.json"
    try #require(mkfifo(pipe, 0o600) == 0)
    let arguments = ["scroll", "--list", "trending", "--simulate", "--trace", pipe]
    let command = PosterCacheBinary.start(arguments, environment: environment)
    // Waits for the reader.
    let silent = open(pipe, O_WRONLY | O_CLOEXEC)
    #expect(silent >= 0)
    command.send(SIGINT)
    let interrupted = await command.result()
    close(silent)
    #expect(interrupted.status == 130 && interrupted.output.isEmpty)

    let other = PosterCacheBinary.start(arguments, environment: environment)
    let file = open(pipe, O_WRONLY | O_CLOEXEC)
    let text = "[[0, 0], [1.5, 300]]"
    #expect(write(file, text, text.utf8.count) == text.utf8.count)
    close(file)
    let result = await other.result()
    #expect(result.status == 0 && result.output.contains("pipe.json, 1.5 s"), "\(result.errors)")
  }
}

/// What `scroll --json` prints.
private struct ScrollJSON: Decodable {
  static let keys = [
    "lists", "trace", "policy", "simulated", "latency_ms", "bytes_per_second", "seconds", "frames",
    "visible", "visits", "never_seen", "blank_ratio", "preview_ratio", "time_to_visible_ms",
    "visible_ms", "blank_ms", "preview_ms", "prefetched", "used", "posters", "bytes",
    "wasted_bytes", "cancelled", "connections", "reconnects", "pages", "failed", "failures",
  ]

  struct Waits: Decodable {
    var p50: Double
    var p95: Double
    var p99: Double
  }
  typealias Failure = WarmJSON.Failure
  var lists: [String]
  var policy: String
  var simulated: Bool
  var latencyMs: Int?
  var bytesPerSecond: Int?
  var seconds: Double
  var frames: Int
  var visible: Int
  var visits: Int
  var neverSeen: Int
  var blankRatio: Double
  var previewRatio: Double
  var timeToVisibleMs: Waits
  var prefetched: Int
  var used: Int
  var posters: Int
  var bytes: Int
  var wastedBytes: Int
  var cancelled: [String: Int]
  var connections: Int?
  var reconnects: Int
  var pages: Int?
  var failed: Int
  var failures: [Failure]
}
