import FoundationEssentials
import PosterServer
import TestSupport
import Testing

@testable import PosterCache

/// Pictures that the decoder finds damaged: those that lie so in the cache, and those that are sent so.
@Suite(.timeLimit(.minutes(1)))
struct PipelineDamageTests {
  private let directory = TemporaryDirectory()
  private let decoder = SceneDecoder()

  private func origin(_ color: UInt8 = 1) -> CachingOrigin {
    CachingOrigin(
      CachingOrigin.Answer(
        headers: ["Cache-Control: max-age=60", "ETag: \"one\""],
        body: SceneDecoder.picture(color), confirmation: ["Content-Length: 0"]))
  }

  /// Stores a damaged picture that passes every checksum, as if its server had sent it.
  private func storeDamaged(
    _ request: PosterRequest, _ origin: CachingOrigin, isPinned: Bool = false
  ) throws {
    let cache = try DiskCache(directory: directory.path)
    let metadata = PosterMetadata(
      address: request.address, type: .jpeg, etag: "\"one\"", storedAt: origin.now,
      expiresAt: origin.now + 60)
    let body = PosterBody(copying: SceneDecoder.picture(SceneDecoder.damagedColor))
    #expect(cache.store(StoredPoster(metadata: metadata, body: body)) == nil)
    if isPinned { try cache.pin([request]) }
    cache.close()
  }

  @Test(arguments: [false, true])
  func `a damaged stored poster is fetched anew once, and keeps its pin`(
    isPinned: Bool
  ) async throws {
    let origin = origin()
    let request = try origin.request()
    try storeDamaged(request, origin, isPinned: isPinned)
    let pipeline = try PosterPipeline(origin.configuration(directory), decoder)
    async let small = pipeline.color(request, .small)
    async let medium = pipeline.color(request, .medium)
    #expect(await small.color == 1)
    #expect(await medium.color == 1)
    // Without a condition, past every cache on the way.
    #expect(origin.values("if-none-match") == [nil])
    #expect(origin.values("cache-control") == ["no-cache"])
    await pipeline.shutdown()
    let cache = try DiskCache(directory: directory.path)
    #expect(try cache.peek(at: request)?.body.bytes == SceneDecoder.picture(1))
    var pins: [Bool] = []
    try cache.forEachEntry { entry in
      pins.append(entry.isPinned)
      return true
    }
    #expect(pins == [isPinned])
  }

