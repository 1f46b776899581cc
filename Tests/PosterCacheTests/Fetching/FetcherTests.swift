import TestSupport
import Testing

@testable import PosterCache

/// What is accepted, what is tried again and who shares what, with real transfers.
@Suite(.timeLimit(.minutes(1)))
struct FetcherTests {
  @Test(arguments: [
    (TestPicture.jpeg(), ImageType.jpeg), (TestPicture.png, .png), (TestPicture.webp, .webp),
  ])
  func `a picture is known by its bytes, whatever it is called`(
    body: [UInt8], type: ImageType
  ) throws {
    try withServer { _ in
      [.response(200, ["Content-Type: text/html", "ETag: \"1\""], body: body)]
    } run: { server, fetcher throws in
      let response = try fetcher.outcome(of: server.address("/picture.gif")).get()
      #expect(response.status == 200)
      #expect(response.type == type)
      #expect(response.body.bytes == body)
      #expect(response.headers.etag == "\"1\"")
      #expect(
        server.requests[0].headers["accept"] == "image/jpeg,image/png,image/webp,*/*;q=0.1")
      #expect(server.requests[0].headers["user-agent"] == "postercache/0.1.0")
      #expect(server.requests[0].headers["accept-encoding"] == nil)
    }
  }

  @Test func `a large body arrives whole, with a length, in chunks and up to the close`() throws {
    let body = TestPicture.jpeg(filler: 3_000_000)
    try withServer { request in
      switch request.target {
      case "/length": return [.response(body: body)]
      case "/close": return [.unannounced(body: body), .close]
      default:
        let head = Array("\(String(body.count, radix: 16))\r\n".utf8)
        let chunks = head + body + Array("\r\n0\r\n\r\n".utf8)
        return [.unannounced(200, ["Transfer-Encoding: chunked"], body: chunks)]
      }
    } run: { server, fetcher throws in
      for path in ["/length", "/chunked", "/close"] {
        #expect(try fetcher.outcome(of: server.address(path)).get().body.bytes == body)
      }
    }
  }

  @Test func `an HTML page with status 200 is no picture, and is not asked for again`() throws {
    let page = Array("<!DOCTYPE html><title>Sign in to this network</title>".utf8)
    try withServer { _ in
      [.response(200, ["Content-Type: image/jpeg"], body: page)]
    } run: { server, fetcher throws in
      let outcome = try fetcher.outcome(of: server.address("/a.jpg"))
      #expect(outcome.code == .notAnImage)
      #expect(
        outcome.message
          == "an HTML page instead of a JPEG, PNG or WebP from \(server.address("/a.jpg"))")
      #expect(server.requests.count == 1)
    }
  }

  @Test(arguments: [
    ("", "text/plain", "an empty body"), ("{\"success\":false}", "image/png", "JSON"),
    ("GIF89a....", "image/gif", "a GIF"), ("\u{1}\u{2}", "video/mp4; a=b", "video/mp4 data"),
    ("\u{1}\u{2}", "", "unknown data"),
  ])
  func `the message says what came instead`(body: String, type: String, name: String) throws {
    try withServer { _ in
      [.response(200, ["Content-Type: \(type)"], body: Array(body.utf8))]
    } run: { server, fetcher throws in
      let outcome = try fetcher.outcome(of: server.address("/a?token=secret"))
      #expect(outcome.code == .notAnImage)
      #expect(
        outcome.message
          == "\(name) instead of a JPEG, PNG or WebP from \(server.address("/a?token=…"))")
    }
  }

  @Test func `a status that is no success is an error, and 404 is not asked for again`() throws {
    try withServer { _ in
      [.response(404, body: TestPicture.jpeg())]
    } run: { server, fetcher throws in
      let outcome = try fetcher.outcome(of: server.address("/gone"))
      #expect(outcome.code == .status(404))
      #expect(outcome.message == "the server answered 404 for \(server.address("/gone"))")
      #expect(server.requests.count == 1)
    }
  }

  @Test(arguments: [201, 202, 205, 206, 207, 226, 299, 304])
  func `a success that does not promise the picture is none`(status: Int) throws {
    try withServer { _ in
      [.response(status, body: status == 304 || status == 205 ? [] : TestPicture.jpeg())]
    } run: { server, fetcher throws in
      #expect(try fetcher.outcome(of: server.address("/")).code == .status(status))
    }
  }

  @Test func `an answer that a proxy has transformed is a picture, no content is none`() throws {
    try withServer { request in
      request.target == "/203" ? [.response(203, body: TestPicture.png)] : [.unannounced(204)]
    } run: { server, fetcher throws in
      let response = try fetcher.outcome(of: server.address("/203")).get()
      #expect(response.status == 203 && response.body.bytes == TestPicture.png)
      #expect(try fetcher.outcome(of: server.address("/204")).code == .status(204))
    }
  }

  @Test func `what follows a body changes neither it nor its headers`() throws {
    let body = TestPicture.jpeg()
    try withServer { request in
      let head = Array("\(String(body.count, radix: 16))\r\n".utf8)
      let trailers =
        "0\r\nHash: x\r\nETag: \"evil\"\r\nHTTP/1.1 500 No: x\r\nContent-Length: 1\r\n\r\n"
      let headers = ["Transfer-Encoding: chunked", "ETag: \"good\"", "Trailer: Hash, ETag"]
      let answer = ScriptedServer.Step.unannounced(
        200, headers, body: head + body + Array("\r\n".utf8) + Array(trailers.utf8))
      switch request.target {
      case "/hints":
        return [.unannounced(103, ["ETag: \"early\"", "Link: </a>"]), answer]
      case "/redirect":
        return [
          .unannounced(
            302, ["Location: /end", "Transfer-Encoding: chunked", "ETag: \"other\""],
            body: Array("3\r\nabc\r\n0\r\nHash: x\r\nAge: 7\r\n\r\n".utf8))
        ]
      default: return [answer]
      }
    } run: { server, fetcher throws in
      for path in ["/plain", "/hints", "/redirect"] {
        let response = try fetcher.outcome(of: server.address(path)).get()
        #expect(response.body.bytes == body, "\(path)")
        #expect(response.status == 200, "\(path)")
        #expect(response.headers.etag == "\"good\"", "\(path)")
        #expect(response.headers.contentLength == nil, "\(path)")
        #expect(response.headers.age == nil, "\(path)")
      }
    }
  }

  @Test func `trailers of an empty body do not count either`() throws {
    try withServer { _ in
      [
        .unannounced(
          200, ["Transfer-Encoding: chunked"],
          body: Array("0\r\nETag: \"evil\"\r\n\r\n".utf8))
      ]
    } run: { server, fetcher throws in
      let response = try fetcher.outcome(of: server.address("/"), kind: .page(nil)).get()
      #expect(response.status == 200 && response.headers.etag == nil)
      #expect(response.body.count == 0)
    }
  }

  @Test func `a body longer than its length ends there, and one shorter is tried again`() throws {
    let body = TestPicture.jpeg()
    try withServer { request in
      [.response(body: body, announcing: body.count + 1), .close]
    } run: { server, fetcher throws in
      let outcome = try fetcher.outcome(of: server.address("/cut"))
      #expect(outcome.code == .incompleteBody)
      #expect(
        outcome.message
          == "the body ended after 108 of 109 bytes: \(server.address("/cut"))")
      #expect(server.requests.count == 3)
      #expect(fetcher.statistics.retries == 2)
      #expect(fetcher.statistics.transfersStarted == 3)
    }
  }

  @Test func `a picture cut short is found out without a length, too`() throws {
    let body = TestPicture.jpeg().dropLast(2)
    try withServer(.once) { _ in
      [.unannounced(body: Array(body)), .close]
    } run: { server, fetcher throws in
      let outcome = try fetcher.outcome(of: server.address("/cut"))
      #expect(outcome.code == .incompleteBody)
      #expect(
        outcome.message == "the body ended before the picture's end: \(server.address("/cut"))")
    }
  }

  @Test func `a connection that breaks or closes without an answer is a network error`() throws {
    try withServer(.once) { request in
      request.target == "/reset" ? [.response(announcing: 9), .reset] : [.close]
    } run: { server, fetcher throws in
      #expect(try fetcher.outcome(of: server.address("/reset")).code == .network)
      let closed = try fetcher.outcome(of: server.address("/close"))
      #expect(closed.code == .network)
      #expect(
        closed.message
          == "the server closed the connection without an answer: \(server.address("/close"))")
    }
  }

  @Test func `a failure's status counts, whatever becomes of its body`() throws {
    var configuration = FetchConfiguration.once
    configuration.timeoutSeconds = 0.25
    let gate = Gate()
    try withServer(configuration) { request in
      let status = Int(request.target.dropFirst().prefix(3)) ?? 0
      return switch request.target.dropFirst(4) {
      case "reset": [.response(status, body: [1, 2], announcing: 9), .reset]
      case "stall": [.response(status, body: [1, 2], announcing: 9), .wait(gate)]
      case "chunk": [.unannounced(status, ["Transfer-Encoding: chunked"], body: [90]), .close]
      default: [.response(status, body: [1, 2], announcing: 9), .close]
      }
    } run: { server, fetcher throws in
      for status in [404, 503] {
        for ending in ["close", "reset", "stall", "chunk"] {
          let outcome = try fetcher.outcome(of: server.address("/\(status)\(ending)"))
          #expect(outcome.code == .status(status), "\(ending): \(outcome.message)")
        }
      }
    }
  }

  @Test func `what is no HTTP is a network error`() throws {
    try withServer(.once) { _ in
      [.send(Array("220 mail.test ESMTP\r\n".utf8)), .close]
    } run: { server, fetcher throws in
      let outcome = try fetcher.outcome(of: server.address("/"))
      #expect(outcome.code == .network)
      #expect(outcome.message == "no HTTP answer from \(server.address("/"))")
    }
  }

  @Test func `a 503 is tried again when its Retry-After says so`() throws {
    let attempts = Monitor(0)
    try withServer { _ in
      let attempt = attempts.withLock { count in
        count += 1
        return count
      }
      return attempt == 1
        ? [.response(503, ["Retry-After: 0"])] : [.response(body: TestPicture.jpeg())]
    } run: { server, fetcher throws in
      #expect(try fetcher.outcome(of: server.address("/")).get().status == 200)
      #expect(fetcher.statistics.retries == 1)
    }
  }

  @Test(arguments: ["0", "Thu, 01 Jan 1970 00:00:00 GMT"])
  func `a Retry-After that is over does not spare the back-off`(value: String) throws {
    let times = Monitor<[UInt64]>([])
    try withServer { _ in
      times.withLock { $0.append(monotonicNanoseconds()) }
      return [.response(429, ["Retry-After: \(value)"])]
    } run: { server, fetcher throws in
      #expect(try fetcher.outcome(of: server.address("/")).code == .status(429))
      let times = times.withLock { $0 }
      try #require(times.count == 3)
      // Half of the back-off is random.
      #expect(times[1] - times[0] >= 125_000_000)
      #expect(times[2] - times[1] >= 250_000_000)
    }
  }

  @Test func `a 500 that stays is reported after three tries`() throws {
    try withServer { _ in
      [.response(500, ["Retry-After: 0"])]
    } run: { server, fetcher throws in
      #expect(try fetcher.outcome(of: server.address("/")).code == .status(500))
      #expect(server.requests.count == 3)
    }
  }

  @Test func `a Retry-After longer than the time-out fails at once and says so`() throws {
    try withServer { _ in
      [.response(429, ["Retry-After: 3600"])]
    } run: { server, fetcher throws in
      let outcome = try fetcher.outcome(of: server.address("/a"))
      #expect(outcome.code == .status(429))
      #expect(
        outcome.message
          == "127.0.0.1 asks to wait 3600 s, longer than the 60 s that a request may take; "
          + "try again later")
      #expect(try fetcher.outcome(of: server.address("/b")).code == .status(429))
      #expect(server.requests.map(\.target) == ["/a"])
    }
  }

  @Test func `two requests for one picture make one transfer`() throws {
    let gate = Gate()
    try withServer { _ in
      [.wait(gate), .response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let completions = Completions()
      try fetcher.fetch(server.address("/a"), into: completions)
      server.waitForRequests(1)
      try fetcher.fetch(server.address("/a"), into: completions)
      gate.open()
      let responses = completions.wait(2).compactMap(\.response)
      #expect(responses.map(\.body.bytes) == [TestPicture.png, TestPicture.png])
      #expect(server.requests.count == 1)
      // The second finds what the first made of it.
      let values = responses.map { $0.keepsake.value { [1] } }
      #expect(values.map(\.isNew) == [true, false])
      #expect(values.map(\.value) == [[1], [1]])
    }
  }

  @Test func `two pictures whose keys are equal by accident do not get each other's bytes`() throws
  {
    let gate = Gate()
    try withServer { request in
      [.wait(gate), .response(body: request.target == "/a" ? TestPicture.png : TestPicture.webp)]
    } run: { server, fetcher throws in
      let key = CacheKey(high: 1, low: 2)
      let (first, second) = (Completions(), Completions())
      for (path, completions) in [("/a", first), ("/b", second)] {
        let request = FetchRequest(try PosterAddress(server.address(path)), key: key)
        fetcher.fetch(request) { completions.add($0) }
      }
      server.waitForRequests(2)
      gate.open()
      #expect(first.wait(1)[0].response?.body.bytes == TestPicture.png)
      #expect(second.wait(1)[0].response?.body.bytes == TestPicture.webp)
    }
  }

  @Test func `no more connections than allowed, each used again`() throws {
    var configuration = FetchConfiguration()
    configuration.connectionsPerHost = 3
    try withServer(configuration) { _ in
      [.response(body: TestPicture.jpeg())]
    } run: { server, fetcher throws in
      let completions = Completions()
      for number in 1...60 { try fetcher.fetch(server.address("/\(number)"), into: completions) }
      #expect(completions.wait(60).allSatisfy { $0.response != nil })
      #expect(server.largestActiveCount <= 3)
      #expect(fetcher.statistics.connectionsOpened <= 3)
      #expect(fetcher.statistics.transfersStarted == 60)
    }
  }

  @Test func `as many transfers run at once as there are connections`() throws {
    let gate = Gate()
    try withServer { _ in
      [.wait(gate), .response(body: TestPicture.jpeg())]
    } run: { server, fetcher throws in
      let completions = Completions()
      for number in 1...40 { try fetcher.fetch(server.address("/\(number)"), into: completions) }
      server.waitForRequests(16)
      gate.open()
      #expect(completions.wait(40).allSatisfy { $0.response != nil })
      #expect(server.largestActiveCount == 16)
    }
  }

  @Test func `ten thousand requests at once all complete`() throws {
    try withServer { _ in
      [.response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let completions = Completions()
      for number in 1...10_000 {
        try fetcher.fetch(server.address("/\(number % 100)"), into: completions)
      }
      #expect(completions.wait(10_000).allSatisfy { $0.response != nil })
    }
  }

  @Test func `a configuration out of range is refused`() {
    var configuration = FetchConfiguration()
    configuration.connectionsPerHost = 0
    let error = #expect(throws: PosterError.self) { try Fetcher(configuration) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message == "connections per host must be 1 to 256, not 0")
  }
}
