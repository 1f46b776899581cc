import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// Conditional requests and resumed ones, on the wire.
@Suite(.timeLimit(.minutes(1)))
struct FetcherResumeTests {
  private let picture = TestPicture.jpeg(filler: 300_000)

  // MARK: - Conditional

  private func stored(
    _ address: String, etag: String?, lastModified: String? = nil
  ) throws -> StoredPoster {
    StoredPoster(
      metadata: PosterMetadata(
        address: try PosterAddress(address), type: .png, etag: etag, lastModified: lastModified,
        storedAt: Date(timeIntervalSince1970: 0), expiresAt: Date(timeIntervalSince1970: 0)),
      body: PosterBody(copying: TestPicture.png))
  }

  @Test(arguments: ["\"a\"", "W/\"a\""], ["", "Content-Length: 0", "Content-Length: 500"])
  func `a picture that has not changed is answered with what is stored`(
    etag: String, length: String
  ) throws {
    try withServer(.once) { request in
      let lines = length.isEmpty ? [] : [length]
      return [.unannounced(304, lines + ["ETag: \(etag)", "Cache-Control: max-age=60"])]
    } run: { server, fetcher throws in
      var request = try FetchRequest(picture: server.address("/a"))
      let date = "Wed, 21 Oct 2015 07:28:00 GMT"
      let stored = try stored(server.address("/a"), etag: etag, lastModified: date)
      request.stored = stored
      for _ in 1...2 {
        let completions = Completions()
        fetcher.fetch(request) { completions.add($0) }
        let response = try completions.wait(1)[0].get()
        #expect(response.isNotModified)
        #expect(response.status == 304)
        #expect(response.body == stored.body)
        #expect(response.type == .png)
        #expect(response.headers.cacheControl == "max-age=60")
      }
      let headers = server.requests[1].headers
      #expect(headers["if-none-match"] == etag)
      #expect(headers["if-modified-since"] == date)
      #expect(headers["accept"] == "image/jpeg,image/png,image/webp,*/*;q=0.1")
      #expect(headers["cache-control"] == nil)
      // curl waits for no body, so that the connection goes on.
      #expect(fetcher.statistics.connectionsOpened == 1)
    }
  }

  @Test func `a changed picture is a new one, and the next request asks for no condition`() throws {
    try withServer(.once) { request in
      request.headers["if-none-match"] == nil && request.target == "/b"
        ? [.unannounced(304)] : [.response(200, ["ETag: \"b\""], body: TestPicture.webp)]
    } run: { server, fetcher throws in
      var request = try FetchRequest(picture: server.address("/a"))
      request.stored = try stored(server.address("/a"), etag: "\"a\"")
      request.isRefresh = true
      let completions = Completions()
      fetcher.fetch(request) { completions.add($0) }
      let response = try completions.wait(1)[0].get()
      #expect(!response.isNotModified)
      #expect(response.body.bytes == TestPicture.webp)
      #expect(server.requests[0].headers["cache-control"] == "no-cache")
      #expect(server.requests[0].headers["if-modified-since"] == nil)
      // Nobody asked whether it has changed.
      #expect(try fetcher.outcome(of: server.address("/b")).code == .status(304))
      #expect(server.requests[1].headers["if-none-match"] == nil)
      #expect(server.requests[1].headers["cache-control"] == nil)
    }
  }

