import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// What prefetching asks of a pipeline, whichever tier it fetches into.
@Suite(.timeLimit(.minutes(1)))
struct PrefetchTests {
  /// Where a prefetch ends.
  enum Destination: CaseIterable, Sendable {
    case disk, memory, pixels
  }

  private let directory = TemporaryDirectory()
  private let decoder = SceneDecoder()

  private func pipeline(
    _ server: NumberedServer, connections: Int = 16
  ) throws -> PosterPipeline {
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = directory.path
    configuration.decodeWorkers = 1
    configuration.fetching = .once
    configuration.fetching.connectionsPerHost = connections
    return try PosterPipeline(configuration, decoder)
  }

  /// Begins a prefetch: it has asked when this returns.
  private func prefetch(
    _ request: PosterRequest, to destination: Destination, _ pipeline: PosterPipeline
  ) -> Task<PosterError?, Never> {
    var request = request
    request.priority = .prefetch
    return Task.immediate { [request] in
      do throws(PosterError) {
        switch destination {
        case .disk: _ = try await pipeline.warm(request)
        case .memory: _ = try await pipeline.poster(for: request)
        case .pixels: _ = try await pipeline.image(for: request, as: .small)
        }
        return nil
      } catch {
        return error
      }
    }
  }

  @Test(arguments: Destination.allCases)
  func `what is on disk is not fetched, and a prefetch can be cancelled`(
    destination: Destination
  ) async throws {
    let server = NumberedServer()
    do {
      let pipeline = try pipeline(server)
      try await pipeline.warm(server.request(1))
      await pipeline.shutdown()
    }
    let pipeline = try pipeline(server)
    let stored = try server.request(1)
    #expect(await prefetch(stored, to: destination, pipeline).value == nil)
    #expect(server.numbers == [1])
    let gate = server.hold()
    let task = prefetch(try server.request(2), to: destination, pipeline)
    server.server.waitForRequests(2)
    task.cancel()
    #expect(await task.value?.code == .cancelled)
    // Not finished for the cache, either: nothing of it has come.
    #expect(pipeline.fetcher.statistics.cancelled.requesting == 1)
    gate.open()
    await pipeline.shutdown()
    #expect(decoder.decoded.count == (destination == .pixels ? 1 : 0))
  }

  @Test(arguments: Destination.allCases)
  func `what was prefetched goes before what was looked at, until it is looked at`(
    destination: Destination
  ) async throws {
    let server = NumberedServer()
    let pipeline = try pipeline(server)
    let (old, new) = (try server.request(1), try server.request(2))
    #expect(await pipeline.color(old).color == 1)
    #expect(await prefetch(new, to: destination, pipeline).value == nil)
    try halve(pipeline)
    #expect(try pipeline.disk?.peek(at: old) != nil && pipeline.disk?.peek(at: new) == nil)
    #expect(pipeline.memory.peek(old.key) != nil && pipeline.memory.peek(new.key) == nil)
    #expect(pipeline.cachedImage(for: old, as: .small) != nil)
    #expect(pipeline.cachedImage(for: new, as: .small) == nil)

    #expect(await prefetch(new, to: destination, pipeline).value == nil)
    #expect(await pipeline.color(new).color == 2)
    #expect(server.numbers == [1, 2, 2])
    try halve(pipeline)
    #expect(try pipeline.disk?.peek(at: old) == nil && pipeline.disk?.peek(at: new) != nil)
    // Who has the pixels did not look for the poster itself.
    if destination != .pixels {
      #expect(pipeline.memory.peek(old.key) == nil && pipeline.memory.peek(new.key) != nil)
    }
    await pipeline.shutdown()
  }

  /// Evicts one of two posters from each tier.
  private func halve(_ pipeline: PosterPipeline) throws {
    let disk = try #require(pipeline.disk)
    try disk.flush()
    let bytes = try disk.statistics().bytes
    _ = try disk.trim(to: ByteSize(bytes: bytes - 1))
    if pipeline.memory.count > 1 {
      pipeline.memory.trim(toBytes: pipeline.memory.totalBytes - 1)
    }
    if pipeline.bitmaps.count > 1 { pipeline.bitmaps.trim(toBytes: 40 * 60 * 4) }
  }

