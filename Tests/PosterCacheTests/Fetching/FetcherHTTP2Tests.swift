import TestSupport
import Testing

@testable import PosterCache

/// Streams of one connection, through an nginx that speaks HTTP/2.
@Suite(.timeLimit(.minutes(1)), .enabled(if: TLSProxy.isAvailable))
struct FetcherHTTP2Tests {
  private static func withProxy(
    connections: Int = 8,
    answer: @escaping @Sendable (ScriptedServer.Request) -> [ScriptedServer.Step],
    run body: (ScriptedServer, TLSProxy, Fetcher) throws -> Void
  ) async throws {
    let directory = TemporaryDirectory()
    let server = ScriptedServer(answer)
    defer { server.stop() }
    let proxy = try await TLSProxy(to: server.port, directory: directory.path)
    var configuration = FetchConfiguration()
    configuration.connectionsPerHost = connections
    configuration.certificateAuthoritiesFile = proxy.certificateFile
    let fetcher = try Fetcher(configuration)
    let result = Result { try body(server, proxy, fetcher) }
    fetcher.shutdown()
    await proxy.stop()
    try result.get()
  }

  @Test func `cancelling a stream leaves the others and the connection alone`() async throws {
    let body = TestPicture.jpeg(filler: 200_000)
    let gate = Gate()
    try await Self.withProxy { request in
      switch request.target {
      case "/first", "/last": [.response(body: body)]
      case "/2":
        // Much is still to come, so that stopping is worth it.
        [.response(body: Array(body.prefix(50_000)), announcing: 30_000_000), .wait(gate), .close]
      default:
        [
          .response(body: Array(body.prefix(50_000)), announcing: body.count), .wait(gate),
          .send(Array(body.dropFirst(50_000))),
        ]
      }
    } run: { server, proxy, fetcher throws in
      #expect(try fetcher.outcome(of: proxy.address("/first")).get().body.bytes == body)
      let table = TicketTable(9)
      var tickets: [Ticket] = []
      for number in 0..<9 {
        let address = try PosterAddress(proxy.address("/\(number)"))
        tickets.append(
          fetcher.fetch(FetchRequest(address), completion: table.completion(of: number)))
      }
      server.waitForRequests(9)
      #expect(!server.requests.contains { $0.target == "/8" })
      // In its place the ninth starts.
      fetcher.drop(tickets[2])
      table.wait(for: 2)
      server.waitForRequests(10)
      #expect(server.requests[9].target == "/8")
      gate.open()
      table.waitForAll()
      for (number, outcomes) in table.outcomes.enumerated() {
        if number == 2 {
          #expect(outcomes.map(\.code) == [.cancelled])
        } else {
          #expect(outcomes.map { $0.response?.body.bytes } == [body], "\(number)")
        }
      }
      #expect(try fetcher.outcome(of: proxy.address("/last")).get().body.bytes == body)
      #expect(Set(server.requests.map { $0.headers["x-protocol"] }) == ["HTTP/2.0"])
      #expect(Set(server.requests.map { $0.headers["x-connection"] }).count == 1)
      #expect(fetcher.statistics.connectionsOpened == 1)
    }
  }

  @Test func `a hundred cancelled streams cost no connection`() async throws {
    let gate = Gate()
    // What is dropped may go on for half a second, and so many may be on their way meanwhile.
    try await Self.withProxy(connections: 64) { request in
      request.target.hasPrefix("/held")
        ? [.wait(gate), .close] : [.response(body: TestPicture.png)]
    } run: { server, proxy, fetcher throws in
      #expect(try fetcher.outcome(of: proxy.address("/first")).get().status == 200)
      let table = TicketTable(100)
      for number in 0..<100 {
        let address = try PosterAddress(proxy.address("/held\(number)"))
        let ticket = fetcher.fetch(FetchRequest(address), completion: table.completion(of: number))
        server.waitForRequests(number + 2)
        fetcher.drop(ticket)
        table.wait(for: number)
      }
      #expect(table.outcomes.allSatisfy { $0.map(\.code) == [.cancelled] })
      #expect(try fetcher.outcome(of: proxy.address("/last")).get().status == 200)
      #expect(fetcher.statistics.connectionsOpened == 1)
    }
  }
}