  @Test func `a stored validator that would end its header is not sent`() throws {
    try withServer(.once) { _ in
      [.response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      var request = try FetchRequest(picture: server.address("/a"))
      request.stored = try stored(
        server.address("/a"), etag: "\"a\"\r\nX-Evil: 1", lastModified: "now\nX-Evil: 1")
      let completions = Completions()
      fetcher.fetch(request) { completions.add($0) }
      _ = try completions.wait(1)[0].get()
      let headers = server.requests[0].headers
      #expect(headers["x-evil"] == nil && headers["if-none-match"] == nil)
      #expect(headers["if-modified-since"] == nil)
    }
  }

  // MARK: - Resuming

  /// Sends the picture's first half and then waits, or what `rest` says to a request for the rest.
  private func withHalf(
    _ configuration: FetchConfiguration = FetchConfiguration(),
    rest: @escaping @Sendable (Int) -> [ScriptedServer.Step],
    run body: (ScriptedServer, TransferRunner, PartialBody) throws -> Void
  ) throws {
    let picture = picture
    let server = ScriptedServer { request in
      if let range = request.headers["range"],
        let first = Int(range.dropFirst("bytes=".count).dropLast())
      {
        return rest(first)
      }
      let half = Array(picture[..<200_000])
      return request.headers["if-range"] == nil && request.target == "/half"
        ? [.response(200, ["ETag: \"1\""], body: half, announcing: picture.count), .wait(Gate())]
        : [.response(200, ["ETag: \"1\""], body: picture)]
    }
    defer { server.stop() }
    let runner = TransferRunner(configuration)
    let request = try FetchRequest(picture: server.address("/half"))
    let ended = runner.run([request]) { transfer in
      guard transfer.receivedCount == 200_000 else { return false }
      #expect(transfer.stage == .receiving)
      #expect(transfer.remainingBytes == picture.count - 200_000)
      #expect(transfer.firstByteNanoseconds != nil)
      return true
    }
    let partial = try #require(ended[0].partial)
    #expect(partial.count == 200_000)
    #expect(partial.total == picture.count)
    try body(server, runner, partial)
  }

  @Test func `a stopped picture is continued where it ended`() throws {
    let picture = picture
    try withHalf { first in
      [
        .response(
          206,
          ["ETag: \"1\"", "Content-Range: bytes \(first)-\(picture.count - 1)/\(picture.count)"],
          body: Array(picture[first...]))
      ]
    } run: { server, runner, partial throws in
      let request = try FetchRequest(picture: server.address("/half"))
      let response = try #require(runner.run(request, resuming: partial).response)
      #expect(response.body.bytes == picture)
      #expect(server.requests[1].headers["range"] == "bytes=200000-")
      #expect(server.requests[1].headers["if-range"] == "\"1\"")
      // The next one asks for everything.
      _ = runner.run(try FetchRequest(picture: server.address("/other")))
      #expect(server.requests[2].headers["range"] == nil)
      #expect(server.requests[2].headers["if-range"] == nil)
    }
  }

  @Test func `a changed picture comes whole`() throws {
    try withHalf { _ in
      [.response(200, ["ETag: \"2\""], body: TestPicture.png)]
    } run: { server, runner, partial throws in
      let request = try FetchRequest(picture: server.address("/half"))
      #expect(runner.run(request, resuming: partial).response?.body.bytes == TestPicture.png)
    }
  }

  @Test(arguments: [
    (206, ["ETag: \"2\"", "Content-Range: bytes 200000-300007/300008"]),
    (206, ["ETag: \"1\"", "Content-Range: bytes 100000-200007/300008"]),
    (206, ["ETag: \"1\"", "Content-Type: multipart/byteranges; boundary=x"]), (416, []),
  ])
  func `any other part is refused, and the next try asks for everything`(
    status: Int, lines: [String]
  ) throws {
    let picture = picture
    try withHalf { first in
      [.response(status, lines, body: status == 416 ? [] : Array(picture[first...]))]
    } run: { server, runner, partial throws in
      let request = try FetchRequest(picture: server.address("/half"))
      let failure = try #require(runner.run(request, resuming: partial).failure)
      #expect(failure.isRetriable && failure.isRetriableAtOnce)
      #expect(
        failure.error.message
          == "the server sent something other than the rest of the picture: "
          + server.address("/half"))
      let whole = runner.run(try FetchRequest(picture: server.address("/whole")))
      #expect(whole.response?.body.bytes == picture)
    }
  }

  @Test func `a rest that breaks off again is incomplete`() throws {
    let picture = picture
    try withHalf { first in
      [
        .response(
          206,
          ["ETag: \"1\"", "Content-Range: bytes \(first)-\(picture.count - 1)/\(picture.count)"],
          body: Array(picture[first..<250_000]), announcing: picture.count - first), .close,
      ]
    } run: { server, runner, partial throws in
      let request = try FetchRequest(picture: server.address("/half"))
      let failure = try #require(runner.run(request, resuming: partial).failure)
      #expect(failure.error.code == .incompleteBody)
      #expect(failure.isRetriable)
    }
  }

  @Test(arguments: [false, true])
  func `a redirect to another place does not continue the picture`(allowsAll: Bool) throws {
    let picture = picture
    var configuration = FetchConfiguration()
    configuration.allowsPrivateAddresses = allowsAll
    let other = ScriptedServer { request in
      [
        .response(
          206, ["ETag: \"1\"", "Content-Range: bytes 200000-300007/300008"],
          body: Array(picture[200_000...]))
      ]
    }
    defer { other.stop() }
    let away = other.address("/half")
    try withHalf(configuration) { _ in
      [.response(302, ["Location: \(away)"])]
    } run: { server, runner, partial throws in
      let request = try FetchRequest(picture: server.address("/half"))
      let failure = try #require(runner.run(request, resuming: partial).failure)
      #expect(failure.isRetriableAtOnce)
      #expect(other.requests.count == 1)
    }
  }

  // MARK: - Gzip

  @Test func `a picture in gzip is unwrapped, announced or not`() throws {
    let picture = picture
    let wrapped = gzipped(picture)
    var configuration = FetchConfiguration.once
    configuration.maximumBodyBytes = picture.count
    try withServer(configuration) { request in
      switch request.target {
      case "/announced": [.response(200, ["Content-Encoding: gzip"], body: wrapped)]
      case "/plain": [.response(body: wrapped)]
      case "/close": [.unannounced(body: wrapped), .close]
      case "/cut": [.unannounced(body: Array(wrapped.dropLast(5))), .close]
      case "/short": [.response(body: wrapped, announcing: wrapped.count + 1), .close]
      default: [.response(body: gzipped(picture + [0]))]
      }
    } run: { server, fetcher throws in
      for path in ["/announced", "/plain", "/close"] {
        let response = try fetcher.outcome(of: server.address(path)).get()
        #expect(response.body.bytes == picture, "\(path)")
        #expect(response.type == .jpeg, "\(path)")
      }
      let cut = try fetcher.outcome(of: server.address("/cut"))
      #expect(cut.code == .incompleteBody)
      #expect(
        cut.message
          == "\(wrapped.count - 5) bytes of damaged or incomplete gzip data: "
          + server.address("/cut"))
      #expect(try fetcher.outcome(of: server.address("/short")).code == .incompleteBody)
      #expect(try fetcher.outcome(of: server.address("/large")).code == .bodyTooLarge)
    }
  }
}