  @Test func `a link is known once a picture has come from its host, whatever pages come`()
    async throws
  {
    let server = NumberedServer()
    let pipeline = try pipeline(server)
    let request = try server.request(1)
    #expect(pipeline.link(to: request) == nil)
    let page = PageRequest(address: try PosterAddress(server.server.address("/page")))
    #expect(try await pipeline.page(page).status == 200)
    #expect(pipeline.link(to: request) == nil)
    #expect(await pipeline.color(request).color == 1)
    // Noted before whoever waits for the picture hears of it.
    let link = try #require(pipeline.link(to: request))
    #expect(link.meanBytes == Double(SceneDecoder.picture(1).count))
    #expect(link.firstByteSeconds > 0 && link.bytesPerSecond > 0)
    #expect(try pipeline.link(to: server.request(2)) == link)
    #expect(try pipeline.link(to: PosterRequest("http://127.0.0.1:1/1.jpg")) == nil)
    await pipeline.shutdown()
  }

  @Test func `a visible picture goes on with a prefetch in flight, whose end it survives`()
    async throws
  {
    for destination in Destination.allCases {
      let server = NumberedServer()
      let pipeline = try pipeline(server)
      let request = try server.request(Destination.allCases.firstIndex(of: destination) ?? 0)
      let gate = server.hold()
      let prefetch = prefetch(request, to: destination, pipeline)
      server.server.waitForRequests(1)
      let visible = Task.immediate { await pipeline.color(request) }
      prefetch.cancel()
      #expect(await prefetch.value?.code == .cancelled)
      gate.open()
      #expect(await visible.value.color != nil)
      #expect(server.numbers.count == 1)
      await pipeline.shutdown()
    }
  }

  @Test func `a visible picture lifts a queued prefetch of the same poster`() async throws {
    let server = NumberedServer()
    let pipeline = try pipeline(server, connections: 1)
    let gate = server.hold()
    let busy = Task.immediate { [request = try server.request(9)] in await pipeline.color(request) }
    server.server.waitForRequests(1)
    let prefetches = try (0..<5).map {
      prefetch(try server.request($0), to: .pixels, pipeline)
    }
    let visible = Task.immediate { [request = try server.request(4)] in
      await pipeline.color(request)
    }
    prefetches[4].cancel()
    #expect(await prefetches[4].value?.code == .cancelled)
    gate.open()
    #expect(await visible.value.color == 4)
    #expect(await busy.value.color == 9)
    for prefetch in prefetches.prefix(4) { #expect(await prefetch.value == nil) }
    #expect(server.numbers == [9, 4, 0, 1, 2, 3])
    await pipeline.shutdown()
  }

  @Test func `a visible picture lifts the decode of a prefetch of the same poster`() async throws {
    let server = NumberedServer()
    let pipeline = try pipeline(server)
    for number in 0..<5 { _ = try await pipeline.poster(for: server.request(number)) }
    let gate = Gate()
    decoder.hold(gate)
    var prefetches = [prefetch(try server.request(0), to: .pixels, pipeline)]
    decoder.waitForDecodes(1)
    for number in 1..<5 {
      prefetches.append(prefetch(try server.request(number), to: .pixels, pipeline))
    }
    pipeline.workers.waitForWaiting(4)
    let visible = Task.immediate { [request = try server.request(4)] in
      await pipeline.color(request)
    }
    prefetches[4].cancel()
    #expect(await prefetches[4].value?.code == .cancelled)
    gate.open()
    #expect(await visible.value.color == 4)
    for prefetch in prefetches.prefix(4) { #expect(await prefetch.value == nil) }
    #expect(decoder.decoded.map(\.color) == [0, 4, 1, 2, 3])
    await pipeline.shutdown()
  }
}

/// A server of posters that are called by numbers, which are their colours, too.
private final class NumberedServer: Sendable {
  let server: ScriptedServer
  private let gate: Monitor<Gate?>

  init() {
    let current = Monitor<Gate?>(nil)
    gate = current
    server = ScriptedServer { request in
      let wait = current.withLock { $0 }.map { [ScriptedServer.Step.wait($0)] } ?? []
      let color = UInt8(request.target.dropFirst().prefix { $0.isNumber }) ?? 255
      return wait + [
        .response(200, ["Cache-Control: max-age=60"], body: SceneDecoder.picture(color))
      ]
    }
  }

  deinit { server.stop() }

  func request(_ number: Int) throws -> PosterRequest {
    try PosterRequest(server.address("/\(number).jpg"))
  }

  /// What was asked for so far.
  var numbers: [Int] {
    server.requests.compactMap { Int($0.target.dropFirst().prefix { $0.isNumber }) }
  }

  /// Answers wait from now on.
  func hold() -> Gate {
    let new = Gate()
    gate.withLock { $0 = new }
    return new
  }
}
