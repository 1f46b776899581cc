import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// Query parameters that are no part of a picture's name, from the address to the disk.
@Suite(.timeLimit(.minutes(1)))
struct AddressRuleTests {
  private static let rule = AddressRule(droppingParameters: [
    "token", "X-Amz-Signature", "a b", "c=d",
  ])

  @Test(arguments: [
    ("http://h/a.jpg?token=1", "http://h/a.jpg"), ("http://h/a.jpg?token", "http://h/a.jpg"),
    ("http://h/a.jpg?token=", "http://h/a.jpg"),
    ("http://h/a.jpg?w=1&token=1&h=2", "http://h/a.jpg?w=1&h=2"),
    ("http://h/a.jpg?X-Amz-Signature=1&b&a", "http://h/a.jpg?b&a"),
    ("http://h/a.jpg?token=1&token=2&x", "http://h/a.jpg?x"),
    ("http://h/a.jpg?%74oken=1", "http://h/a.jpg"), ("http://h/a.jpg?a%20b=1", "http://h/a.jpg"),
    ("http://h/a.jpg?token=1=2", "http://h/a.jpg"), ("http://h/a.jpg?c%3dd=1", "http://h/a.jpg"),
    // Nothing of these is meant.
    ("http://h/a.jpg", "http://h/a.jpg"), ("http://h/a.jpg?", "http://h/a.jpg?"),
    ("http://h/a.jpg?Token=1", "http://h/a.jpg?Token=1"),
    ("http://h/a.jpg?tokens=1&atoken=2", "http://h/a.jpg?tokens=1&atoken=2"),
    ("http://h/a.jpg?x=token=1", "http://h/a.jpg?x=token=1"),
    ("http://h/token=1/a.jpg", "http://h/token=1/a.jpg"),
    ("http://h/a.jpg?c=d", "http://h/a.jpg?c=d"),
    ("http://h/a.jpg?a+b=1&&", "http://h/a.jpg?a+b=1&&"),
  ])
  func `a rule takes the parameters that it names out of the name`(
    text: String, name: String
  ) throws {
    let address = try PosterAddress(text)
    let request = PosterRequest(address, rule: Self.rule)
    #expect(request.address.canonical == name)
    #expect(request.address == (try PosterAddress(name)))
    #expect(request.key == CacheKey(try PosterAddress(name)))
    #expect(request.source == address)
    // In whatever way it comes to its rule, and however often.
    #expect(PosterRequest(address).applying(Self.rule) == request)
    #expect(request.applying(Self.rule) == request)
    #expect(request.applying(AddressRule()) == request)
    #expect(Self.rule.name(of: request.address) == request.address)
  }

  @Test func `without a rule every parameter is part of the name`() throws {
    let request = try PosterRequest("http://h/a.jpg?token=1")
    #expect(request.address.canonical == "http://h/a.jpg?token=1")
    #expect(request.source == request.address)
    #expect(AddressRule().isEmpty && !AddressRule.signatures.isEmpty)
    #expect(PosterPipeline.Configuration().addressRule == AddressRule())
  }

