import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// Posters as pixels: what is decoded, where, and how long it counts.
@Suite(.timeLimit(.minutes(1)))
struct PipelineImageTests {
  private let directory = TemporaryDirectory()
  private let decoder = SceneDecoder()

  private func origin(
    _ headers: [String] = ["Cache-Control: max-age=60"], color: UInt8 = 1,
    confirmation: [String]? = ["Content-Length: 0"]
  ) -> CachingOrigin {
    CachingOrigin(
      CachingOrigin.Answer(
        headers: headers + ["ETag: \"one\""], body: SceneDecoder.picture(color),
        confirmation: confirmation))
  }

  private func pipeline(
    _ origin: CachingOrigin, _ directory: TemporaryDirectory?, workers: Int = 1,
    _ change: (inout PosterPipeline.Configuration) -> Void = { _ in }
  ) throws -> PosterPipeline {
    var configuration = origin.configuration(directory)
    configuration.decodeWorkers = workers
    change(&configuration)
    return try PosterPipeline(configuration, decoder)
  }

  @Test(arguments: [true, false])
  func `a poster in two sizes is fetched once and decoded twice`(hasDisk: Bool) async throws {
    let origin = origin()
    let pipeline = try pipeline(origin, hasDisk ? directory : nil)
    let request = try origin.request()
    #expect(pipeline.cachedImage(for: request, as: .small) == nil)
    #expect(pipeline.averageColor(for: request) == nil)
    async let small = pipeline.color(request, .small)
    async let medium = pipeline.color(request, .medium)
    #expect(await small.color == 1)
    #expect(await medium.color == 1)
    #expect(Set(decoder.decoded.map(\.width)) == [40, 80] && decoder.decoded.count == 2)
    #expect(origin.requestCount == 1)
    #expect(pipeline.cachedImage(for: request, as: .small)?.bitmap.size.width == 40)
    #expect(pipeline.cachedImage(for: request, as: .medium)?.bitmap.size.width == 80)
    #expect(pipeline.averageColor(for: request) == PosterColor(red: 1, green: 1, blue: 1))
    #expect(await pipeline.color(request, .small).color == 1)
    #expect(decoder.decoded.count == 2)
    #expect(decoder.threads == ["poster-decode"])
    await pipeline.shutdown()
    #expect(await pipeline.color(request, .medium).color == 1)
    #expect(await pipeline.color(request, Rendition(.full)).failureCode == .cancelled)
  }

  @Test func `a picture in one rendition is decoded once, however many want it`() async throws {
    let origin = origin()
    let pipeline = try pipeline(origin, directory)
    let request = try origin.request()
    let gate = Gate()
    decoder.hold(gate)
    let tasks = (0..<50).map { _ in Task { await pipeline.color(request) } }
    decoder.waitForDecodes(1)
    tasks[7].cancel()
    #expect(await tasks[7].value.failureCode == .cancelled)
    gate.open()
    for (number, task) in tasks.enumerated() where number != 7 {
      #expect(await task.value.color == 1)
    }
    #expect(decoder.decoded.count == 1)
    await pipeline.shutdown()
  }

  @Test func `what nobody wants any more is not begun, and what has begun is kept`() async throws {
    let origin = origin()
    let pipeline = try pipeline(origin, nil)
    let (running, queued) = (try origin.request("/a.jpg"), try origin.request("/b.jpg"))
    let gate = Gate()
    decoder.hold(gate)
    let first = Task { await pipeline.color(running) }
    decoder.waitForDecodes(1)
    let second = Task { await pipeline.color(queued, .medium) }
    origin.server.waitForRequests(2)
    first.cancel()
    second.cancel()
    #expect(await first.value.failureCode == .cancelled)
    #expect(await second.value.failureCode == .cancelled)
    let last = Task { await pipeline.color(queued, .small) }
    gate.open()
    #expect(await last.value.color == 1)
    #expect(decoder.decoded.map(\.width) == [40, 40])
    #expect(pipeline.cachedImage(for: running, as: .small) != nil)
    await pipeline.shutdown()
  }

