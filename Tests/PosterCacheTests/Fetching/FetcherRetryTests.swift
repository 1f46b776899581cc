import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// What is tried again, how often and when, over real connections.
@Suite(.timeLimit(.minutes(1)))
struct FetcherRetryTests {
  @Test func `what may pass is tried three times, everything else once`() throws {
    let passing = [408, 429, 500, 502, 503, 504, 507, 599]
    let lasting = [400, 401, 402, 403, 404, 405, 406, 409, 410, 411, 416, 418, 421, 425, 451, 499]
    var configuration = FetchConfiguration()
    configuration.connectionsPerHost = 64
    try withServer(configuration) { request in
      [.response(Int(request.target.dropFirst()) ?? 0)]
    } run: { server, fetcher throws in
      let statuses = passing + lasting
      let table = TicketTable(statuses.count)
      for (number, status) in statuses.enumerated() {
        let address = try PosterAddress(server.address("/\(status)"))
        fetcher.fetch(FetchRequest(address), completion: table.completion(of: number))
      }
      table.waitForAll()
      #expect(table.outcomes.map { $0.map(\.code) } == statuses.map { [.status($0)] })
      for status in statuses {
        let count = server.requests.count { $0.target == "/\(status)" }
        #expect(count == (passing.contains(status) ? 3 : 1), "\(status)")
      }
      #expect(fetcher.statistics.retries == 2 * passing.count)
    }
  }

