import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// List pages as a pipeline has them: cached by their own headers.
@Suite(.timeLimit(.minutes(5)))
struct PipelinePageTests {
  private let directory = TemporaryDirectory()
  private static let list = #"{"page":1,"results":[]}"#
  private static let released = "Cache-Control: public, max-age=60"

  private func origin(_ headers: [String], body: String = list) -> CachingOrigin {
    CachingOrigin(.init(headers: headers, body: Array(body.utf8)))
  }

  private func request(_ origin: CachingOrigin, _ credential: Credential? = nil) throws
    -> PageRequest
  {
    PageRequest(
      address: try PosterAddress(origin.server.address("/3/list?page=1")), credential: credential)
  }

  private func withPipeline(
    _ origin: CachingOrigin, isOffline: Bool = false, maximumBodyBytes: Int = 32 << 20,
    warnings: Warnings? = nil,
    _ body: (PosterPipeline) async throws -> Void
  ) async throws {
    var configuration = origin.configuration(directory)
    configuration.isOffline = isOffline
    configuration.fetching.maximumBodyBytes = maximumBodyBytes
    if let warnings { configuration.onWarning = warnings.add }
    let pipeline = try PosterPipeline(configuration)
    do {
      try await body(pipeline)
    } catch {
      await pipeline.shutdown()
      throw error
    }
    await pipeline.shutdown()
  }

  @Test func `a fresh page costs no request, in the next run neither`() async throws {
    let origin = origin(["Cache-Control: public, max-age=300"])
    let request = try request(origin, .apiKey("0123456789abcdef0123456789abcdef"))
    try await withPipeline(origin) { pipeline in
      let page = try await pipeline.page(request)
      #expect(page.source == .network)
      #expect(page.body == PosterBody(copying: Self.list.utf8))
      #expect(try await pipeline.page(request).source == .disk)
    }
    origin.now += 299
    try await withPipeline(origin) { pipeline in
      let page = try await pipeline.page(request)
      #expect(page.source == .disk)
      #expect(page.status == 200)
      #expect(page.body == PosterBody(copying: Self.list.utf8))
      #expect(origin.requestCount == 1)
      origin.now += 1
      #expect(try await pipeline.page(request).source == .network)
      #expect(origin.requestCount == 2)
    }
  }

  @Test func `no credential is kept, and another one finds the same page`() async throws {
    let origin = origin(["Cache-Control: public, max-age=300"])
    let key = "0123456789abcdef0123456789abcdef"
    try await withPipeline(origin) { pipeline in
      _ = try await pipeline.page(request(origin, .apiKey(key)))
      #expect(try await pipeline.page(request(origin, .bearerToken("eyJother"))).source == .disk)
      #expect(try await pipeline.page(request(origin)).source == .disk)
    }
    #expect(origin.server.requests.map(\.target) == ["/3/list?page=1&api_key=\(key)"])
    let index = try Data(contentsOf: URL(filePath: "\(directory.path)/index/data.mdb"))
    #expect(index.firstRange(of: Data(key.utf8)) == nil)
    #expect(index.firstRange(of: Data("/3/list?page=1".utf8)) != nil)
  }

  @Test func `an expired page is asked about, and confirmed or replaced`() async throws {
    let origin = origin(["ETag: \"a\"", "Cache-Control: max-age=10"])
    let request = try request(origin)
    try await withPipeline(origin) { pipeline in
      _ = try await pipeline.page(request)
      origin.set { $0.confirmation = ["ETag: W/\"a\"", "Cache-Control: max-age=60"] }
      origin.now += 11
      let confirmed = try await pipeline.page(request)
      #expect(confirmed.source == .revalidated)
      #expect(confirmed.body == PosterBody(copying: Self.list.utf8))
      #expect(origin.values("if-none-match") == [nil, "\"a\""])
      origin.now += 59
      #expect(try await pipeline.page(request).source == .disk)
      origin.now += 2
      origin.set {
        $0 = .init(headers: ["ETag: \"b\"", "Cache-Control: max-age=60"], body: Array("[1]".utf8))
      }
      let replaced = try await pipeline.page(request)
      #expect(replaced.source == .network)
      #expect(replaced.body == PosterBody(copying: "[1]".utf8))
      #expect(try await pipeline.page(request).body == replaced.body)
      #expect(origin.requestCount == 3)
    }
  }

