import FoundationEssentials
import PosterServer
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct PosterPipelineTests {
  private let directory = TemporaryDirectory()
  private let origin: DemoOrigin

  init() throws {
    origin = try DemoOrigin()
  }

  @Test func `a poster comes from the network once, then from memory, then from disk`() async throws
  {
    let request = try self.request("a.jpg")
    let expected = drawing("a.jpg")
    do {
      let pipeline = try PosterPipeline(configuration())
      #expect(pipeline.cachedPoster(for: request) == nil)
      let first = try await pipeline.poster(for: request)
      #expect(first.source == .network)
      #expect(first.body == expected)
      #expect(first.metadata.type == .jpeg)
      #expect(first.metadata.etag?.hasPrefix("\"") == true)
      let second = try await pipeline.poster(for: request)
      #expect(second.source == .memory)
      #expect(second.stored === first.stored)
      #expect(pipeline.cachedPoster(for: request)?.stored === first.stored)
      await pipeline.shutdown()
    }
    let pipeline = try PosterPipeline(configuration())
    #expect(pipeline.cachedPoster(for: request) == nil)
    let third = try await pipeline.poster(for: request)
    #expect(third.source == .disk)
    #expect(third.body == expected)
    #expect(try await pipeline.poster(for: request).source == .memory)
    #expect(origin.requestCounts == ["/t/p/w342/a.jpg": 1])
    await pipeline.shutdown()
  }

  @Test func `requests for one picture share its transfer, its bytes and its storing`() async throws
  {
    let pipeline = try PosterPipeline(configuration())
    let request = try self.request("shared.jpg")
    let gate = origin.hold("/t/p/*")
    let drawn = drawing("shared.jpg")
    let posters = try await withThrowingTaskGroup(of: Poster.self) { group in
      for _ in 0..<20 {
        group.addTask { try await pipeline.poster(for: request) }
      }
      group.addTask {
        let outcome = try await pipeline.warm(request)
        // A hit where its turn came after the transfer's end.
        #expect([.hit, .fetched(bytes: drawn.count)].contains(outcome))
        return try await pipeline.poster(for: request)
      }
      await gate.waitForRequests(1)
      gate.release()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(posters.count == 21)
    #expect(posters.allSatisfy { $0.body == drawn })
    let transferred = posters.filter { $0.source == .network }.map(\.stored)
    #expect(!transferred.isEmpty)
    #expect(transferred.allSatisfy { $0 === transferred[0] })
    #expect(origin.requestCounts == ["/t/p/w342/shared.jpg": 1])
    let statistics = try #require(try pipeline.disk?.statistics())
    #expect(statistics.entries == 1)
    await pipeline.shutdown()
  }

  @Test func `a request that looked in vain before a transfer ended is answered with it`()
    async throws
  {
    let pipeline = try PosterPipeline(configuration())
    let request = try self.request("late.jpg")
    let early = pipeline.tiers.lookups.begin(request.key)
    #expect(pipeline.tiers.look(for: request, .normal).found == nil)
    let first = try await pipeline.poster(for: request)
    let later = pipeline.tiers.lookups.begin(request.key)
    // What it would have submitted before, had it been quicker.
    var fetch = FetchRequest(request)
    fetch.arrivedMeanwhile = { early.end() }
    let late = try await pipeline.fetcher.response(to: fetch)
    #expect(late.body == first.body)
    #expect(origin.requestCounts == ["/t/p/w342/late.jpg": 1])
    // Who looks after the transfer gets no answer from before: it may have asked for a fresh one.
    fetch.arrivedMeanwhile = { later.end() }
    _ = try await pipeline.fetcher.response(to: fetch)
    #expect(origin.requestCounts == ["/t/p/w342/late.jpg": 2])
    await pipeline.shutdown()
  }

  @Test func `nobody keeps a picture that must not be kept`() async throws {
    origin.addFault(Fault("/t/p/*", .header(name: "Cache-Control", value: "no-store")))
    let pipeline = try PosterPipeline(configuration())
    let request = try self.request("secret.jpg")
    weak let kept = try await pipeline.poster(for: request).stored
    // Whatever the fetch thread still held, it has let go of once it does something else.
    origin.addFault(Fault("/t/p/w342/next.jpg", .status(404)))
    _ = try? await pipeline.poster(for: self.request("next.jpg"))
    await pipeline.shutdown()
    #expect(kept == nil)
  }

  @Test func `warming stores without looking, and a second time fetches nothing`() async throws {
    let names = (0..<40).map { "warm\($0).png" }
    do {
      let pipeline = try PosterPipeline(configuration())
      for name in names {
        let bytes = drawing(name, .w92).count
        #expect(try await pipeline.warm(request(name, .w92)) == .fetched(bytes: bytes))
        // Committed when `warm` returns: another process would see it.
        #expect(try DiskCache(directory: directory.path).poster(for: request(name, .w92)) != nil)
      }
      await pipeline.shutdown()
    }
    let pipeline = try PosterPipeline(configuration())
    for name in names { #expect(try await pipeline.warm(request(name, .w92)) == .hit) }
    #expect(origin.requestCount(of: "/t/p/*") == 40)
    await pipeline.shutdown()
  }

  @Test func `an expired poster is asked for again, and used when offline`() async throws {
    // The origin tells the real time, and an answer is as old as the clocks differ.
    let time = Monitor(Date())
    var configuration = self.configuration()
    configuration.clock = PosterClock { time.withLock { $0 } }
    configuration.memoryLimit = ByteSize(bytes: 10 << 20)
    origin.addFault(Fault("/t/p/*", .header(name: "Cache-Control", value: "max-age=60")))
    let request = try self.request("old.jpg")
    let pipeline = try PosterPipeline(configuration)
    #expect(try await pipeline.poster(for: request).source == .network)
    time.withLock { $0 += 50 }
    #expect(try await pipeline.poster(for: request).source == .memory)
    time.withLock { $0 += 11 }
    #expect(pipeline.cachedPoster(for: request) == nil)
    #expect(try await pipeline.poster(for: request).source == .revalidated)
    await pipeline.shutdown()

    time.withLock { $0 += 1000 }
    configuration.isOffline = true
    let offline = try PosterPipeline(configuration)
    #expect(try await offline.poster(for: request).source == .disk)
    let missing = try self.request("missing.jpg")
    let error = await #expect(throws: PosterError.self) {
      try await offline.poster(for: missing)
    }
    #expect(error?.code == .offline)
    await offline.shutdown()
    #expect(origin.requestCount(of: "/t/p/*") == 2)
  }

  /// What `docs/embedding.md` shows.
  @Test func `a list's posters are warmed through one pipeline`() async throws {
    let pipeline = try PosterPipeline(configuration())
    var feed = try TMDBFeed(
      .trending(media: .movie, window: .day), api: origin.api, credential: .bearerToken("token"),
      pageLimit: 2, load: pipeline.page)
    var count = 0
    while let page = try await feed.nextPage() {
      for item in page.items {
        guard let request = item.request(size: .w92, on: ImageHost(origin.images)) else { continue }
        try await pipeline.warm(request)
        count += 1
      }
    }
    #expect(count > 30)
    #expect(try pipeline.disk?.statistics().entries == count)
    let poster = try await pipeline.poster(for: request("x.jpg"))
    #expect(poster.body.data.count == poster.body.count)
    #expect(poster.body.bytes == DemoPoster.encode(name: "x.jpg", size: .w342))
    await pipeline.shutdown()
  }

  @Test func `what was stored under a clock far ahead is not fresh for ever`() async throws {
    let time = Monitor(Date().addingTimeInterval(90 * 365 * 86_400))
    var configuration = self.configuration()
    configuration.clock = PosterClock { time.withLock { $0 } }
    let pipeline = try PosterPipeline(configuration)
    let request = try self.request("ahead.jpg")
    #expect(try await pipeline.poster(for: request).source == .network)
    time.withLock { $0 = Date() }
    #expect(try await pipeline.poster(for: request).source == .revalidated)
    #expect(try await pipeline.poster(for: request).source == .memory)
    await pipeline.shutdown()
  }

  @Test func `what must not be stored is delivered and not stored`() async throws {
    origin.addFault(Fault("/t/p/*", .header(name: "Cache-Control", value: "no-store")))
    let pipeline = try PosterPipeline(configuration())
    let request = try self.request("secret.jpg")
    #expect(try await pipeline.poster(for: request).source == .network)
    #expect(try await pipeline.poster(for: request).source == .network)
    let error = await #expect(throws: PosterError.self) { try await pipeline.warm(request) }
    #expect(error?.code == .notStored)
    #expect(try pipeline.disk?.statistics().entries == 0)
    await pipeline.shutdown()
  }

  @Test func `a poster larger than the directory's limit is delivered with one warning`()
    async throws
  {
    let warnings = Monitor<[PosterError]>([])
    var configuration = self.configuration()
    configuration.diskLimit = ByteSize(bytes: 4096)
    configuration.onWarning = { warning in warnings.withLock { $0.append(warning) } }
    let pipeline = try PosterPipeline(configuration)
    #expect(try await pipeline.poster(for: request("large1.jpg")).source == .network)
    #expect(try await pipeline.poster(for: request("large2.jpg")).source == .network)
    await pipeline.shutdown()
    #expect(warnings.withLock { $0.map(\.code) } == [.notStored])
  }

  @Test func `a failed transfer stores nothing and fails with its reason`() async throws {
    origin.setFaults([
      Fault("/t/p/w342/gone.jpg", .status(404)),
      Fault("/t/p/w342/page.jpg", .wrongType),
      Fault("/t/p/w342/cut.jpg", .truncate(afterBytes: 5000)),
    ])
    var configuration = self.configuration()
    configuration.fetching.tries = 1
    let pipeline = try PosterPipeline(configuration)
    for (name, code) in [
      ("gone.jpg", PosterError.Code.status(404)), ("page.jpg", .notAnImage),
      ("cut.jpg", .incompleteBody),
    ] {
      let request = try self.request(name)
      let error = await #expect(throws: PosterError.self) {
        try await pipeline.poster(for: request)
      }
      #expect(error?.code == code)
      #expect(pipeline.cachedPoster(for: request) == nil)
    }
    #expect(try pipeline.disk?.statistics().entries == 0)
    await pipeline.shutdown()
  }

  @Test func `shutting down cancels who waits and keeps what arrived`() async throws {
    let pipeline = try PosterPipeline(configuration())
    let arrived = try request("arrived.jpg")
    let held = try request("held.jpg")
    #expect(try await pipeline.poster(for: arrived).source == .network)
    let gate = origin.hold("/t/p/w342/held.jpg", afterBytes: 3000)
    async let waiting = pipeline.poster(for: held)
    await gate.waitForRequests(1)
    await pipeline.shutdown()
    await pipeline.shutdown()
    do {
      _ = try await waiting
      Issue.record("a held poster was delivered")
    } catch let error as PosterError {
      #expect(error.code == .cancelled)
    }
    gate.release()
    let cache = try DiskCache(directory: directory.path)
    #expect(try cache.poster(for: arrived) != nil)
    #expect(try cache.poster(for: held) == nil)
  }

  @Test func `cancelling a task ends its wait and nobody else's`() async throws {
    let pipeline = try PosterPipeline(configuration())
    let request = try self.request("wanted.jpg")
    let gate = origin.hold("/t/p/*")
    let patient = Task { try await pipeline.poster(for: request) }
    await gate.waitForRequests(1)
    let impatient = Task { try await pipeline.poster(for: request) }
    impatient.cancel()
    let cancelled = await impatient.result
    #expect(throws: PosterError.self) { try cancelled.get() }
    gate.release()
    #expect(try await patient.value.source == .network)
    #expect(origin.requestCounts == ["/t/p/w342/wanted.jpg": 1])
    await pipeline.shutdown()
  }

  @Test func `a pipeline without a directory keeps posters in memory`() async throws {
    let pipeline = try PosterPipeline(PosterPipeline.Configuration())
    let request = try self.request("memory.jpg")
    let bytes = drawing("memory.jpg").count
    #expect(try await pipeline.warm(request) == .fetched(bytes: bytes))
    #expect(try await pipeline.warm(request) == .hit)
    #expect(try await pipeline.poster(for: request).source == .memory)
    await pipeline.shutdown()
  }

  @Test func `looking at a poster in memory keeps it on disk as well`() async throws {
    var configuration = self.configuration()
    // Three posters of w92 fit, whatever they weigh: at most two blocks each.
    configuration.diskLimit = ByteSize(bytes: 6 * SegmentFormat.blockSize)
    let pipeline = try PosterPipeline(configuration)
    let popular = try request("popular.jpg", .w92)
    #expect(try await pipeline.poster(for: popular).source == .network)
    for number in 0..<20 {
      _ = try await pipeline.poster(for: request("other\(number).jpg", .w92))
      #expect(pipeline.cachedPoster(for: popular)?.source == .memory)
    }
    await pipeline.shutdown()
    #expect(try DiskCache(directory: directory.path).poster(for: popular) != nil)
  }

  // MARK: - Helpers

  private func configuration() -> PosterPipeline.Configuration {
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = directory.path
    return configuration
  }

  private func request(
    _ name: String, _ size: PosterSize = .w342
  ) throws(PosterError) -> PosterRequest {
    try PosterRequest(path: name, size: size, images: origin.images)
  }
  /// What the origin serves under `name`.
  private func drawing(_ name: String, _ size: PosterSize = .w342) -> PosterBody {
    PosterBody(copying: DemoPoster.encode(name: name, size: size))
  }
}