  @Test func `a fault of the network is tried three times`() throws {
    let body = TestPicture.jpeg()
    let gate = Gate()
    var configuration = FetchConfiguration()
    configuration.timeoutSeconds = 0.25
    try withServer(configuration) { request in
      switch request.target {
      case "/closed": [.close]
      case "/reset": [.reset]
      case "/cut": [.response(body: body, announcing: 1_000), .close]
      case "/broken": [.response(body: body, announcing: 1_000), .reset]
      case "/late": [.wait(gate), .close]
      default: [.send(Array("SSH-2.0-x\r\n".utf8)), .close]
      }
    } run: { server, fetcher throws in
      let paths = ["/closed", "/reset", "/cut", "/broken", "/late", "/other"]
      let table = TicketTable(paths.count)
      for (number, path) in paths.enumerated() {
        let address = try PosterAddress(server.address(path))
        fetcher.fetch(FetchRequest(address), completion: table.completion(of: number))
      }
      table.waitForAll()
      #expect(
        table.outcomes.map { $0.map(\.code) }
          == [
            [.network], [.network], [.incompleteBody], [.incompleteBody], [.timedOut], [.network],
          ])
      for path in paths {
        #expect(server.requests.count { $0.target == path } == 3, "\(path)")
      }
    }
  }

  @Test func `a picture that comes at the third try comes to everybody`() throws {
    let attempts = Monitor(0)
    try withServer { _ in
      let attempt = attempts.withLock { count in
        count += 1
        return count
      }
      return attempt < 3 ? [.response(502)] : [.response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let completions = Completions()
      for priority in Priority.allCases {
        try fetcher.fetch(server.address("/a"), priority, into: completions)
      }
      #expect(completions.wait(3).allSatisfy { $0.response?.body.bytes == TestPicture.png })
      #expect(server.requests.count == 3)
      #expect(fetcher.statistics.retries == 2)
    }
  }

  @Test func `who waits for another try leaves the connection to others`() throws {
    let attempts = Monitor(0)
    try withServer(.oneConnection) { request in
      guard request.target == "/again" else { return [.response(body: TestPicture.png)] }
      let attempt = attempts.withLock { count in
        count += 1
        return count
      }
      return attempt == 1 ? [.response(500)] : [.response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let completions = Completions()
      for path in ["/again", "/1", "/2", "/3"] {
        try fetcher.fetch(server.address(path), .visible, into: completions)
      }
      #expect(completions.wait(4).allSatisfy { $0.response != nil })
      #expect(server.requests.map(\.target) == ["/again", "/1", "/2", "/3", "/again"])
    }
  }

  // MARK: - Retry-After

  /// 8:49:37 on 6 November 1994, the date of RFC 9110's examples.
  private static let clock = PosterClock { Date(timeIntervalSince1970: 784_111_777) }

  @Test(arguments: ["1", "Sun, 06 Nov 1994 08:49:38 GMT"])
  func `Retry-After holds the whole host and no other`(value: String) throws {
    let arrivals = Monitor<[(target: String, time: UInt64)]>([])
    let server = ScriptedServer { request in
      arrivals.withLock { $0.append((request.target, monotonicNanoseconds())) }
      let isFirst = arrivals.withLock { $0.count == 1 }
      return isFirst
        ? [.response(503, ["Retry-After: \(value)"])] : [.response(body: TestPicture.png)]
    }
    defer { server.stop() }
    let other = ScriptedServer { _ in [.response(body: TestPicture.png)] }
    defer { other.stop() }
    let fetcher = try Fetcher(.oneConnection, clock: Self.clock)
    defer { fetcher.shutdown() }
    let completions = Completions()
    for path in ["/a", "/b", "/c"] {
      try fetcher.fetch(server.address(path), .visible, into: completions)
    }
    server.waitForRequests(1)
    #expect(try fetcher.outcome(of: other.address("/")).get().status == 200)
    #expect(completions.wait(3).allSatisfy { $0.response != nil })
    let times = arrivals.withLock { $0 }
    #expect(times.count == 4)
    // The clock of the date knows whole seconds only, and stands still here.
    for arrival in times.dropFirst() {
      #expect(arrival.time - times[0].time >= 1_000_000_000, "\(arrival.target)")
    }
  }

  @Test(
    arguments: ["61", "Sun, 06 Nov 1994 08:50:38 GMT", "86400", "4000000000"], [408, 429, 503])
  func `a Retry-After beyond the budget fails the host's requests at once and says so`(
    value: String, status: Int
  ) throws {
    let gate = Gate()
    let server = ScriptedServer { _ in
      [.wait(gate), .response(status, ["Retry-After: \(value)"])]
    }
    defer { server.stop() }
    let other = ScriptedServer { _ in [.response(body: TestPicture.png)] }
    defer { other.stop() }
    let fetcher = try Fetcher(.oneConnection, clock: Self.clock)
    defer { fetcher.shutdown() }
    let completions = Completions()
    for path in ["/a", "/b", "/c"] {
      try fetcher.fetch(server.address(path), .visible, into: completions)
    }
    server.waitForRequests(1)
    gate.open()
    let seconds = Int(value).map { min($0, 3_600) } ?? 61
    for outcome in completions.wait(3) {
      #expect(outcome.code == .status(status))
      #expect(
        outcome.message
          == "127.0.0.1 asks to wait \(seconds) s, longer than the 60 s that a request may take; "
          + "try again later")
    }
    #expect(server.requests.map(\.target) == ["/a"])
    #expect(try fetcher.outcome(of: other.address("/")).get().status == 200)
  }

  @Test(arguments: ["soon", "-5", "1.5", "", "Sun, 99 Nov 1994 08:49:38 GMT"])
  func `a Retry-After that says nothing changes nothing`(value: String) throws {
    var configuration = FetchConfiguration()
    configuration.tries = 2
    try withServer(configuration) { _ in
      [.response(503, ["Retry-After: \(value)"])]
    } run: { server, fetcher throws in
      #expect(try fetcher.outcome(of: server.address("/")).code == .status(503))
      #expect(server.requests.count == 2)
    }
  }

  @Test func `a Retry-After of what is not tried again holds nobody`() throws {
    try withServer(.oneConnection) { request in
      request.target == "/gone"
        ? [.response(404, ["Retry-After: 3600"])] : [.response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      #expect(try fetcher.outcome(of: server.address("/gone")).code == .status(404))
      #expect(try fetcher.outcome(of: server.address("/here")).get().status == 200)
    }
  }
}
