import CCurl
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import PosterCache

/// TLS and HTTP/2 with a real server, and bodies that end where they should not.
@Suite(.timeLimit(.minutes(2)), .enabled(if: NginxServer.isAvailable))
struct FetcherTruthTests {
  enum Transport: CaseIterable, Sendable {
    case plain, tls, http2
  }

  /// Runs `body` with an nginx that passes everything on to `answer`, and what its clients need.
  private func withServer(
    _ transport: Transport, settings: String = "",
    answer: @escaping @Sendable (ScriptedServer.Request) -> [ScriptedServer.Step],
    run body: (NginxServer, FetchConfiguration) throws -> Void
  ) async throws {
    let directory = TemporaryDirectory()
    let upstream = ScriptedServer(answer)
    defer { upstream.stop() }
    let certificate = try await TestCertificate(directory: directory.path)
    let server = try NginxServer(
      root: directory.path, directory: directory.path,
      transport: transport.nginx(certificate), upstreamPort: upstream.port, settings: settings)
    var configuration = FetchConfiguration.once
    configuration.certificateAuthoritiesFile = certificate.path
    let result = Result { try body(server, configuration) }
    _ = await server.stop()
    try result.get()
  }

  private let picture = TestPicture.jpeg(filler: 100_000)

  // MARK: - Bodies cut short

