import TestSupport
import Testing

@testable import PosterCache

/// Who shares a transfer, whose turn is next, and that everybody is told once.
@Suite(.timeLimit(.minutes(1)))
struct FetcherInterestTests {
  @Test func `a hundred tickets of all priorities are one transfer`() throws {
    let gate = Gate()
    try withServer { _ in
      [.wait(gate), .response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let completions = Completions()
      for number in 0..<100 {
        let priority = Priority.allCases[number % Priority.allCases.count]
        try fetcher.fetch(server.address("/a"), priority, into: completions)
      }
      server.waitForRequests(1)
      gate.open()
      #expect(completions.wait(100).allSatisfy { $0.response?.body.bytes == TestPicture.png })
      #expect(server.requests.count == 1)
      #expect(fetcher.statistics.transfersStarted == 1)
    }
  }

  @Test func `each size of a poster is a picture of its own`() throws {
    try withServer { request in
      [.response(body: TestPicture.jpeg(filler: request.target.utf8.count))]
    } run: { server, fetcher throws in
      let images = try PosterAddress(server.address("/t/p"))
      for size in ImageHost.tmdb.sizes(of: .poster) {
        let request = try PosterRequest(path: "/a.jpg", size: size, images: images)
        let body = try fetcher.outcome(of: request.address.canonical).get().body
        #expect(body.count == 8 + "/t/p/\(size.rawValue)/a.jpg".utf8.count)
      }
      #expect(Set(server.requests.map(\.target)).count == ImageHost.tmdb.sizes(of: .poster).count)
    }
  }

  // MARK: - Turns

  /// Runs `body` while one request occupies the only connection and 200 prefetches wait; returns the
  /// order in which all requests arrive, once these and `count` of `body` have completed.
  private func order(
    with completions: Completions, _ count: Int,
    of body: (ScriptedServer, Fetcher, [Ticket]) throws -> Void
  ) throws -> [String] {
    let gate = Gate()
    var order: [String] = []
    try withServer(.oneConnection) { request in
      request.target == "/busy"
        ? [.wait(gate), .response(body: TestPicture.png)] : [.response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let prefetches = Completions()
      let busy = server.address("/busy")
      try fetcher.fetch(busy, .visible, into: prefetches)
      server.waitForRequests(1)
      let tickets = try (0..<200).map { number in
        try fetcher.fetch(server.address("/\(number)"), .prefetch, into: prefetches)
      }
      try body(server, fetcher, tickets)
      try fetcher.settle(on: busy)
      gate.open()
      _ = prefetches.wait(201)
      _ = completions.wait(count)
      order = server.requests.map(\.target)
    }
    return order
  }

  private static func all(first: [Int], without: [Int] = []) -> [String] {
    ["/busy"]
      + (first + (0..<200).filter { !first.contains($0) && !without.contains($0) }).map {
        "/\($0)"
      }
  }

  @Test func `a visible request that joins a queued prefetch makes it start next`() throws {
    let joined = Completions()
    let order = try order(with: joined, 1) { server, fetcher, _ in
      try fetcher.fetch(server.address("/150"), .visible, into: joined)
    }
    #expect(order == Self.all(first: [150]))
    #expect(joined.wait(1)[0].response != nil)
  }

  @Test func `a visible request behind two hundred prefetches starts next`() throws {
    let behind = Completions()
    let order = try order(with: behind, 1) { server, fetcher, _ in
      try fetcher.fetch(server.address("/visible"), .visible, into: behind)
    }
    #expect(Array(order.prefix(3)) == ["/busy", "/visible", "/0"])
    #expect(behind.wait(1)[0].response != nil)
  }

  @Test func `a visible request that leaves again takes its priority along`() throws {
    let joined = Completions()
    let order = try order(with: joined, 2) { server, fetcher, _ in
      let first = try fetcher.fetch(server.address("/150"), .visible, into: joined)
      try fetcher.fetch(server.address("/120"), .visible, into: joined)
      fetcher.drop(first)
    }
    #expect(order == Self.all(first: [120]))
    #expect(joined.wait(2).map(\.code) == [.cancelled, nil])
  }

  @Test func `dropping the prefetch leaves the visible request its place`() throws {
    let joined = Completions()
    let order = try order(with: joined, 1) { server, fetcher, tickets in
      try fetcher.fetch(server.address("/150"), .visible, into: joined)
      fetcher.drop(tickets[150])
      fetcher.drop(tickets[10])
    }
    #expect(order == Self.all(first: [150], without: [10]))
    #expect(joined.wait(1)[0].response != nil)
  }

  @Test func `background waits for prefetch, and prefetch for visible`() throws {
    let more = Completions()
    let order = try order(with: more, 7) { server, fetcher, _ in
      for number in 0..<3 {
        try fetcher.fetch(server.address("/b\(number)"), .background, into: more)
      }
      try fetcher.fetch(server.address("/b1"), .prefetch, into: more)
      try fetcher.fetch(server.address("/v0"), .visible, into: more)
      try fetcher.fetch(server.address("/v1"), .visible, into: more)
      try fetcher.fetch(server.address("/b2"), .visible, into: more)
    }
    #expect(Array(order[...3]) == ["/busy", "/v0", "/v1", "/b2"])
    #expect(order[203] == "/199" && Array(order[204...]).first == "/b1")
    #expect(more.wait(7).allSatisfy { $0.response != nil })
  }

  @Test func `with every connection busy the next free one is for the visible request`() throws {
    let gates = (0..<8).map { _ in Gate() }
    let end = Gate()
    try withServer { request in
      let gate = Int(request.target.dropFirst(5)).map { gates[$0] } ?? end
      return [.wait(gate), .response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let completions = Completions()
      for number in 0..<8 {
        try fetcher.fetch(server.address("/busy\(number)"), .visible, into: completions)
      }
      server.waitForRequests(8)
      for number in 0..<200 {
        try fetcher.fetch(server.address("/\(number)"), .prefetch, into: completions)
      }
      try fetcher.fetch(server.address("/visible"), .visible, into: completions)
      try fetcher.settle(on: server.address("/busy0"))
      gates[5].open()
      server.waitForRequests(9)
      #expect(server.requests[8].target == "/visible")
      for gate in gates + [end] { gate.open() }
      #expect(completions.wait(209).allSatisfy { $0.response != nil })
    }
  }

  // MARK: - Once each

  @Test func `ten thousand tickets with drops among them complete once each`() throws {
    var generator = SeededGenerator()
    try withServer { _ in
      [.response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let count = 10_000
      let table = TicketTable(count)
      let addresses = try (0..<300).map { try PosterAddress(server.address("/\($0)")) }
      var tickets: [Ticket] = []
      var dropped: Set<Int> = []
      for number in 0..<count {
        let address = try #require(addresses.randomElement(using: &generator))
        let priority = try #require(Priority.allCases.randomElement(using: &generator))
        tickets.append(
          fetcher.fetch(
            FetchRequest(address, priority: priority), completion: table.completion(of: number)))
        if Int.random(in: 0..<3, using: &generator) == 0 {
          // Some more than once, some long after they have completed.
          let victim = Int.random(in: max(0, number - 2_000)...number, using: &generator)
          fetcher.drop(tickets[victim])
          dropped.insert(victim)
        }
      }
      table.waitForAll()
      fetcher.shutdown()
      let outcomes = table.outcomes
      let repeated = outcomes.indices.filter { outcomes[$0].count != 1 }
      #expect(repeated == [], "seed \(generator.seed)")
      let failed = outcomes.indices.filter { outcomes[$0][0].code != nil && !dropped.contains($0) }
      #expect(failed == [], "seed \(generator.seed)")
      let odd = outcomes.indices.filter { ![nil, .cancelled].contains(outcomes[$0][0].code) }
      #expect(odd == [], "seed \(generator.seed)")
      #expect(!outcomes.allSatisfy { $0[0].code == nil }, "seed \(generator.seed)")
    }
  }

  @Test func `ten thousand requests in one instant for one picture are one transfer`() throws {
    let gate = Gate()
    try withServer { _ in
      [.wait(gate), .response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let table = TicketTable(10_000)
      let address = try PosterAddress(server.address("/a"))
      let tickets = (0..<10_000).map { number in
        fetcher.fetch(FetchRequest(address), completion: table.completion(of: number))
      }
      for number in 0..<9_999 { fetcher.drop(tickets[number]) }
      try fetcher.settle(on: server.address("/a"))
      gate.open()
      table.waitForAll()
      let outcomes = table.outcomes
      #expect(outcomes.allSatisfy { $0.count == 1 })
      #expect(outcomes.dropLast().allSatisfy { $0[0].code == .cancelled })
      #expect(outcomes[9_999][0].response?.body.bytes == TestPicture.png)
      #expect(server.requests.count == 1)
    }
  }

  // MARK: - Again after a cancel

  @Test func `a request after a cancel of the same picture wins, whatever ran`() throws {
    let stuck = Gate()
    let attempts = Monitor(0)
    try withServer(.oneConnection) { _ in
      let attempt = attempts.withLock { count in
        count += 1
        return count
      }
      return attempt == 1
        ? [.wait(stuck), .close] : [.response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let table = TicketTable(2)
      let request = FetchRequest(try PosterAddress(server.address("/a")))
      let first = fetcher.fetch(request, completion: table.completion(of: 0))
      server.waitForRequests(1)
      // In one instant: nobody has had time to stop the first.
      fetcher.drop(first)
      fetcher.fetch(request, completion: table.completion(of: 1))
      fetcher.drop(first)
      table.waitForAll()
      #expect(table.outcomes[0].map(\.code) == [.cancelled])
      #expect(table.outcomes[1].map { $0.response?.body.bytes } == [TestPicture.png])
      stuck.open()
    }
  }

  @Test func `a queued picture that is dropped and wanted again is fetched once`() throws {
    let again = Completions()
    let order = try order(with: again, 51) { server, fetcher, tickets in
      for _ in 0..<50 {
        fetcher.drop(tickets[7])
        let last = try fetcher.fetch(server.address("/7"), .prefetch, into: again)
        fetcher.drop(last)
      }
      try fetcher.fetch(server.address("/7"), .visible, into: again)
    }
    #expect(order == Self.all(first: [7]))
    #expect(again.wait(51).count { $0.code == .cancelled } == 50)
    #expect(again.wait(51).last?.response != nil)
  }

  // MARK: - Hosts

  @Test func `a host that does not answer holds up no other`() throws {
    let gate = Gate()
    let slow = ScriptedServer { _ in [.wait(gate), .response(body: TestPicture.png)] }
    defer { slow.stop() }
    try withServer { _ in
      [.response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let held = Completions()
      for number in 0..<100 {
        try fetcher.fetch(slow.address("/\(number)"), .visible, into: held)
      }
      slow.waitForRequests(16)
      for number in 0..<20 {
        #expect(try fetcher.outcome(of: server.address("/\(number)")).get().status == 200)
      }
      #expect(held.count == 0)
      #expect(slow.requests.count == 16)
      gate.open()
      #expect(held.wait(100).allSatisfy { $0.response != nil })
    }
  }
}