  @Test func `dropping a damaged poster spares the version that has just taken its place`() throws {
    let origin = origin()
    let request = try origin.request()
    try storeDamaged(request, origin)
    let cache = try DiskCache(directory: directory.path)
    let damaged = try #require(try cache.peek(at: request))
    let memory = MemoryCache(limitBytes: 1 << 20)
    memory.insert(damaged)
    let whole = StoredPoster(
      metadata: damaged.metadata, body: PosterBody(copying: SceneDecoder.picture(1)))
    // As by two who have found out at the same time, of whom one has fetched it already.
    #expect(cache.store(whole) == nil)
    memory.insert(whole)
    cache.dropDamaged(damaged)
    memory.remove(damaged)
    try cache.flush()
    #expect(try cache.peek(at: request)?.body.bytes == SceneDecoder.picture(1))
    #expect(memory.poster(for: request.key) === whole)
    // Nobody has replaced this one.
    cache.dropDamaged(try #require(try cache.peek(at: request)))
    memory.remove(whole)
    try cache.flush()
    #expect(try cache.peek(at: request) == nil && memory.count == 0)
  }

  @Test func `offline, a damaged stored poster is an error, and stays`() async throws {
    let origin = origin()
    let request = try origin.request()
    try storeDamaged(request, origin)
    let pipeline = try PosterPipeline(origin.configuration(directory), decoder)
    #expect(await pipeline.color(request, mode: .offline).failureCode == .damagedImage)
    let some = await pipeline.color(request, mode: .offline, allowingIncomplete: true)
    #expect(some.color == SceneDecoder.damagedColor)
    #expect(origin.requestCount == 0)
    #expect(await pipeline.outcome(request).source == .memory)
    #expect(await pipeline.color(request).color == 1)
    await pipeline.shutdown()
  }

  @Test func `a picture that is sent damaged is fetched and decoded once while it is fresh`()
    async throws
  {
    let origin = origin(SceneDecoder.damagedColor)
    let request = try origin.request()
    let pipeline = try PosterPipeline(origin.configuration(directory), decoder)
    for _ in 0..<3 { #expect(await pipeline.color(request).failureCode == .damagedImage) }
    #expect(await pipeline.color(request, .medium).failureCode == .damagedImage)
    #expect(origin.requestCount == 1 && decoder.decoded.count == 1)
    #expect(pipeline.bitmaps.count == 0 && pipeline.averageColor(for: request) == nil)
    // What there is of it is had for the asking, and is not kept.
    let some = await pipeline.color(request, allowingIncomplete: true)
    #expect(some.color == SceneDecoder.damagedColor)
    #expect(pipeline.bitmaps.count == 0 && origin.requestCount == 1)
    // Confirmed, it is as damaged as before.
    origin.now += 60
    #expect(await pipeline.color(request).failureCode == .damagedImage)
    #expect(origin.requestCount == 2 && decoder.decoded.count == 2)
    origin.now += 60
    origin.set {
      $0.headers = ["Cache-Control: max-age=60", "ETag: \"two\""]
      $0.body = SceneDecoder.picture(2)
    }
    #expect(await pipeline.color(request).color == 2)
    await pipeline.shutdown()
  }

  @Test func `a damaged stored poster that is sent damaged again is an error once and for all`()
    async throws
  {
    let origin = origin(SceneDecoder.damagedColor)
    let request = try origin.request()
    try storeDamaged(request, origin)
    let pipeline = try PosterPipeline(origin.configuration(directory), decoder)
    for _ in 0..<3 { #expect(await pipeline.color(request).failureCode == .damagedImage) }
    #expect(origin.requestCount == 1 && decoder.decoded.count == 2)
    await pipeline.shutdown()
  }

  @Test func `what there is of a damaged poster is given if the rest cannot be had`() async throws {
    let origin = origin()
    let request = try origin.request()
    try storeDamaged(request, origin)
    origin.set { $0.status = 503 }
    let pipeline = try PosterPipeline(origin.configuration(directory), decoder)
    let some = await pipeline.color(request, allowingIncomplete: true)
    #expect(some.color == SceneDecoder.damagedColor)
    #expect(await pipeline.color(request).failureCode == .status(503))
    origin.set { $0.status = 200 }
    #expect(await pipeline.color(request, allowingIncomplete: true).color == 1)
    await pipeline.shutdown()
  }

  @Test func `a poster whose end is missing on disk comes whole from its server`() async throws {
    let demo = try DemoOrigin()
    let request = try PosterRequest(path: "a.jpg", size: .w342, images: demo.images)
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = directory.path
    do {
      let pipeline = try PosterPipeline(configuration)
      let poster = try await pipeline.poster(for: request)
      let half = poster.body.bytes.prefix(poster.body.count / 2)
      let damaged = StoredPoster(metadata: poster.metadata, body: PosterBody(copying: half))
      #expect(pipeline.disk?.store(damaged) == nil)
      await pipeline.shutdown()
    }
    let pipeline = try PosterPipeline(configuration)
    let image = try await pipeline.image(for: request, fitting: PixelSize(width: 154, height: 231))
    #expect(image.bitmap.size == PixelSize(width: 154, height: 231))
    #expect(image.fullSize == PixelSize(width: 342, height: 513))
    #expect(demo.requestCounts == ["/t/p/w342/a.jpg": 2])
    let whole = try ImageDecoder().decode(
      PosterBody(copying: DemoPoster.encode(name: "a.jpg", size: .w342)),
      as: Rendition(.fitting(PixelSize(width: 154, height: 231))))
    #expect(image.bitmap.bytes == whole.bitmap.bytes)
    #expect(pipeline.averageColor(for: request) == whole.averageColor)
    await pipeline.shutdown()
    #expect(
      try DiskCache(directory: directory.path).averageColor(of: request) == whole.averageColor)
    demo.shutdown()
  }
}