  @Test(arguments: Transport.allCases)
  func `a body cut short is an error, however it comes`(transport: Transport) async throws {
    let picture = picture
    try await withServer(transport) { request in
      let half = Array(picture[..<60_000])
      let chunk = Array("\(String(half.count, radix: 16))\r\n".utf8) + half + Array("\r\n".utf8)
      switch request.target {
      case "/whole": return [.response(body: picture)]
      case "/length": return [.response(body: half, announcing: picture.count), .close]
      case "/reset": return [.response(body: half, announcing: picture.count), .reset]
      case "/chunks":
        return [.unannounced(200, ["Transfer-Encoding: chunked"], body: chunk), .close]
      case "/ended":
        let end = Array("0\r\n\r\n".utf8)
        return [.unannounced(200, ["Transfer-Encoding: chunked"], body: chunk + end)]
      default: return [.unannounced(200, ["Connection: close"], body: half), .close]
      }
    } run: { server, configuration throws in
      let fetcher = try Fetcher(configuration)
      defer { fetcher.shutdown() }
      for path in ["/length", "/reset", "/chunks", "/ended", "/close"] {
        let outcome = try fetcher.outcome(of: server.address(path))
        #expect(outcome.response == nil, "\(path)")
        #expect(
          outcome.code == .incompleteBody || outcome.code == .network,
          "\(path): \(outcome.message)")
      }
      // In between, and on the same connection where there is one.
      #expect(try fetcher.outcome(of: server.address("/whole")).get().body.bytes == picture)
    }
  }

  @Test(arguments: [true, false], 0..<6)
  func `an HTTP/2 stream that ends too soon is an error, also without an error code`(
    isAnnounced: Bool, ending: Int
  ) throws {
    let picture = picture
    let server = ScriptedHTTP2Server {
      let length = isAnnounced ? [("content-length", "\(picture.count)")] : []
      let head = ScriptedHTTP2Server.Step.headers([(":status", "200")] + length)
      let half = ScriptedHTTP2Server.Step.data(Array(picture[..<9_000]))
      return switch ending {
      case 0: [head, half, .reset(0)]
      case 1: [head, half, .reset(2)]
      case 2: [head, half, .goAway(0), .close]
      case 3: [head, half, .close]
      case 4: [head, half, .data([], endsStream: true)]
      default: [head, half, .goAway(0), .reset(0), .close]
      }
    }
    defer { server.stop() }
    var configuration = FetchConfiguration.once
    configuration.usesHTTP2WithoutTLS = true
    let fetcher = try Fetcher(configuration)
    defer { fetcher.shutdown() }
    let outcome = try fetcher.outcome(of: server.address("/a"))
    #expect(outcome.response == nil)
    #expect(
      outcome.code == .incompleteBody || outcome.code == .network, "\(outcome.message)")
  }

  @Test func `an HTTP/2 stream that ends right is a picture`() throws {
    let server = ScriptedHTTP2Server {
      [.headers([(":status", "200")]), .data(TestPicture.png, endsStream: true)]
    }
    defer { server.stop() }
    var configuration = FetchConfiguration.once
    configuration.usesHTTP2WithoutTLS = true
    let fetcher = try Fetcher(configuration)
    defer { fetcher.shutdown() }
    #expect(try fetcher.outcome(of: server.address("/a")).get().body.bytes == TestPicture.png)
  }

  @Test func `a list page that is cut short is an error`() throws {
    let server = ScriptedHTTP2Server {
      [
        .headers([(":status", "200"), ("content-length", "4")]), .data([0x5B, 0x5D]),
        .reset(0),
      ]
    }
    defer { server.stop() }
    var configuration = FetchConfiguration.once
    configuration.usesHTTP2WithoutTLS = true
    let fetcher = try Fetcher(configuration)
    defer { fetcher.shutdown() }
    let outcome = try fetcher.outcome(of: server.address("/a"), kind: .page(nil))
    #expect(outcome.response == nil)
    #expect(
      outcome.code == .incompleteBody || outcome.code == .network, "\(outcome.message)")
  }

  // MARK: - HTTP/2

  @Test func `a burst shares one HTTP/2 connection`() async throws {
    try await withServer(.http2) { _ in
      [.response(body: TestPicture.png)]
    } run: { server, configuration throws in
      let runner = TransferRunner(configuration)
      let requests = try (0..<40).map { try FetchRequest(picture: server.address("/\($0)")) }
      let ended = runner.run(requests) { _ in false }
      #expect(ended.allSatisfy { $0.response?.body.bytes == TestPicture.png && $0.isHTTP2 })
      #expect(ended.map(\.connections).reduce(0, +) == 1)
    }
  }

  @Test func `HTTP/1.1 only is possible, and then connections are made as needed`() async throws {
    try await withServer(.http2) { _ in
      [.response(body: TestPicture.png)]
    } run: { server, configuration throws in
      var configuration = configuration
      configuration.httpVersion = .http1
      let runner = TransferRunner(configuration)
      let requests = try (0..<4).map { try FetchRequest(picture: server.address("/\($0)")) }
      let ended = runner.run(requests) { _ in false }
      #expect(ended.allSatisfy { $0.response != nil && !$0.isHTTP2 })
      #expect(ended.map(\.connections).reduce(0, +) == 4)
    }
  }

  @Test func `a server without HTTP/2 is known after its first answer`() async throws {
    try await withServer(.tls) { _ in
      [.response(body: TestPicture.png)]
    } run: { server, configuration throws in
      let runner = TransferRunner(configuration)
      let request = try FetchRequest(picture: server.address("/"))
      #expect(runner.options.waitsForConnection(to: request.address))
      #expect(runner.run(request).response != nil)
      #expect(!runner.options.waitsForConnection(to: request.address))
      let requests = try (0..<6).map { try FetchRequest(picture: server.address("/\($0)")) }
      #expect(runner.run(requests) { _ in false }.allSatisfy { $0.response != nil })
    }
  }

  @Test func `stopping one HTTP/2 stream leaves the others and the connection alone`() async throws
  {
    let picture = picture
    let gate = Gate()
    try await withServer(.http2) { request in
      request.target == "/half"
        ? [
          .response(200, ["ETag: \"1\""], body: Array(picture[..<50_000]), announcing: 100_008),
          .wait(gate), .close,
        ] : [.response(body: picture)]
    } run: { server, configuration throws in
      let runner = TransferRunner(configuration)
      let half = try FetchRequest(picture: server.address("/half"))
      let others = try (0..<10).map { try FetchRequest(picture: server.address("/\($0)")) }
      let ended = runner.run([half] + others) { transfer in
        transfer.id == 0 && transfer.receivedCount == 50_000
      }
      gate.open()
      #expect(ended[0].partial?.count == 50_000)
      #expect(ended[1...].allSatisfy { $0.response?.body.bytes == picture })
      #expect(runner.run(others) { _ in false }.allSatisfy { $0.connections == 0 && $0.isHTTP2 })
    }
  }

  @Test func `urgency is told before a transfer, and during one as soon as more of it comes`()
    throws
  {
    let gate = Gate()
    let piece = ScriptedHTTP2Server.Step.data([0xFF, 0xD8, 0xFF])
    let server = ScriptedHTTP2Server {
      [.headers([(":status", "200"), ("content-length", "30000")]), piece, .wait(gate), piece]
    }
    defer {
      gate.open()
      server.stop()
    }
    var configuration = FetchConfiguration.once
    configuration.usesHTTP2WithoutTLS = true
    let runner = TransferRunner(configuration)
    var request = try FetchRequest(picture: server.address("/a"))
    request.priority = .prefetch
    let ended = runner.run([request]) { transfer in
      if transfer.receivedCount == 3 {
        transfer.setUrgency(.visible)
        gate.open()
      }
      return server.weights.last == 255
    }
    // It was stopped when both had come, not by a time-out.
    #expect(ended[0].result == nil)
    #expect(server.weights.dropLast().allSatisfy { $0 == 31 })
  }

  // MARK: - Certificates

  @Test func `a certificate that cannot be trusted is told as that, and not tried again`()
    async throws
  {
    try await withServer(.tls) { _ in
      [.response(body: TestPicture.png)]
    } run: { server, configuration throws in
      #expect(try self.outcome(server.address("/a"), configuration).response?.status == 200)
      var untrusting = configuration
      untrusting.certificateAuthoritiesFile = nil
      untrusting.tries = 3
      let outcome = try self.outcome(server.address("/a"), untrusting)
      #expect(outcome.code == .untrustedCertificate)
      #expect(
        outcome.message
          == "the certificate of localhost cannot be trusted: SSL certificate problem: "
          + "self-signed certificate")
      // Another name than the certificate's.
      var misled = configuration
      misled.resolve = ["images.test:\(server.port):127.0.0.1"]
      let other = try self.outcome("https://images.test:\(server.port)/a", misled)
      #expect(other.code == .untrustedCertificate)
      #expect(other.message.hasPrefix("the certificate of images.test cannot be trusted: "))
    }
  }

  private func outcome(
    _ address: String, _ configuration: FetchConfiguration
  ) throws -> Completions.Outcome {
    let fetcher = try Fetcher(configuration)
    defer { fetcher.shutdown() }
    return try fetcher.outcome(of: address)
  }
}

extension FetcherTruthTests.Transport {
  func nginx(_ certificate: TestCertificate) -> NginxServer.Transport {
    switch self {
    case .plain: .plain
    case .tls: .tls(certificate)
    case .http2: .http2(certificate)
    }
  }
}