  @Test func `the usual signatures leave what chooses the picture`() throws {
    let text =
      "https://b.s3.amazonaws.com/a.jpg?versionId=7&X-Amz-Algorithm=AWS4-HMAC-SHA256"
      + "&X-Amz-Credential=k%2F20260101&X-Amz-Date=20260101T000000Z&X-Amz-Expires=300"
      + "&X-Amz-SignedHeaders=host&X-Amz-Signature=abc"
    #expect(
      try PosterRequest(text, rule: .signatures).address.canonical
        == "https://b.s3.amazonaws.com/a.jpg?versionId=7")
  }

  @Test func `names that hold separators match nothing but themselves`() throws {
    let rule = AddressRule(droppingParameters: ["a=b", "a&b", "%61", ""])
    for text in ["http://h/?a=b", "http://h/?a&b", "http://h/?a=1"] {
      #expect(try PosterRequest(text, rule: rule).address.canonical == text)
    }
    #expect(try PosterRequest("http://h/?a%26b=1", rule: rule).address.canonical == "http://h/")
    #expect(try PosterRequest("http://h/?%2561=1", rule: rule).address.canonical == "http://h/")
  }

  // MARK: - Through the cache

  @Test func `two signatures of one picture are one transfer, one entry, and nowhere in the cache`()
    async throws
  {
    let directory = TemporaryDirectory()
    let gate = Gate()
    let server = ScriptedServer { _ in [.wait(gate), .response(body: TestPicture.jpeg())] }
    defer { server.stop() }
    let pipeline = try PosterPipeline(Self.configuration(directory))
    let base = server.address("/a.jpg?v=2")
    let first = try PosterRequest("\(base)&token=5ec2e7-1")
    let second = try PosterRequest("\(base)&token=5ec2e7-2")
    async let one = pipeline.poster(for: first)
    server.waitForRequests(1)
    let completions = Completions()
    pipeline.fetcher.fetch(FetchRequest(second.applying(Self.rule))) { completions.add($0) }
    gate.open()
    let poster = try await one
    #expect(try completions.wait(1)[0].get().body == poster.body)
    #expect(try await pipeline.warm(second) == .hit)
    #expect(poster.metadata.address.canonical == base)
    #expect(pipeline.cachedPoster(for: second)?.stored === poster.stored)
    // Who asks under the name itself is meant, too.
    #expect(pipeline.cachedPoster(for: try PosterRequest(base))?.stored === poster.stored)
    await pipeline.shutdown()
    #expect(server.requests.map(\.target) == ["/a.jpg?v=2&token=5ec2e7-1"])
    for file in CacheFiles(directory.path).segments.map({ "segments/\($0)" }) + ["index/data.mdb"] {
      let bytes = try Data(contentsOf: URL(filePath: "\(directory.path)/\(file)"))
      #expect(bytes.firstRange(of: Data("5ec2e7".utf8)) == nil, "\(file)")
    }

    let later = try PosterPipeline(Self.configuration(directory))
    let third = try PosterRequest("\(base)&token=5ec2e7-3")
    #expect(try await later.poster(for: third).source == .disk)
    #expect(try later.disk?.statistics().entries == 1)
    await later.shutdown()
    #expect(server.requests.count == 1)
  }

  @Test func `without a rule two signatures are two pictures`() async throws {
    let server = ScriptedServer { _ in [.response(body: TestPicture.jpeg())] }
    defer { server.stop() }
    let pipeline = try PosterPipeline(PosterPipeline.Configuration())
    for token in ["1", "2"] {
      let request = try PosterRequest(server.address("/a.jpg?token=\(token)"))
      #expect(try await pipeline.poster(for: request).source == .network)
    }
    await pipeline.shutdown()
    #expect(server.requests.count == 2)
  }

  @Test func `a failure names the picture, not how it was asked for`() async throws {
    let server = ScriptedServer { _ in [.response(403)] }
    defer { server.stop() }
    var configuration = PosterPipeline.Configuration()
    configuration.addressRule = Self.rule
    let pipeline = try PosterPipeline(configuration)
    let request = try PosterRequest(server.address("/a.jpg?token=5ec2e7&page=2"))
    let error = await #expect(throws: PosterError.self) { try await pipeline.poster(for: request) }
    #expect(
      error?.message == "the server answered 403 for \(server.address("/a.jpg?page=2"))")
    #expect(server.requests.map(\.target) == ["/a.jpg?token=5ec2e7&page=2"])
    await pipeline.shutdown()
  }

  @Test func `a stale picture is asked about with the signature at hand`() async throws {
    let server = ScriptedServer { request in
      let headers = ["ETag: \"1\"", "Cache-Control: max-age=0"]
      return request.headers["if-none-match"] == "\"1\""
        ? [.unannounced(304, headers)] : [.response(200, headers, body: TestPicture.png)]
    }
    defer { server.stop() }
    let now = Monitor(Date(timeIntervalSince1970: 1_800_000_000))
    var configuration = PosterPipeline.Configuration()
    configuration.addressRule = Self.rule
    configuration.clock = PosterClock { now.withLock { $0 } }
    let pipeline = try PosterPipeline(configuration)
    for token in ["1", "2"] {
      now.withLock { $0 += 60 }
      let request = try PosterRequest(server.address("/a.jpg?token=\(token)"))
      let poster = try await pipeline.poster(for: request)
      #expect(poster.body.bytes == TestPicture.png)
      #expect(poster.metadata.address.canonical == server.address("/a.jpg"))
    }
    await pipeline.shutdown()
    #expect(server.requests.map(\.target) == ["/a.jpg?token=1", "/a.jpg?token=2"])
    #expect(server.requests.map { $0.headers["if-none-match"] } == [nil, "\"1\""])
  }

  /// The newest signature lasts longest; those before it may have run out while they waited.
  @Test func `a request that waits is made with the newest signature`() throws {
    let gate = Gate()
    var configuration = FetchConfiguration.once
    configuration.connectionsPerHost = 1
    try withServer(configuration) { _ in
      [.wait(gate), .response(body: TestPicture.jpeg())]
    } run: { server, fetcher throws in
      let completions = Completions()
      try fetcher.fetch(server.address("/busy.jpg"), into: completions)
      server.waitForRequests(1)
      for token in 1...3 {
        let request = try PosterRequest(server.address("/a.jpg?token=\(token)"), rule: Self.rule)
        fetcher.fetch(FetchRequest(request)) { completions.add($0) }
      }
      gate.open()
      #expect(completions.wait(4).allSatisfy { $0.response != nil })
      #expect(server.requests.map(\.target) == ["/busy.jpg", "/a.jpg?token=3"])
    }
  }

  private static func configuration(
    _ directory: TemporaryDirectory
  ) -> PosterPipeline.Configuration {
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = directory.path
    configuration.addressRule = rule
    return configuration
  }
}
