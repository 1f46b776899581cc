import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// What a server does not have, and what it has no more.
@Suite(.timeLimit(.minutes(1)))
struct PipelineAbsenceTests {
  private let directory = TemporaryDirectory()

  private func origin(_ status: Int, _ headers: [String] = []) -> CachingOrigin {
    CachingOrigin(CachingOrigin.Answer(status: status, headers: headers))
  }

  @Test(arguments: [(404, 3600.0), (410, 86_400.0)])
  func `an absence is remembered for its time, also by the next process`(
    status: Int, seconds: Double
  ) async throws {
    let origin = origin(status)
    let request = try origin.request()
    let configuration = origin.configuration(directory)
    for isReopened in [false, true] {
      let pipeline = try PosterPipeline(configuration)
      let outcome = await pipeline.outcome(request)
      #expect(outcome.failureCode == .status(status))
      #expect(outcome.failureMessage.contains("remembered until") == isReopened)
      let again = await pipeline.outcome(request)
      #expect(again.failureCode == .status(status))
      #expect(again.failureMessage.contains("remembered until 2027-01-1"))
      let error = await #expect(throws: PosterError.self) { try await pipeline.warm(request) }
      #expect(error?.code == .status(status))
      #expect(await pipeline.outcome(request, mode: .offline).failureCode == .status(status))
      await pipeline.shutdown()
      origin.now += seconds - 1
    }
    #expect(origin.requestCount == 1)
    origin.now += 1 - (seconds - 1)
    let pipeline = try PosterPipeline(configuration)
    #expect(await pipeline.outcome(request).failureCode == .status(status))
    #expect(origin.requestCount == 2)
    await pipeline.shutdown()
  }

  @Test func `without a directory, memory remembers it`() async throws {
    let origin = origin(404)
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(nil))
    for _ in 0..<3 { #expect(await pipeline.outcome(request).failureCode == .status(404)) }
    #expect(origin.requestCount == 1)
    // It is that picture's alone.
    #expect(await pipeline.outcome(try origin.request("/b.jpg")).failureCode == .status(404))
    #expect(origin.requestCount == 2)
    origin.now += 3600
    #expect(await pipeline.outcome(request).failureCode == .status(404))
    #expect(origin.requestCount == 3)
    origin.now -= 365 * 86_400
    #expect(await pipeline.outcome(request).failureCode == .status(404))
    #expect(origin.requestCount == 4)
    await pipeline.shutdown()
  }