  @Test func `a visible poster waits for one decode of a prefetch at most`() async throws {
    let origin = origin()
    let pipeline = try pipeline(origin, nil)
    for number in 0..<20 {
      // In memory, so that asking for pixels leads to the decoder at once.
      _ = try await pipeline.poster(for: origin.request("/\(number).jpg"))
    }
    let gate = Gate()
    decoder.hold(gate)
    let prefetched = try (0..<19).map { number in
      let request = try origin.request("/\(number).jpg", priority: .prefetch)
      return Task { await pipeline.color(request) }
    }
    decoder.waitForDecodes(1)
    let visible = try origin.request("/19.jpg")
    let task = Task { await pipeline.color(visible, .medium) }
    pipeline.workers.waitForWaiting(19)
    gate.open()
    #expect(await task.value.color == 1)
    for prefetch in prefetched { #expect(await prefetch.value.color == 1) }
    #expect(decoder.decoded.count == 20)
    #expect(decoder.decoded[1].width == 80)
    await pipeline.shutdown()
  }

  /// Waits until the first of `count` posters is being decoded and the others wait.
  private func wait(_ pipeline: PosterPipeline, forOrders count: Int) {
    decoder.waitForDecodes(1)
    pipeline.workers.waitForWaiting(count - 1)
  }

  // MARK: - Freshness

  @Test(arguments: [true, false])
  func `pixels count as long as their poster, and are confirmed with it`(
    hasDisk: Bool
  ) async throws {
    let origin = origin()
    let pipeline = try pipeline(origin, hasDisk ? directory : nil)
    let request = try origin.request()
    #expect(await pipeline.color(request).color == 1)
    origin.now += 59
    #expect(pipeline.cachedImage(for: request, as: .small) != nil)
    origin.now += 1
    #expect(pipeline.cachedImage(for: request, as: .small) == nil)
    #expect(await pipeline.color(request).color == 1)
    #expect(origin.values("if-none-match") == [nil, "\"one\""])
    origin.now += 59
    #expect(pipeline.cachedImage(for: request, as: .small) != nil)
    #expect(decoder.decoded.count == 1)
    // A poster that somebody else asks about counts for its pixels as well.
    origin.now += 1
    #expect(try await pipeline.poster(for: request).source == .revalidated)
    #expect(pipeline.cachedImage(for: request, as: .small) != nil)
    #expect(decoder.decoded.count == 1)
    await pipeline.shutdown()
  }

  @Test func `refreshing asks, and decodes only what has changed`() async throws {
    let origin = origin()
    let pipeline = try pipeline(origin, directory)
    let request = try origin.request()
    #expect(await pipeline.color(request, .small).color == 1)
    #expect(await pipeline.color(request, .medium).color == 1)
    #expect(await pipeline.color(request, mode: .refresh).color == 1)
    #expect(origin.requestCount == 2 && decoder.decoded.count == 2)
    origin.set {
      $0.headers = ["Cache-Control: max-age=60", "ETag: \"two\""]
      $0.body = SceneDecoder.picture(2)
    }
    #expect(await pipeline.color(request, mode: .refresh).color == 2)
    #expect(pipeline.cachedImage(for: request, as: .small)?.averageColor.red == 2)
    // The other size of the earlier version went with it.
    #expect(pipeline.cachedImage(for: request, as: .medium) == nil)
    #expect(await pipeline.color(request, .medium).color == 2)
    #expect(pipeline.averageColor(for: request)?.red == 2)
    #expect(decoder.decoded.map(\.color) == [1, 1, 2, 2])
    await pipeline.shutdown()
  }

  @Test(arguments: [404, 410])
  func `pixels go with a poster that its server has no more`(status: Int) async throws {
    let origin = origin()
    let pipeline = try pipeline(origin, directory)
    let request = try origin.request()
    #expect(await pipeline.color(request).color == 1)
    origin.now += 60
    origin.set { $0.status = status }
    origin.set { $0.confirmation = nil }
    #expect(await pipeline.color(request).failureCode == .status(status))
    try pipeline.disk?.flush()
    origin.now -= 30
    #expect(pipeline.cachedImage(for: request, as: .small) == nil)
    #expect(pipeline.bitmaps.count == 0)
    #expect(await pipeline.color(request, mode: .offline).failureCode == .status(status))
    await pipeline.shutdown()
    #expect(pipeline.averageColor(for: request) == nil)
  }

  @Test func `what must not be stored is decoded, and its pixels are not kept`() async throws {
    let origin = origin(["Cache-Control: no-store"])
    let pipeline = try pipeline(origin, directory)
    let request = try origin.request()
    #expect(await pipeline.color(request).color == 1)
    #expect(await pipeline.color(request).color == 1)
    #expect(pipeline.bitmaps.count == 0 && pipeline.averageColor(for: request) == nil)
    #expect(origin.requestCount == 2 && decoder.decoded.count == 2)
    await pipeline.shutdown()
  }

  @Test func `offline, pixels are used after expiry unless that is forbidden`() async throws {
    for (directive, isAllowed) in [("max-age=60", true), ("max-age=60, must-revalidate", false)] {
      let origin = origin(["Cache-Control: \(directive)"])
      let pipeline = try pipeline(origin, nil)
      let request = try origin.request()
      #expect(await pipeline.color(request).color == 1)
      let count = decoder.decoded.count
      origin.now += 100
      let outcome = await pipeline.color(request, mode: .offline)
      #expect(outcome.color == (isAllowed ? 1 : nil))
      #expect(outcome.failureCode == (isAllowed ? nil : .offline))
      #expect(await pipeline.color(request, .medium, mode: .offline).color == outcome.color)
      #expect(decoder.decoded.count == count + (isAllowed ? 1 : 0))
      let missing = try origin.request("/missing.jpg")
      #expect(await pipeline.color(missing, mode: .offline).failureCode == .offline)
      #expect(origin.requestCount == 1)
      await pipeline.shutdown()
    }
  }

  @Test func `expired pixels are used while their server is asked, where it allows that`()
    async throws
  {
    let origin = origin(["Cache-Control: max-age=60, stale-while-revalidate=60"])
    let pipeline = try pipeline(origin, directory)
    let request = try origin.request()
    #expect(await pipeline.color(request).color == 1)
    origin.now += 90
    #expect(pipeline.cachedImage(for: request, as: .small) == nil)
    let gate = Gate()
    origin.set { $0.gate = gate }
    #expect(await pipeline.color(request).color == 1)
    #expect(await pipeline.color(request).color == 1)
    gate.open()
    await pipeline.finishRevalidating()
    #expect(pipeline.cachedImage(for: request, as: .small) != nil)
    #expect(origin.requestCount == 2 && decoder.decoded.count == 1)
    await pipeline.shutdown()
  }

  @Test func `expired pixels are used if their server is in trouble, where that is allowed`()
    async throws
  {
    for (directive, isAllowed) in [("max-age=60", true), ("no-cache", false)] {
      let origin = origin(["Cache-Control: \(directive)"])
      let warnings = Warnings()
      let pipeline = try pipeline(origin, nil) { $0.onWarning = warnings.add }
      let request = try origin.request()
      #expect(await pipeline.color(request).color == 1)
      origin.now += 90
      origin.set {
        $0.status = 503
        $0.confirmation = nil
      }
      let outcome = await pipeline.color(request)
      #expect(outcome.color == (isAllowed ? 1 : nil))
      #expect(outcome.failureCode == (isAllowed ? nil : .status(503)))
      #expect(warnings.all == (isAllowed ? [.status(503)] : []))
      await pipeline.shutdown()
    }
    #expect(decoder.decoded.count == 2)
  }

  @Test func `a version that comes while an earlier one is decoded keeps that from being kept`()
    async throws
  {
    let origin = origin()
    let pipeline = try pipeline(origin, directory)
    let request = try origin.request()
    let gate = Gate()
    decoder.hold(gate)
    let early = Task { await pipeline.color(request) }
    decoder.waitForDecodes(1)
    origin.set {
      $0.headers = ["Cache-Control: max-age=60", "ETag: \"two\""]
      $0.body = SceneDecoder.picture(2)
    }
    #expect(await pipeline.outcome(request, mode: .refresh).source == .network)
    gate.open()
    #expect(await early.value.color == 1)
    #expect(pipeline.cachedImage(for: request, as: .small) == nil)
    #expect(pipeline.averageColor(for: request) == nil)
    #expect(await pipeline.color(request).color == 2)
    await pipeline.shutdown()
  }

  @Test func `a confirmation that comes while a poster is decoded counts for its pixels`()
    async throws
  {
    let origin = origin()
    let pipeline = try pipeline(origin, directory)
    let request = try origin.request()
    let gate = Gate()
    decoder.hold(gate)
    let early = Task { await pipeline.color(request) }
    decoder.waitForDecodes(1)
    origin.now += 50
    #expect(await pipeline.outcome(request, mode: .refresh).source == .revalidated)
    gate.open()
    #expect(await early.value.color == 1)
    origin.now += 50
    #expect(pipeline.cachedImage(for: request, as: .small) != nil)
    await pipeline.shutdown()
  }

  @Test func `pixels are not given for what another process has stored since`() async throws {
    let origin = origin()
    let pipeline = try pipeline(origin, directory)
    let request = try origin.request()
    #expect(await pipeline.color(request).color == 1)
    try pipeline.disk?.flush()
    origin.now += 60
    do {
      let other = try DiskCache(directory: directory.path)
      let metadata = PosterMetadata(
        address: request.address, type: .jpeg, etag: "\"one\"", storedAt: origin.now,
        expiresAt: origin.now + 60)
      let poster = StoredPoster(
        metadata: metadata, body: PosterBody(copying: SceneDecoder.picture(2)))
      #expect(other.store(poster) == nil)
    }
    #expect(await pipeline.color(request).color == 2)
    #expect(pipeline.cachedImage(for: request, as: .small)?.averageColor.red == 2)
    #expect(origin.requestCount == 1)
    await pipeline.shutdown()
  }

  @Test func `pixels of an earlier version go, also when the clock has gone back`() async throws {
    let origin = origin()
    let pipeline = try pipeline(origin, directory)
    let request = try origin.request()
    #expect(await pipeline.color(request, .small).color == 1)
    #expect(await pipeline.color(request, .medium).color == 1)
    // As clocks are corrected: what was stored so little later than now is fresh.
    origin.now -= 30
    #expect(pipeline.cachedImage(for: request, as: .medium) != nil)
    origin.set {
      $0.headers = ["Cache-Control: max-age=60", "ETag: \"two\""]
      $0.body = SceneDecoder.picture(2)
    }
    #expect(await pipeline.outcome(request, mode: .refresh).source == .network)
    #expect(pipeline.cachedImage(for: request, as: .small) == nil)
    #expect(pipeline.cachedImage(for: request, as: .medium) == nil)
    #expect(await pipeline.color(request, .small).color == 2)
    #expect(pipeline.cachedImage(for: request, as: .small)?.averageColor.red == 2)
    await pipeline.shutdown()
  }

  @Test func `what must not be stored is never decoded from an earlier version that is pinned`()
    async throws
  {
    let origin = origin()
    let pipeline = try pipeline(origin, directory)
    let request = try origin.request("/pinned.jpg")
    #expect(await pipeline.outcome(request).source == .network)
    try pipeline.disk?.pin([request])
    origin.set {
      $0.headers = ["Cache-Control: no-store", "ETag: \"two\""]
      $0.body = SceneDecoder.picture(2, filler: 9 << 20)
    }
    let gate = Gate()
    decoder.hold(gate)
    // One is being decoded, and three take what may be held while it waits.
    let others = try (0..<4).map { number in
      let other = try origin.request("/\(number).jpg", priority: .prefetch)
      let task = Task { await pipeline.color(other) }
      wait(pipeline, forOrders: number + 1)
      return task
    }
    let last = Task { await pipeline.color(request, mode: .refresh) }
    wait(pipeline, forOrders: 5)
    gate.open()
    #expect(await last.value.color == 2)
    for other in others { #expect(await other.value.color == 2) }
    await pipeline.shutdown()
  }

  @Test func `a decode that was ordered just before its pixels were kept is none`() async throws {
    let origin = origin()
    let pipeline = try pipeline(origin, directory)
    let request = try origin.request()
    let (watch, image) = (
      pipeline.tiers.images.watch(request.key), try await pipeline.image(for: request, as: .small)
    )
    let stored = try await pipeline.poster(for: request).stored
    // As by somebody who looked for the pixels a moment earlier.
    let order = DecodeOrder(
      request: request, rendition: .small, allowsIncomplete: false, poster: stored,
      bodyHash: stored.body.contentHash, storedAt: stored.metadata.storedAt, isStorable: true,
      watch: watch)
    let outcome = await DecodeWait(order, mustHold: false, by: pipeline.workers).outcome()
    guard case .image(let same, _) = outcome else {
      Issue.record("no image")
      return
    }
    #expect(same.averageColor == image.averageColor && decoder.decoded.count == 1)
    await pipeline.shutdown()
  }

  // MARK: - Use

  @Test func `looking at pixels counts as looking at the poster on disk, prefetching does not`()
    async throws
  {
    let origin = origin()
    let seen = try origin.request("/seen.jpg", priority: .prefetch)
    var unseen = try origin.request("/unseen.jpg", priority: .prefetch)
    let pipeline = try pipeline(origin, directory)
    for request in [seen, unseen] { #expect(await pipeline.color(request).color == 1) }
    var visible = seen
    visible.priority = .visible
    #expect(pipeline.cachedImage(for: visible, as: .small) != nil)
    #expect(await pipeline.color(unseen).color == 1)
    await pipeline.shutdown()
    let cache = try DiskCache(directory: directory.path)
    // What is unseen goes first, however late it was used.
    _ = try cache.trim(to: ByteSize(bytes: Int(try cache.statistics().bytes) - 1))
    unseen.priority = .visible
    #expect(try cache.peek(at: seen) != nil && cache.peek(at: unseen) == nil)
  }

  @Test func `wrong numbers of workers are refused`() throws {
    for count in [0, -1, 2000] {
      var configuration = PosterPipeline.Configuration()
      configuration.decodeWorkers = count
      let error = #expect(throws: PosterError.self) { try PosterPipeline(configuration) }
      #expect(error?.code == .invalidConfiguration)
    }
  }

  @Test func `posters that no tier keeps until their turn are got once more, a few at a time`()
    async throws
  {
    let origin = origin(["Cache-Control: no-store"])
    origin.set { $0.body = SceneDecoder.picture(1, filler: 9 << 20) }
    let pipeline = try pipeline(origin, nil)
    let gate = Gate()
    decoder.hold(gate)
    // The first is being decoded, three wait with their bytes, two without.
    let tasks = try (0..<6).map { number in
      let request = try origin.request("/\(number).jpg", priority: .prefetch)
      let task = Task { await pipeline.color(request) }
      wait(pipeline, forOrders: number + 1)
      return task
    }
    #expect(pipeline.workers.state.withLock { $0.queue.heldBytes } <= 32 << 20)
    gate.open()
    for task in tasks { #expect(await task.value.color == 1) }
    #expect(origin.requestCount == 8 && decoder.decoded.count == 6)
    await pipeline.shutdown()
  }

  @Test func `posters that a tier keeps are looked for there when their turn comes`() async throws {
    let origin = origin()
    origin.set { $0.body = SceneDecoder.picture(1, filler: 9 << 20) }
    let pipeline = try pipeline(origin, directory) { $0.memoryLimit = ByteSize(bytes: 0) }
    let gate = Gate()
    decoder.hold(gate)
    let tasks = try (0..<6).map { number in
      let request = try origin.request("/\(number).jpg", priority: .prefetch)
      let task = Task { await pipeline.color(request) }
      wait(pipeline, forOrders: number + 1)
      // One by one: more than 32 MiB that wait for the disk would not be stored.
      try pipeline.disk?.flush()
      return task
    }
    gate.open()
    for task in tasks { #expect(await task.value.color == 1) }
    #expect(origin.requestCount == 6 && decoder.decoded.count == 6)
    await pipeline.shutdown()
  }
}
