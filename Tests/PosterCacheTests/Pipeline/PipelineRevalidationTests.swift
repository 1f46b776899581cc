import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// Asking a server whether what is stored is still right.
@Suite(.timeLimit(.minutes(1)))
struct PipelineRevalidationTests {
  private let directory = TemporaryDirectory()
  private let modified = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"

  private func origin(
    _ headers: [String] = ["Cache-Control: max-age=60"], etag: String = "\"one\"",
    confirmation: [String] = ["Content-Length: 0"]
  ) -> CachingOrigin {
    CachingOrigin(
      CachingOrigin.Answer(
        headers: headers + [modified, "ETag: \(etag)"], confirmation: confirmation))
  }

  @Test(arguments: [["Content-Length: 0"], [], ["ETag: W/\"one\"", "Content-Length: 4711"]])
  func `a confirmed picture keeps its body and gets new dates, in every tier`(
    confirmation: [String]
  ) async throws {
    let origin = origin(confirmation: confirmation)
    let request = try origin.request()
    do {
      let pipeline = try PosterPipeline(origin.configuration(directory))
      #expect(await pipeline.outcome(request).source == .network)
      origin.now += 60
      #expect(pipeline.cachedPoster(for: request) == nil)
      let poster = try await pipeline.poster(for: request)
      #expect(poster.source == .revalidated)
      #expect(poster.body.bytes == TestPicture.jpeg())
      #expect(poster.metadata.storedAt == origin.now)
      #expect(poster.metadata.expiresAt == origin.now + 60)
      #expect(pipeline.cachedPoster(for: request)?.stored === poster.stored)
      await pipeline.shutdown()
    }
    #expect(origin.values("if-none-match") == [nil, "\"one\""])
    #expect(origin.values("if-modified-since") == [nil, "Sun, 06 Nov 1994 08:49:37 GMT"])
    origin.now += 59
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).source == .disk)
    #expect(origin.requestCount == 2)
    #expect(try pipeline.disk?.statistics().entries == 1)
    await pipeline.shutdown()
  }

  @Test func `what a 304 says about use counts from then on`() async throws {
    let origin = origin(confirmation: ["Cache-Control: max-age=5, must-revalidate"])
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).source == .network)
    origin.now += 60
    #expect(await pipeline.outcome(request).source == .revalidated)
    origin.now += 4
    #expect(await pipeline.outcome(request).source == .memory)
    origin.now += 1
    #expect(await pipeline.outcome(request, mode: .offline).failureCode == .offline)
    #expect(await pipeline.outcome(request).source == .revalidated)
    await pipeline.shutdown()
    origin.now += 5
    let reopened = try PosterPipeline(origin.configuration(directory))
    #expect(await reopened.outcome(request, mode: .offline).failureCode == .offline)
    await reopened.shutdown()
  }

  @Test func `a picture that has changed takes the place of the stored one`() async throws {
    let origin = origin()
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).source == .network)
    origin.now += 60
    origin.set {
      $0.headers = ["Cache-Control: max-age=60", "ETag: \"two\""]
      $0.body = TestPicture.png
    }
    let poster = try await pipeline.poster(for: request)
    #expect(poster.source == .network && poster.body.bytes == TestPicture.png)
    #expect(origin.values("if-none-match") == [nil, "\"one\""])
    await pipeline.shutdown()
    let stored = try DiskCache(directory: directory.path).poster(for: request)
    #expect(stored?.body.bytes == TestPicture.png && stored?.metadata.etag == "\"two\"")
  }

  @Test func `a 304 about another picture confirms nothing`() async throws {
    let origin = origin(confirmation: ["ETag: \"another\""])
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).source == .network)
    origin.now += 60
    #expect(await pipeline.outcome(request).source == .network)
    #expect(origin.values("if-none-match") == [nil, "\"one\"", nil])
    #expect(origin.values("cache-control") == [nil, nil, "no-cache"])
    await pipeline.shutdown()
  }

  @Test func `no-cache is stored, and asked about each time`() async throws {
    let origin = origin(["Cache-Control: no-cache"])
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).source == .network)
    #expect(pipeline.cachedPoster(for: request) == nil)
    #expect(await pipeline.outcome(request).source == .revalidated)
    #expect(await pipeline.outcome(request).source == .revalidated)
    #expect(await pipeline.outcome(request, mode: .offline).failureCode == .offline)
    await pipeline.shutdown()
  }

  @Test func `what must not be kept any more goes`() async throws {
    for confirmation in [["Cache-Control: no-store"], nil] {
      let origin = origin()
      let request = try origin.request()
      let pipeline = try PosterPipeline(origin.configuration(directory))
      #expect(await pipeline.outcome(request).source == .network)
      origin.now += 60
      origin.set { answer in
        answer.confirmation = confirmation
        answer.headers = ["Cache-Control: no-store", "ETag: \"one\""]
      }
      let expected: Poster.Source = confirmation == nil ? .network : .revalidated
      #expect(await pipeline.outcome(request).source == expected)
      await pipeline.shutdown()
      #expect(pipeline.memory.count == 0)
      #expect(try DiskCache(directory: directory.path).statistics().entries == 0)
    }
  }

  @Test func `a clock that goes back a year makes nothing fresh`() async throws {
    let origin = origin(["Cache-Control: max-age=31536000"])
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).source == .network)
    origin.now -= 365 * 86_400
    #expect(await pipeline.outcome(request).source == .revalidated)
    #expect(await pipeline.outcome(request).source == .memory)
    await pipeline.shutdown()
    let reopened = try PosterPipeline(origin.configuration(directory))
    #expect(await reopened.outcome(request).source == .disk)
    origin.now += 180 * 86_400
    #expect(await reopened.outcome(request).source == .revalidated)
    await reopened.shutdown()
    #expect(origin.requestCount == 3)
  }

  // MARK: - Refreshing

  @Test func `a refresh asks about what is fresh, and caches on the way as well`() async throws {
    let origin = origin()
    let request = try origin.request()
    var configuration = origin.configuration(directory)
    let pipeline = try PosterPipeline(configuration)
    #expect(await pipeline.outcome(request).source == .network)
    #expect(await pipeline.outcome(request, mode: .refresh).source == .revalidated)
    #expect(try await pipeline.warm(request, mode: .refresh) == .revalidated)
    #expect(try await pipeline.warm(request) == .hit)
    await pipeline.shutdown()
    configuration.isRefreshing = true
    let refreshing = try PosterPipeline(configuration)
    #expect(await refreshing.outcome(request).source == .revalidated)
    #expect(refreshing.cachedPoster(for: request) == nil)
    #expect(await refreshing.outcome(request, mode: .normal).source == .memory)
    #expect(try await refreshing.warm(request) == .revalidated)
    await refreshing.shutdown()
    #expect(origin.values("cache-control") == [nil] + [String?](repeating: "no-cache", count: 4))
    #expect(origin.values("if-none-match") == [nil] + [String?](repeating: "\"one\"", count: 4))
  }

  @Test func `a refresh that fails is a failure, and what is stored stays`() async throws {
    let origin = origin()
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).source == .network)
    origin.set {
      $0.status = 503
      $0.confirmation = nil
    }
    #expect(await pipeline.outcome(request, mode: .refresh).failureCode == .status(503))
    #expect(await pipeline.outcome(request).source == .memory)
    await pipeline.shutdown()
  }

  @Test func `nothing can be refreshed offline`() {
    var configuration = PosterPipeline.Configuration()
    configuration.isOffline = true
    configuration.isRefreshing = true
    let error = #expect(throws: PosterError.self) { try PosterPipeline(configuration) }
    #expect(error?.code == .invalidConfiguration)
  }

  // MARK: - Warming

  @Test func `warming asks about what has expired, and memory learns of it`() async throws {
    let origin = origin(["Cache-Control: max-age=60, stale-while-revalidate=600"])
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    #expect(await pipeline.outcome(request).source == .network)
    origin.now += 60
    #expect(try await pipeline.warm(request) == .revalidated)
    #expect(try await pipeline.warm(request) == .hit)
    #expect(pipeline.cachedPoster(for: request)?.metadata.storedAt == origin.now)
    #expect(origin.requestCount == 2)
    origin.now += 60
    origin.set {
      $0.status = 500
      $0.confirmation = nil
    }
    let error = await #expect(throws: PosterError.self) { try await pipeline.warm(request) }
    #expect(error?.code == .status(500))
    await pipeline.shutdown()
    #expect(try DiskCache(directory: directory.path).statistics().entries == 1)
  }

  @Test func `what arrives while nobody waits any more is stored all the same`() async throws {
    let origin = origin()
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory))
    let disk = try #require(pipeline.disk)
    let gate = Gate()
    let (isHeld, isWaiting) = (Gate(), Gate())
    // Whoever writes has to wait for this one.
    let holder = WorkerThread(name: "index-holder") {
      try? disk.index.write { _ in
        isHeld.open()
        gate.wait()
      }
    }
    isHeld.wait()
    let warming = Task {
      isWaiting.open()
      return try await pipeline.warm(request)
    }
    isWaiting.wait()
    origin.server.waitForRequests(1)
    // Memory has nothing to do with it; once the poster waits to be written, it can be read.
    while disk.writer.unwritten(request.key) == nil { await Task.yield() }
    warming.cancel()
    let result = await warming.result
    let error = #expect(throws: PosterError.self) { try result.get() }
    #expect(error?.code == .cancelled)
    gate.open()
    holder.join()
    await pipeline.shutdown()
    #expect(try DiskCache(directory: directory.path).poster(for: request) != nil)
  }
}
