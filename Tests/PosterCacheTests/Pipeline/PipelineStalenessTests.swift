import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// Using what has expired: while its server is asked, or because it cannot be.
@Suite(.timeLimit(.minutes(1)))
struct PipelineStalenessTests {
  private let directory = TemporaryDirectory()

  private func origin(_ cacheControl: String) -> CachingOrigin {
    CachingOrigin(
      CachingOrigin.Answer(
        headers: ["Cache-Control: \(cacheControl)", "ETag: \"one\""], confirmation: []))
  }

  @Test(arguments: [true, false])
  func `fifty readers get an expired picture at once, and its server one question`(
    isInMemory: Bool
  ) async throws {
    let origin = origin("max-age=60, stale-while-revalidate=30")
    let request = try origin.request()
    var configuration = origin.configuration(directory)
    if !isInMemory { configuration.memoryLimit = ByteSize(bytes: 0) }
    let pipeline = try PosterPipeline(configuration)
    #expect(await pipeline.outcome(request).source == .network)
    origin.now += 89
    let gate = Gate()
    origin.set { $0.gate = gate }
    let sources = await withTaskGroup(of: Poster.Source?.self) { group in
      for _ in 0..<50 { group.addTask { await pipeline.outcome(request).source } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(sources == [Poster.Source?](repeating: .stale, count: 50))
    origin.server.waitForRequests(2)
    gate.open()
    await pipeline.finishRevalidating()
    // The disk tier knows with its next commit.
    try pipeline.disk?.flush()
    #expect(await pipeline.outcome(request).source == (isInMemory ? .memory : .disk))
    #expect(origin.requestCount == 2)
    await pipeline.shutdown()
    let stored = try DiskCache(directory: directory.path).poster(for: request)
    #expect(stored?.metadata.storedAt == origin.now)
  }

  @Test func `a picture that changed meanwhile is there the next time`() async throws {
    let origin = origin("max-age=60, stale-while-revalidate=30")
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(nil))
    #expect(await pipeline.outcome(request).source == .network)
    origin.now += 60
    origin.set {
      $0.headers = ["ETag: \"two\""]
      $0.body = TestPicture.webp
    }
    #expect(try await pipeline.poster(for: request).body.bytes == TestPicture.jpeg())
    await pipeline.finishRevalidating()
    let poster = try await pipeline.poster(for: request)
    #expect(poster.source == .memory && poster.body.bytes == TestPicture.webp)
    await pipeline.shutdown()
  }

  @Test func `after the time for that, whoever asks waits`() async throws {
    let origin = origin("max-age=60, stale-while-revalidate=30")
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).source == .network)
    origin.now += 90
    #expect(await pipeline.outcome(request).source == .revalidated)
    await pipeline.shutdown()
  }

  @Test func `a picture that is gone by then is not used again`() async throws {
    let origin = origin("max-age=60, stale-while-revalidate=30")
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).source == .network)
    origin.now += 60
    origin.set {
      $0.status = 404
      $0.confirmation = nil
    }
    #expect(await pipeline.outcome(request).source == .stale)
    await pipeline.finishRevalidating()
    #expect(await pipeline.outcome(request).failureCode == .status(404))
    #expect(origin.requestCount == 2)
    await pipeline.shutdown()
    #expect(try DiskCache(directory: directory.path).statistics().entries == 0)
  }

  @Test func `shutting down ends what is asked about, and who waits for it`() async throws {
    let origin = origin("max-age=60, stale-while-revalidate=30")
    let request = try origin.request()
    let warnings = Warnings()
    var configuration = origin.configuration(directory)
    configuration.onWarning = warnings.add
    let pipeline = try PosterPipeline(configuration)
    #expect(await pipeline.outcome(request).source == .network)
    origin.now += 60
    origin.set { $0.gate = Gate() }
    #expect(await pipeline.outcome(request).source == .stale)
    origin.server.waitForRequests(2)
    async let finished: Void = pipeline.finishRevalidating()
    await pipeline.shutdown()
    await finished
    #expect(warnings.all.isEmpty)
  }

  // MARK: - Errors

  private static let allowances: [(String, Double, Bool)] = [
    ("max-age=60, stale-if-error=100", 159, true), ("max-age=60, stale-if-error=100", 160, false),
    ("max-age=60", 2_592_059, true), ("max-age=60", 2_592_060, false),
    ("max-age=60, must-revalidate", 60, false), ("no-cache", 0, false),
    ("max-age=60, stale-if-error=0", 60, false),
  ]

  @Test(arguments: allowances)
  func `an expired picture stands in for a server that is gone, as long as it may`(
    cacheControl: String, seconds: Double, isUsed: Bool
  ) async throws {
    let origin = origin(cacheControl)
    let request = try origin.request()
    let warnings = Warnings()
    var configuration = origin.configuration(directory)
    configuration.onWarning = warnings.add
    for isReopened in [false, true] {
      let pipeline = try PosterPipeline(configuration)
      if !isReopened {
        #expect(await pipeline.outcome(request).source == .network)
        origin.server.stop()
        origin.now += seconds
      }
      let outcome = await pipeline.outcome(request)
      #expect(outcome.source == (isUsed ? .stale : nil))
      #expect(outcome.failureCode == (isUsed ? nil : .network))
      await pipeline.shutdown()
    }
    #expect(warnings.all == (isUsed ? [.network, .network] : []))
  }

  @Test(arguments: [
    (500, true), (502, true), (503, true), (504, true), (408, true), (429, true), (404, false),
    (410, false), (403, false), (400, false),
  ]) func `an answer counts unless the server is in trouble`(status: Int, isUsed: Bool) async throws
  {
    let origin = origin("max-age=60")
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).source == .network)
    origin.now += 60
    origin.set {
      $0.status = status
      $0.confirmation = nil
    }
    let outcome = await pipeline.outcome(request)
    #expect(outcome.source == (isUsed ? .stale : nil))
    #expect(outcome.failureCode == (isUsed ? nil : .status(status)))
    await pipeline.shutdown()
  }

  @Test func `a page in a picture's place is no picture, and takes nothing's place`() async throws {
    let origin = origin("max-age=60")
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).source == .network)
    origin.now += 60
    origin.set {
      $0.confirmation = nil
      $0.body = Array("<html></html>".utf8)
    }
    #expect(await pipeline.outcome(request).failureCode == .notAnImage)
    #expect(await pipeline.outcome(request, mode: .offline).source == .memory)
    await pipeline.shutdown()
    let stored = try DiskCache(directory: directory.path).poster(for: request)
    #expect(stored?.body.bytes == TestPicture.jpeg())
  }

  // MARK: - Offline

  @Test func `offline, what has expired is used, for half a year`() async throws {
    let origin = origin("max-age=60")
    let request = try origin.request()
    var configuration = origin.configuration(directory)
    let pipeline = try PosterPipeline(configuration)
    #expect(await pipeline.outcome(request).source == .network)
    origin.now += 180 * 86_400 - 1
    #expect(await pipeline.outcome(request, mode: .offline).source == .memory)
    await pipeline.shutdown()
    configuration.isOffline = true
    let offline = try PosterPipeline(configuration)
    #expect(await offline.outcome(request).source == .disk)
    #expect(try await offline.warm(request) == .hit)
    #expect(offline.cachedPoster(for: request)?.source == .memory)
    #expect(await offline.outcome(try origin.request("/b.jpg")).failureCode == .offline)
    origin.now += 1
    let outcome = await offline.outcome(request)
    #expect(outcome.failureCode == .offline)
    #expect(outcome.failureMessage.contains("may not be used any more"))
    await offline.shutdown()
    #expect(origin.requestCount == 1)
  }

  // MARK: - Variants

  @Test(arguments: [
    ("User-Agent", false), ("Accept, user-agent", false), ("Accept-Encoding, Accept", true),
    ("Origin", true),
  ]) func `what was chosen by other values than ours is fetched whole`(
    vary: String, isUsed: Bool
  ) async throws {
    let origin = origin("max-age=60")
    origin.set { $0.headers.append("Vary: \(vary)") }
    let request = try origin.request()
    var configuration = origin.configuration(directory)
    let pipeline = try PosterPipeline(configuration)
    #expect(await pipeline.outcome(request).source == .network)
    #expect(await pipeline.outcome(request).source == .memory)
    await pipeline.shutdown()
    configuration.fetching.userAgent = "another/1"
    let other = try PosterPipeline(configuration)
    #expect(await other.outcome(request, mode: .offline).source == (isUsed ? .disk : nil))
    let outcome = await other.outcome(request, mode: .normal)
    #expect(outcome.source == (isUsed ? .memory : .network))
    #expect(await other.outcome(request).source == .memory)
    await other.shutdown()
    #expect(origin.values("if-none-match").allSatisfy { $0 == nil })
    #expect(origin.requestCount == (isUsed ? 1 : 2))
  }

  @Test func `what was chosen by anything at all is never used again`() async throws {
    let origin = origin("max-age=60")
    origin.set { $0.headers.append("Vary: *") }
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    for _ in 0..<3 { #expect(await pipeline.outcome(request).source == .network) }
    await pipeline.shutdown()
  }
}