  @Test(arguments: [
    (["Cache-Control: public, no-store"], list, 200), (["Cache-Control: max-age=60"], list, 200),
    (["Cache-Control: public, max-age=60, private"], list, 200), ([], list, 200),
    ([released, "Vary: Authorization"], list, 200), ([released, "Vary: *"], list, 200),
    ([released], "<html>sign in</html>", 200),
    ([released], #"{"page":1,"results":[{"id":1"#, 200), ([released], "", 200),
    ([released], list, 404),
  ])
  func `what must not be kept is asked for again`(
    headers: [String], body: String, status: Int
  ) async throws {
    let origin = origin(headers, body: body)
    origin.set { $0.status = status }
    try await withPipeline(origin) { pipeline in
      for _ in 0..<2 {
        let page = try await pipeline.page(request(origin, .bearerToken("eyJtoken")))
        #expect(page.source == .network)
        #expect(page.status == status)
        #expect(page.body == PosterBody(copying: body.utf8))
      }
      #expect(origin.requestCount == 2)
      #expect(try pipeline.disk?.statistics().pages == 0)
    }
  }

  @Test(arguments: [
    released, "Cache-Control: max-age=60, must-revalidate", "Cache-Control: s-maxage=9, max-age=60",
  ])
  func `what is released for everybody is kept, whoever asked for it`(header: String) async throws {
    let origin = origin([header])
    try await withPipeline(origin) { pipeline in
      _ = try await pipeline.page(request(origin, .bearerToken("eyJtoken")))
      #expect(try await pipeline.page(request(origin, .bearerToken("eyJother"))).source == .disk)
    }
  }

  @Test func `what must not be kept takes what was kept before with it`() async throws {
    let origin = origin(["Cache-Control: max-age=600"])
    var request = try request(origin)
    try await withPipeline(origin) { pipeline in
      _ = try await pipeline.page(request)
      // What is no list is no reason to forget one.
      origin.set { $0.body = Array("<html>sign in</html>".utf8) }
      request.mode = .refresh
      #expect(try await pipeline.page(request).source == .network)
      request.mode = nil
      #expect(try await pipeline.page(request).source == .disk)
      origin.set { $0 = .init(headers: ["Cache-Control: no-store"], body: Array("[2]".utf8)) }
      request.mode = .refresh
      #expect(try await pipeline.page(request).body == PosterBody(copying: "[2]".utf8))
      request.mode = nil
      #expect(try await pipeline.page(request).source == .network)
      #expect(origin.requestCount == 4)
      #expect(try pipeline.disk?.statistics().pages == 0)
    }
  }

  @Test func `a page that was chosen for nobody in particular is none for a credential`()
    async throws
  {
    let origin = origin(["Cache-Control: public, max-age=60", "Vary: Authorization"])
    try await withPipeline(origin) { pipeline in
      _ = try await pipeline.page(request(origin))
      #expect(try await pipeline.page(request(origin)).source == .disk)
      #expect(try await pipeline.page(request(origin, .bearerToken("eyJa"))).source == .network)
    }
  }

  @Test func `a confirmation that forbids keeping takes the page along`() async throws {
    let origin = origin(["ETag: \"a\"", "Cache-Control: public, max-age=10"])
    origin.set { $0.confirmation = ["ETag: \"a\"", "Cache-Control: private, max-age=60"] }
    try await withPipeline(origin) { pipeline in
      let request = try request(origin, .bearerToken("eyJa"))
      _ = try await pipeline.page(request)
      origin.now += 11
      #expect(try await pipeline.page(request).source == .revalidated)
      #expect(try await pipeline.page(request).source == .network)
    }
  }

  @Test func `a page has its own limit, and one that inflates beyond it is too large`() async throws
  {
    let body = Array(#"{"results":[\#(String(repeating: " ", count: 5000))]}"#.utf8)
    let origin = CachingOrigin(.init(body: body))
    let zeros = gzipped([UInt8](repeating: 0x20, count: (32 << 20) + 1))
    try await withPipeline(origin, maximumBodyBytes: 1000) { pipeline in
      #expect(try await pipeline.page(request(origin)).body == PosterBody(copying: body))
      origin.set { $0 = .init(headers: ["Content-Encoding: gzip"], body: zeros) }
      var again = try request(origin)
      again.mode = .refresh
      let asked = again
      let error = await #expect(throws: PosterError.self) { try await pipeline.page(asked) }
      #expect(error?.code == .bodyTooLarge)
      #expect(origin.requestCount == 2)
    }
  }

  @Test func `what is private is kept if it was asked for by nobody in particular`() async throws {
    let origin = origin(["Cache-Control: max-age=60, private", "Vary: Accept-Encoding, Origin"])
    try await withPipeline(origin) { pipeline in
      _ = try await pipeline.page(request(origin))
      #expect(try await pipeline.page(request(origin)).source == .disk)
    }
  }

  @Test func `offline, pages are used at any age, unless their server forbids it`() async throws {
    let origin = origin([])
    let request = try request(origin)
    try await withPipeline(origin) { _ = try await $0.page(request) }
    origin.now += 100 * 86_400
    try await withPipeline(origin, isOffline: true) { pipeline in
      #expect(try await pipeline.page(request).source == .disk)
      var other = request
      other.address = try PosterAddress(origin.server.address("/3/list?page=2"))
      await #expect(throws: PosterError.self) { try await pipeline.page(other) }
    }
    #expect(origin.requestCount == 1)
    origin.set { $0.headers = ["Cache-Control: max-age=5, must-revalidate"] }
    try await withPipeline(origin) { _ = try await $0.page(request) }
    origin.now += 6
    try await withPipeline(origin, isOffline: true) { pipeline in
      let error = await #expect(throws: PosterError.self) { try await pipeline.page(request) }
      #expect(error?.code == .offline)
    }
  }

  @Test func `whoever has no version does not join whoever asks about one`() async throws {
    let origin = origin(["ETag: \"a\"", "Cache-Control: max-age=10"])
    let request = try request(origin)
    try await withPipeline(origin) { pipeline in
      _ = try await pipeline.page(request)
      let gate = Gate()
      origin.set {
        $0.confirmation = []
        $0.gate = gate
      }
      origin.now += 11
      let asking = Task { () async throws(PosterError) in try await pipeline.page(request) }
      while origin.requestCount < 2 { await Task.yield() }
      try pipeline.disk?.removeAll()
      let loading = Task { () async throws(PosterError) in try await pipeline.page(request) }
      while origin.requestCount < 3 { await Task.yield() }
      gate.open()
      #expect(try await asking.value.source == .revalidated)
      let page = try await loading.value
      #expect(page.status == 200 && page.source == .network)
      #expect(page.body == PosterBody(copying: Self.list.utf8))
      #expect(origin.values("if-none-match") == [nil, "\"a\"", nil])
    }
  }

  @Test func `a server in trouble is covered for only as long as it allows`() async throws {
    let origin = origin(["Cache-Control: max-age=10, stale-if-error=100"])
    let request = try request(origin)
    let warnings = Warnings()
    try await withPipeline(origin, warnings: warnings) { pipeline in
      _ = try await pipeline.page(request)
      origin.set { $0 = .init(status: 503, body: []) }
      origin.now += 50
      let stale = try await pipeline.page(request)
      #expect(stale.source == .stale)
      #expect(stale.body == PosterBody(copying: Self.list.utf8))
      #expect(warnings.all == [.status(503)])
      origin.now += 100
      #expect(try await pipeline.page(request).status == 503)
    }
  }

  @Test func `a refresh asks about what is fresh, and a least lifetime keeps what has expired`()
    async throws
  {
    let origin = origin(["ETag: \"a\"", "Cache-Control: max-age=10"])
    origin.set { $0.confirmation = [] }
    var request = try request(origin)
    try await withPipeline(origin) { pipeline in
      _ = try await pipeline.page(request)
      request.mode = .refresh
      #expect(try await pipeline.page(request).source == .revalidated)
      #expect(origin.values("cache-control").last == "no-cache")
      request.mode = nil
      request.leastLifetimeSeconds = 3 * 86_400
      origin.now += 3 * 86_400 - 1
      #expect(try await pipeline.page(request).source == .disk)
      origin.now += 1
      #expect(try await pipeline.page(request).source == .revalidated)
      #expect(origin.requestCount == 3)
    }
  }
}