  @Test(arguments: [true, false])
  func `a refresh asks again, and a picture ends it`(hasDirectory: Bool) async throws {
    let origin = origin(404)
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(hasDirectory ? directory : nil))
    #expect(await pipeline.outcome(request).failureCode == .status(404))
    #expect(await pipeline.outcome(request, mode: .refresh).failureCode == .status(404))
    #expect(origin.requestCount == 2)
    origin.set { $0.status = 200 }
    #expect(await pipeline.outcome(request).failureCode == .status(404))
    #expect(await pipeline.outcome(request, mode: .refresh).source == .network)
    #expect(await pipeline.outcome(request).source == .memory)
    pipeline.memory.removeAll()
    #expect(await pipeline.outcome(request).source == (hasDirectory ? .disk : .network))
    await pipeline.shutdown()
  }

  @Test(arguments: [true, false])
  func `a picture that must not be kept ends it, too`(hasDirectory: Bool) async throws {
    let origin = origin(404)
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(hasDirectory ? directory : nil))
    #expect(await pipeline.outcome(request).failureCode == .status(404))
    origin.set {
      $0.status = 200
      $0.headers = ["Cache-Control: no-store"]
    }
    #expect(await pipeline.outcome(request, mode: .refresh).source == .network)
    #expect(await pipeline.outcome(request).source == .network)
    await pipeline.shutdown()
  }

  @Test(arguments: [400, 401, 403, 405, 429, 500, 503])
  func `other answers are never remembered`(status: Int) async throws {
    let origin = origin(status)
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    for _ in 0..<2 { #expect(await pipeline.outcome(request).failureCode != nil) }
    #expect(origin.requestCount == 2)
    #expect(pipeline.tiers.absence(of: request) == nil)
    await pipeline.shutdown()
  }

  @Test func `a server that does not answer is never remembered`() async throws {
    let origin = origin(200)
    let request = try origin.request()
    var configuration = origin.configuration(directory)
    configuration.fetching.timeoutSeconds = 0.05
    let gate = Gate()
    origin.set { $0.gate = gate }
    let impatient = try PosterPipeline(configuration)
    #expect(await impatient.outcome(request).failureCode == .timedOut)
    gate.open()
    await impatient.shutdown()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).source == .network)
    let other = try origin.request("/b.jpg")
    origin.server.stop()
    for _ in 0..<2 { #expect(await pipeline.outcome(other).failureCode == .network) }
    #expect(pipeline.tiers.absence(of: other) == nil)
    await pipeline.shutdown()
  }

  @Test(arguments: [
    ("max-age=60", 60.0), ("max-age=7200", 7200.0), ("no-store", 0.0), ("no-cache", 0.0),
  ])
  func `what the answer says about itself counts`(cacheControl: String, seconds: Double)
    async throws
  {
    let origin = origin(404, ["Cache-Control: \(cacheControl)"])
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).failureCode == .status(404))
    if seconds > 0 {
      origin.now += seconds - 1
      #expect(await pipeline.outcome(request).failureCode == .status(404))
      #expect(origin.requestCount == 1)
      origin.now += 1
    }
    #expect(await pipeline.outcome(request).failureCode == .status(404))
    #expect(origin.requestCount == 2)
    await pipeline.shutdown()
  }

  @Test func `nothing is remembered where that is switched off`() async throws {
    let origin = origin(404)
    let request = try origin.request()
    var configuration = origin.configuration(directory)
    configuration.caching.notFoundSeconds = 0
    let pipeline = try PosterPipeline(configuration)
    for _ in 0..<2 { #expect(await pipeline.outcome(request).failureCode == .status(404)) }
    #expect(origin.requestCount == 2)
    await pipeline.shutdown()
  }

  // MARK: - Gone

  @Test(arguments: [404, 410])
  func `a picture that its server has no more is dropped`(status: Int) async throws {
    let origin = origin(200, ["Cache-Control: max-age=60", "ETag: \"one\""])
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).source == .network)
    origin.set { $0.status = status }
    // Also before it has been written, and while it is fresh.
    #expect(await pipeline.outcome(request, mode: .refresh).failureCode == .status(status))
    #expect(await pipeline.outcome(request).failureCode == .status(status))
    try pipeline.disk?.flush()
    #expect(await pipeline.outcome(request, mode: .offline).failureCode == .status(status))
    #expect(origin.requestCount == 2)
    await pipeline.shutdown()
    #expect(try DiskCache(directory: directory.path).statistics().entries == 0)
  }

  @Test func `a pinned one stays, for those who are offline`() async throws {
    let origin = origin(200, ["Cache-Control: max-age=60", "ETag: \"one\""])
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).source == .network)
    try pipeline.disk?.pin([request])
    origin.now += 60
    origin.set { $0.status = 404 }
    #expect(await pipeline.outcome(request).failureCode == .status(404))
    #expect(await pipeline.outcome(request).failureCode == .status(404))
    #expect(origin.requestCount == 2)
    #expect(await pipeline.outcome(request, mode: .offline).source == .disk)
    origin.now += 3600
    origin.set {
      $0.status = 200
      $0.confirmation = []
    }
    #expect(await pipeline.outcome(request).source == .revalidated)
    #expect(await pipeline.outcome(request).source == .memory)
    await pipeline.shutdown()
  }
}
