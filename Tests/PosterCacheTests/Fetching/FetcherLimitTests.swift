import Glibc
import TestSupport
import Testing

@testable import PosterCache

/// Bounds: sizes, times, redirects, credentials, and the end.
@Suite(.timeLimit(.minutes(1)))
struct FetcherLimitTests {
  @Test func `a body over the limit is refused, announced or not`() throws {
    var configuration = FetchConfiguration.once
    configuration.maximumBodyBytes = 1000
    try withServer(configuration) { request in
      switch request.target {
      case "/announced": [.response(body: TestPicture.jpeg(filler: 993))]
      case "/unannounced": [.unannounced(body: TestPicture.jpeg(filler: 200_000)), .close]
      default: [.response(body: TestPicture.jpeg(filler: 992))]
      }
    } run: { server, fetcher throws in
      for path in ["/announced", "/unannounced"] {
        let outcome = try fetcher.outcome(of: server.address(path))
        #expect(outcome.code == .bodyTooLarge)
        #expect(
          outcome.message
            == "the body is larger than the limit of 1000 B: \(server.address(path))")
      }
      #expect(try fetcher.outcome(of: server.address("/fits")).get().body.count == 1000)
    }
  }

  @Test func `a body that never ends stops at the limit`() throws {
    var configuration = FetchConfiguration.once
    configuration.maximumBodyBytes = 1 << 20
    let piece = ScriptedServer.Step.send([UInt8](repeating: 0x55, count: 1 << 16))
    try withServer(configuration) { _ in
      [.unannounced(body: [0xFF, 0xD8, 0xFF])] + Array(repeating: piece, count: 1000)
    } run: { server, fetcher throws in
      #expect(try fetcher.outcome(of: server.address("/")).code == .bodyTooLarge)
    }
  }

  @Test func `five redirects are followed, and only the last body counts`() throws {
    try withServer(.once) { request in
      guard let hops = Int(request.target.dropFirst()), hops > 0 else {
        return [.response(body: TestPicture.png)]
      }
      return [.response(302, ["Location: /\(hops - 1)"], body: TestPicture.jpeg())]
    } run: { server, fetcher throws in
      #expect(try fetcher.outcome(of: server.address("/5")).get().body.bytes == TestPicture.png)
      let outcome = try fetcher.outcome(of: server.address("/6"))
      #expect(outcome.code == .status(302))
      #expect(outcome.message == "redirected more than 5 times: \(server.address("/6"))")
      #expect(server.requests.count == 12)
    }
  }

  @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/a.jpg", "gopher://127.0.0.1/"])
  func `a redirect to anything but http and https is refused`(location: String) throws {
    try withServer { _ in
      [.response(302, ["Location: \(location)"])]
    } run: { server, fetcher throws in
      let outcome = try fetcher.outcome(of: server.address("/a"))
      #expect(outcome.code == .forbiddenRedirect)
      #expect(
        outcome.message
          == "redirected to an address that is not http or https: \(server.address("/a"))")
      #expect(server.requests.count == 1)
    }
  }

  @Test func `a header line that is too long is told`() throws {
    try withServer(.once) { _ in
      [.response(200, ["X: " + String(repeating: "x", count: 200_000)], body: TestPicture.png)]
    } run: { server, fetcher throws in
      let outcome = try fetcher.outcome(of: server.address("/a"))
      #expect(outcome.code == .network)
      #expect(
        outcome.message
          == "a header line that is too long, or no memory left: \(server.address("/a"))")
    }
  }

  @Test func `a message names the server that a redirect led to, without a password`() throws {
    try withServer(.once) { _ in
      [.response(302, ["Location: http://user:secret@127.0.0.1:1/b"])]
    } run: { server, fetcher throws in
      let outcome = try fetcher.outcome(of: server.address("/a"))
      #expect(outcome.code == .network)
      #expect(outcome.message == "cannot connect to 127.0.0.1:1: Connection refused")
    }
  }

  @Test func `a redirect to what is no address is the server's fault`() throws {
    try withServer { _ in
      [.response(302, ["Location: http://[::1/a.jpg"])]
    } run: { server, fetcher throws in
      let outcome = try fetcher.outcome(of: server.address("/a"))
      #expect(outcome.code == .forbiddenRedirect)
      #expect(
        outcome.message == "redirected to an address that is none: \(server.address("/a"))")
      #expect(server.requests.count == 1)
    }
  }

  @Test func `an announced length alone costs no memory`() throws {
    var configuration = FetchConfiguration.once
    configuration.maximumBodyBytes = 1 << 30
    try withServer(configuration) { request in
      let length = request.target == "/most" ? 1 << 30 : (1 << 30) + 1
      return [.response(body: TestPicture.jpeg(), announcing: length), .close]
    } run: { server, fetcher throws in
      let cut = try fetcher.outcome(of: server.address("/most"))
      #expect(
        cut.message
          == "the body ended after 108 of 1073741824 bytes: \(server.address("/most"))")
      #expect(try fetcher.outcome(of: server.address("/more")).code == .bodyTooLarge)
    }
  }

  @Test(arguments: [0, -1, (1 << 30) + 1, 1 << 40, Int.max])
  func `the largest body is at most 1 GiB`(bytes: Int) {
    var configuration = FetchConfiguration()
    configuration.maximumBodyBytes = bytes
    let error = #expect(throws: PosterError.self) { try Fetcher(configuration) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message == "the largest body must be 1 byte to 1 GiB, not \(bytes)")
  }

  @Test func `strings that curl would refuse are refused before`() throws {
    let long = String(repeating: "x", count: 9_000_000)
    let changes: [(inout FetchConfiguration) -> Void] = [
      { $0.proxy = long }, { $0.userAgent = long }, { $0.certificateAuthoritiesFile = long },
      { $0.connectTo = [long] },
    ]
    for change in changes {
      var configuration = FetchConfiguration()
      change(&configuration)
      let error = #expect(throws: PosterError.self) { try Fetcher(configuration) }
      #expect(error?.code == .invalidConfiguration)
      #expect(
        error?.message == "the proxy, user agent or an address is longer than 16384 bytes")
    }
  }

  @Test(arguments: [
    "gopher://user:5ec2e7@127.0.0.1:1", "http://user:5ec2e7@127.0.0.1:99999", "ftp.5ec2e7.test",
    "http://", "socks6://5ec2e7",
  ]) func `what is no proxy is refused before`(proxy: String) {
    var configuration = FetchConfiguration()
    configuration.proxy = proxy
    let error = #expect(throws: PosterError.self) { try Fetcher(configuration) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.hasPrefix("a proxy's address begins with http, https, ") == true)
    #expect(error?.message.contains("user:5ec2e7") == false)
  }

  @Test(arguments: [
    "http://", "https://", "socks4://", "socks4a://", "socks5://", "SOCKS5H://", "",
  ])
  func `a proxy that cannot be reached is told, its password is not`(scheme: String) throws {
    var configuration = FetchConfiguration.once
    configuration.proxy = "\(scheme)user:5ec2e7@127.0.0.1:1"
    let fetcher = try Fetcher(configuration)
    defer { fetcher.shutdown() }
    let outcome = try fetcher.outcome(of: "http://127.0.0.1/a.jpg")
    #expect(outcome.code == .network)
    #expect(
      outcome.message == "cannot connect to 127.0.0.1:80 through the proxy: Connection refused")
  }

  @Test func `no descriptors left is told as that`() async {
    // In a process of its own, which has no room for an epoll descriptor.
    await #expect(processExitsWith: .success) {
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      var usual = rlimit()
      try #require(getrlimit(resource, &usual) == 0)
      var limit = rlimit(rlim_cur: 0, rlim_max: usual.rlim_max)
      try #require(setrlimit(resource, &limit) == 0)
      let error = #expect(throws: PosterError.self) { try Fetcher() }
      // What looks for leaks at the end needs files as well.
      try #require(setrlimit(resource, &usual) == 0)
      #expect(error?.code == .resourcesExhausted)
      #expect(error?.message == "cannot start fetching; raise the limit of open files")
      #expect((error?.underlying as? SystemError)?.errorNumber == EMFILE)
    }
  }

  @Test func `a server that never answers costs no more than the time-out`() throws {
    var configuration = FetchConfiguration.once
    configuration.timeoutSeconds = 0.25
    let gate = Gate()
    try withServer(configuration) { _ in
      [.wait(gate)]
    } run: { server, fetcher throws in
      let outcome = try fetcher.outcome(of: server.address("/"))
      #expect(outcome.code == .timedOut)
      #expect(outcome.message == "timed out after 0.25 s waiting for \(server.address("/"))")
    }
  }

  @Test func `a body that stalls is given up before the time-out`() throws {
    var configuration = FetchConfiguration.once
    configuration.stallTimeoutSeconds = 1
    let gate = Gate()
    try withServer(configuration) { _ in
      // The mean over all of its time has to fall below a byte a second.
      [.response(body: [0xFF], announcing: 1000), .wait(gate)]
    } run: { server, fetcher throws in
      let outcome = try fetcher.outcome(of: server.address("/"))
      #expect(outcome.code == .timedOut)
      #expect(outcome.message == "no data for 1 s from \(server.address("/"))")
    }
  }

  @Test func `a refused connection is tried again and says whom it could not reach`() throws {
    let server = ScriptedServer { _ in [] }
    server.stop()
    let fetcher = try Fetcher()
    defer { fetcher.shutdown() }
    let outcome = try fetcher.outcome(of: server.address("/"))
    #expect(outcome.code == .network)
    #expect(outcome.message == "cannot connect to 127.0.0.1:\(server.port): Connection refused")
    #expect(fetcher.statistics.transfersStarted == 3)
  }

  @Test func `a name that does not resolve says so`() throws {
    let fetcher = try Fetcher(.once)
    defer { fetcher.shutdown() }
    let outcome = try fetcher.outcome(of: "http://nowhere.invalid/a.jpg")
    #expect(outcome.code == .network)
    #expect(
      outcome.message == "cannot resolve nowhere.invalid; check the name and the network")
  }

  @Test func `connect-to leads a name to another address`() throws {
    let server = ScriptedServer { _ in [.response(body: TestPicture.png)] }
    defer { server.stop() }
    var configuration = FetchConfiguration.once
    configuration.connectTo = ["demo.test:80:127.0.0.1:\(server.port)"]
    let fetcher = try Fetcher(configuration)
    defer { fetcher.shutdown() }
    #expect(try fetcher.outcome(of: "http://demo.test/a.png").get().status == 200)
    #expect(server.requests[0].headers["host"] == "demo.test")
  }

  // MARK: - Pages and credentials

  @Test(arguments: [200, 401, 403, 404, 500])
  func `every status of a page is an answer`(status: Int) throws {
    let body = Array("{\"status_code\":7}".utf8)
    try withServer { _ in
      [.response(status, ["Retry-After: 0"], body: body)]
    } run: { server, fetcher throws in
      let response = try fetcher.outcome(of: server.address("/3"), kind: .page(nil)).get()
      #expect(response.status == status)
      #expect(response.body.bytes == body)
      #expect(response.type == nil)
      #expect(server.requests.count == (status == 500 ? 3 : 1))
      #expect(server.requests[0].headers["accept"] == "application/json")
      #expect(server.requests[0].headers["accept-encoding"]?.contains("gzip") == true)
    }
  }

  @Test func `a bearer token goes to its own host and port only`() throws {
    let other = ScriptedServer { _ in [.response(body: [])] }
    defer { other.stop() }
    let otherAddress = other.address("/stolen")
    try withServer(.once) { request in
      switch request.target {
      case "/away": [.response(302, ["Location: \(otherAddress)"])]
      case "/near": [.response(302, ["Location: /end"])]
      default: [.response(body: TestPicture.png)]
      }
    } run: { server, fetcher throws in
      let kind = FetchRequest.Kind.page(.bearerToken("eyJ.secret"))
      #expect(try fetcher.outcome(of: server.address("/away"), kind: kind).get().status == 200)
      #expect(other.requests.count == 1)
      #expect(other.requests[0].headers["authorization"] == nil)
      #expect(try fetcher.outcome(of: server.address("/near"), kind: kind).get().status == 200)
      #expect(
        server.requests.map { $0.headers["authorization"] }
          == Array(repeating: "Bearer eyJ.secret", count: 3))
      // The handle that carried it is used again for a picture.
      #expect(try fetcher.outcome(of: server.address("/picture")).get().status == 200)
      #expect(server.requests.last?.target == "/picture")
      #expect(server.requests.last?.headers["authorization"] == nil)
    }
  }

  @Test func `an API key is a parameter of the first request only, and of no message`() throws {
    try withServer(.once) { request in
      switch request.target {
      case "/3?page=2&api_key=a%2Fb%26c": [.response(302, ["Location: /end"])]
      case "/end": [.response(body: [])]
      default: [.close]
      }
    } run: { server, fetcher throws in
      let kind = FetchRequest.Kind.page(.apiKey("a/b&c"))
      #expect(try fetcher.outcome(of: server.address("/3?page=2"), kind: kind).get().status == 200)
      #expect(server.requests.map(\.target) == ["/3?page=2&api_key=a%2Fb%26c", "/end"])
      let failure = try fetcher.outcome(of: server.address("/other"), kind: kind)
      #expect(server.requests.last?.target == "/other?api_key=a%2Fb%26c")
      #expect(
        failure.message
          == "the server closed the connection without an answer: \(server.address("/other"))")
    }
  }

  @Test(arguments: ["", "a\r\nX-Other: b", "a b", "é", "a\u{0}b"])
  func `a token that cannot be sent fails its request and no other`(token: String) throws {
    try withServer(.once) { _ in
      [.response(body: [])]
    } run: { server, fetcher throws in
      let completions = Completions()
      for number in 1...5_000 {
        try fetcher.fetch(
          server.address("/\(number)"), kind: .page(.bearerToken(token)), into: completions)
      }
      #expect(completions.wait(5_000).allSatisfy { $0.code == .unauthorized })
      #expect(
        completions.wait(1)[0].message
          == "the bearer token is empty, too long or holds what cannot be sent to "
          + server.address("/1"))
      let kind = FetchRequest.Kind.page(.bearerToken("fine"))
      #expect(try fetcher.outcome(of: server.address("/fine"), kind: kind).get().status == 200)
      #expect(server.requests.map { $0.headers["authorization"] } == ["Bearer fine"])
    }
  }

  @Test func `credentials longer than curl takes fail their requests`() throws {
    let long = String(repeating: "x", count: 9_000_000)
    try withServer(.once) { _ in
      [.response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let address = server.address("/a")
      let token = try fetcher.outcome(of: address, kind: .page(.bearerToken(long)))
      #expect(token.code == .unauthorized)
      let key = try fetcher.outcome(of: address, kind: .page(.apiKey(long)))
      #expect(key.code == .invalidAddress)
      #expect(key.message == "curl cannot use the address: \(address)")
      #expect(try fetcher.outcome(of: address).get().status == 200)
      #expect(server.requests.map(\.target) == ["/a"])
    }
  }

  // MARK: - Dropping and the end

  @Test func `dropping one of two interests disturbs nothing, dropping both stops`() throws {
    let gate = Gate()
    try withServer { request in
      [.wait(gate), .response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let (kept, dropped) = (Completions(), Completions())
      try fetcher.fetch(server.address("/a"), into: kept)
      let first = try fetcher.fetch(server.address("/a"), into: dropped)
      let second = try fetcher.fetch(server.address("/b"), into: dropped)
      server.waitForRequests(2)
      fetcher.drop(first)
      fetcher.drop(second)
      fetcher.drop(second)
      #expect(dropped.wait(2).map(\.code) == [.cancelled, .cancelled])
      gate.open()
      #expect(kept.wait(1)[0].response?.body.bytes == TestPicture.png)
      #expect(dropped.count == 2)
    }
  }

  @Test func `cancelling a task drops its request`() async throws {
    let gate = Gate()
    let server = ScriptedServer { _ in [.wait(gate)] }
    defer { server.stop() }
    let fetcher = try Fetcher()
    defer { fetcher.shutdown() }
    let request = FetchRequest(try PosterAddress(server.address("/")))
    let task = Task { try await fetcher.response(to: request) }
    server.waitForRequests(1)
    task.cancel()
    let error = await #expect(throws: PosterError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await fetcher.response(to: request)
    }
    let lateError = await #expect(throws: PosterError.self) { try await late.value }
    #expect(lateError?.code == .cancelled)
  }

  @Test func `shutting down cancels what runs and what waits, once each`() throws {
    let gate = Gate()
    let server = ScriptedServer { _ in [.wait(gate)] }
    defer { server.stop() }
    let fetcher = try Fetcher()
    let completions = Completions()
    for number in 1...50 { try fetcher.fetch(server.address("/\(number)"), into: completions) }
    server.waitForRequests(8)
    fetcher.shutdown()
    #expect(completions.count == 50)
    #expect(completions.wait(50).allSatisfy { $0.code == .cancelled })
    fetcher.shutdown()
    try fetcher.fetch(server.address("/late"), into: completions)
    #expect(completions.wait(51)[50].code == .cancelled)
    #expect(completions.count == 51)
  }

  @Test func `a fetcher let go of in its own completion ends its thread`() throws {
    let server = ScriptedServer { _ in [.response(body: TestPicture.png)] }
    defer { server.stop() }
    let completions = Completions()
    let held = Monitor<Fetcher?>(try Fetcher())
    let request = FetchRequest(try PosterAddress(server.address("/")))
    held.withLock { $0 }?.fetch(request) { outcome in
      let last = held.withLock { fetcher in
        defer { fetcher = nil }
        return fetcher
      }
      withExtendedLifetime(last) {}
      completions.add(outcome)
    }
    #expect(completions.wait(1)[0].response?.type == .png)
  }

  @Test func `after shutting down no descriptor is left open`() async {
    // In a process of its own: other tests open and close descriptors, too. It prints what it finds.
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      let server = ScriptedServer { _ in [.response(body: TestPicture.png)] }
      let before = openDescriptors()
      for _ in 1...3 {
        let fetcher = try Fetcher()
        let completions = Completions()
        for number in 1...40 { try fetcher.fetch(server.address("/\(number)"), into: completions) }
        try fetcher.fetch("http://nowhere.invalid/", into: completions)
        let successes = completions.wait(41).count { $0.response != nil }
        print("\(successes) successes")
        fetcher.shutdown()
      }
      server.stop()
      // The test library opens a timer for the time limit whenever it comes to it.
      let left = openDescriptors().filter { descriptor in
        before[descriptor.key] != descriptor.value && !descriptor.value.contains("timerfd")
      }
      print("left open: \(left)")
    }
    let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(
      output.split(separator: "\n").filter { $0.contains("successes") || $0.contains("left") }
        == ["40 successes", "40 successes", "40 successes", "left open: [:]"])
  }
}

/// What the descriptors are that this process has open, by number.
func openDescriptors() -> [CInt: String] {
  var descriptors: [CInt: String] = [:]
  var buffer = [CChar](repeating: 0, count: 256)
  for number in 0..<1024 as Range<CInt> where fcntl(number, F_GETFD) != -1 {
    let count = readlink("/proc/self/fd/\(number)", &buffer, buffer.count)
    descriptors[number] = String(
      decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
  return descriptors
}
