import PosterServer
import TestSupport
import Testing

@testable import PosterCache

/// A transfer breaks off, and whatever its server makes of the next request, the picture is right.
@Suite(.timeLimit(.minutes(1)))
struct FetcherBrokenOffTests {
  /// What a server does to the second request, and which picture comes of it.
  private struct Trial {
    let name: String
    let second: [Fault.Kind]
    /// The picture's name, if the file has been replaced.
    var replacement: String?
    /// What is changed in every answer.
    var headers: [Fault.Kind] = []
  }

  private static let trials = [
    Trial(name: "plain.jpg", second: []),
    Trial(name: "behind.jpg", second: [.otherRange(by: 500)]),
    Trial(name: "before.jpg", second: [.otherRange(by: -500)]),
    Trial(name: "start.jpg", second: [.otherRange(by: -1_000_000)]),
    Trial(name: "last.jpg", second: [.otherRange(by: 1_000_000)]),
    Trial(name: "short.jpg", second: [.shortRange(bytes: 10)]),
    Trial(name: "cut.jpg", second: [.truncate(afterBytes: 10)]),
    Trial(name: "nothing.jpg", second: [.truncate(afterBytes: 0)]),
    Trial(name: "refused.jpg", second: [.unsatisfiableRange]),
    Trial(name: "busy.jpg", second: [.status(503)]),
    Trial(name: "replaced.jpg", second: [], replacement: "other1-replaced.jpg"),
    Trial(name: "weak.jpg", second: [], headers: [.header(name: "ETag", value: "W/\"1\"")]),
    Trial(
      name: "undated.jpg", second: [],
      headers: [.header(name: "ETag", value: nil), .header(name: "Last-Modified", value: nil)]),
    Trial(name: "whole.jpg", second: [], headers: [.header(name: "Accept-Ranges", value: nil)]),
  ]

  @Test func `the rest is asked for, and the picture is right whatever comes`() throws {
    let origin = try DemoOrigin()
    let table = TicketTable(Self.trials.count)
    for trial in Self.trials {
      let path = PathPattern("/t/p/w154/\(trial.name)")
      origin.addFault(Fault(path, .truncate(afterBytes: 5_000), first: 1))
      for kind in trial.second { origin.addFault(Fault(path, kind, first: 2)) }
      if trial.replacement != nil { origin.addFault(Fault(path, .otherPicture(1))) }
      for kind in trial.headers { origin.addFault(Fault(path, kind)) }
    }
    let fetcher = try Fetcher()
    for (number, trial) in Self.trials.enumerated() {
      let address = try PosterAddress("\(origin.images.canonical)w154/\(trial.name)")
      fetcher.fetch(FetchRequest(address), completion: table.completion(of: number))
    }
    table.waitForAll()
    fetcher.shutdown()
    for (trial, outcomes) in zip(Self.trials, table.outcomes) {
      let right = DemoPoster.encode(name: trial.replacement ?? trial.name, size: .w154)
      #expect(outcomes.map { $0.response?.body.bytes } == [right], "\(trial.name)")
      let count = origin.requestCount(of: PathPattern("/t/p/w154/\(trial.name)"))
      #expect((2...3).contains(count), "\(trial.name)")
    }
  }

  @Test(arguments: [Fault.Kind.otherRange(by: 500), .unsatisfiableRange])
  func `another part than the one asked for costs no try`(fault: Fault.Kind) throws {
    let origin = try DemoOrigin()
    let path = PathPattern("/t/p/w154/a.jpg")
    origin.addFault(Fault(path, .truncate(afterBytes: 5_000), first: 1))
    origin.addFault(Fault(path, fault, first: 2))
    var configuration = FetchConfiguration()
    configuration.tries = 2
    let fetcher = try Fetcher(configuration)
    let response = try fetcher.outcome(of: "\(origin.images.canonical)w154/a.jpg").get()
    #expect(response.body.bytes == DemoPoster.encode(name: "a.jpg", size: .w154))
    #expect(fetcher.statistics.transfersStarted == 3)
    fetcher.shutdown()
  }

  @Test func `what was broken off by a cancel is right when it is wanted again`() throws {
    let body = TestPicture.jpeg(filler: 300_000)
    let drop = Monitor<(@Sendable () -> Void)?>(nil)
    let cuts = [1, 5, 100_000, 200_000, 299_000, body.count - 1]
    let isFirst = Monitor(true)
    let cut = Monitor(0)
    try withServer(.oneConnection) { request in
      let first = isFirst.withLock { first in
        defer { first = false }
        return first
      }
      let headers = ["ETag: \"1\"", "Accept-Ranges: bytes"]
      if first {
        let count = cut.withLock { $0 }
        return [
          .response(200, headers, body: Array(body.prefix(count)), announcing: body.count),
          .run { drop.withLock { $0 }?() },
          // Of what is nearly there the rest may be waited for all the same.
          .send(Array(body.dropFirst(count))),
        ]
      }
      guard request.headers["if-range"] == "\"1\"",
        let start = request.headers["range"].flatMap({ Int($0.dropFirst(6).dropLast()) })
      else { return [.response(200, headers, body: body)] }
      let range = "Content-Range: bytes \(start)-\(body.count - 1)/\(body.count)"
      return [.response(206, headers + [range], body: Array(body[start...]))]
    } run: { server, fetcher throws in
      for (number, count) in cuts.enumerated() {
        cut.withLock { $0 = count }
        isFirst.withLock { $0 = true }
        let completions = Completions()
        let address = server.address("/\(number)")
        let ticket = try fetcher.fetch(address, into: completions)
        drop.withLock { $0 = { fetcher.drop(ticket) } }
        // The server may have come to it before it was there.
        if server.requests.contains(where: { $0.target == "/\(number)" }) { fetcher.drop(ticket) }
        _ = completions.wait(1)
        let again = try fetcher.outcome(of: address)
        #expect(again.response?.body.bytes == body, "\(count) bytes")
        #expect(again.response?.headers.etag == "\"1\"", "\(count) bytes")
      }
    }
  }
}
