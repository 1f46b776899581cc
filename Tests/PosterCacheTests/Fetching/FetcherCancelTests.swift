import CTestSupport
import PosterServer
import TestSupport
import Testing

@testable import PosterCache

/// A request can be dropped at every stage, and at each the next one starts at once.
@Suite(.timeLimit(.minutes(1)))
struct FetcherCancelTests {
  @Test func `while it is queued`() throws {
    let gate = Gate()
    try withServer(.oneConnection) { request in
      request.target == "/busy"
        ? [.wait(gate), .response(body: TestPicture.png)] : [.response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let (kept, dropped) = (Completions(), Completions())
      try fetcher.fetch(server.address("/busy"), into: kept)
      server.waitForRequests(1)
      var tickets: [Ticket] = []
      for number in 0..<1_000 {
        tickets.append(try fetcher.fetch(server.address("/\(number)"), into: dropped))
      }
      try fetcher.fetch(server.address("/next"), into: kept)
      for ticket in tickets { fetcher.drop(ticket) }
      #expect(dropped.wait(1_000).allSatisfy { $0.code == .cancelled })
      gate.open()
      #expect(kept.wait(2).allSatisfy { $0.response != nil })
      #expect(server.requests.map(\.target) == ["/busy", "/next"])
      #expect(fetcher.statistics.transfersStarted == 2)
      #expect(fetcher.statistics.cancelled == FetchStatistics.Cancelled(queued: 1_000))
      // Nobody who was only queued has had a connection that could be closed.
      #expect(fetcher.statistics.connectionsOpened == 1)
    }
  }

  @Test func `while it waits for another try`() throws {
    let attempts = Monitor(0)
    try withServer(.oneConnection) { request in
      guard request.target == "/again" else { return [.response(body: TestPicture.png)] }
      let attempt = attempts.withLock { count in
        count += 1
        return count
      }
      return attempt == 1 ? [.response(500)] : [.response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let (first, others) = (Completions(), Completions())
      let ticket = try fetcher.fetch(server.address("/again"), into: first)
      // Has the connection after it, which shows that the first try is over.
      try fetcher.fetch(server.address("/between"), into: others)
      _ = others.wait(1)
      fetcher.drop(ticket)
      #expect(first.wait(1).map(\.code) == [.cancelled])
      #expect(server.requests.map(\.target) == ["/again", "/between"])
      // Who wants it now does not wait for what the other would have waited for.
      try fetcher.fetch(server.address("/again"), into: others)
      #expect(others.wait(2)[1].response != nil)
      #expect(server.requests.map(\.target) == ["/again", "/between", "/again"])
      #expect(fetcher.statistics.retries == 0)
      #expect(fetcher.statistics.cancelled == FetchStatistics.Cancelled(waitingForRetry: 1))
    }
  }

  @Test func `while its name is looked up`() throws {
    defer { postercache_release_held_lookups() }
    let before = postercache_held_lookups()
    let fetcher = try Fetcher(.oneConnection)
    defer { fetcher.shutdown() }
    let (first, second) = (Completions(), Completions())
    let stuck = try fetcher.fetch("http://images.held.test/1", into: first)
    postercache_wait_for_held_lookups(before + 1)
    let next = try fetcher.fetch("http://images.held.test/2", into: second)
    fetcher.drop(stuck)
    #expect(first.wait(1).map(\.code) == [.cancelled])
    // The second has the place of the first, while the first name is still being looked up.
    postercache_wait_for_held_lookups(before + 2)
    fetcher.drop(next)
    #expect(second.wait(1).map(\.code) == [.cancelled])
    #expect(fetcher.statistics.transfersStarted == 2)
    #expect(fetcher.statistics.cancelled == FetchStatistics.Cancelled(resolving: 2))
  }

  @Test func `shutting down does not wait for a name that is looked up`() throws {
    defer { postercache_release_held_lookups() }
    let before = postercache_held_lookups()
    let fetcher = try Fetcher()
    let completions = Completions()
    try fetcher.fetch("http://images.held.test/", into: completions)
    postercache_wait_for_held_lookups(before + 1)
    fetcher.shutdown()
    #expect(completions.wait(1).map(\.code) == [.cancelled])
  }

  @Test func `while it connects`() throws {
    let full = FullPort()
    let fetcher = try Fetcher(.oneConnection)
    defer { fetcher.shutdown() }
    let table = TicketTable(3)
    let tickets = try (0..<3).map { number in
      let address = try PosterAddress("http://127.0.0.1:\(full.port)/\(number)")
      return fetcher.fetch(FetchRequest(address), completion: table.completion(of: number))
    }
    for number in 0..<3 {
      fetcher.drop(tickets[number])
      table.wait(for: number)
      // Told only after the next one has been started.
      #expect(fetcher.statistics.transfersStarted == min(number + 2, 3))
    }
    #expect(table.outcomes.map { $0.map(\.code) } == [[.cancelled], [.cancelled], [.cancelled]])
    // One that was dropped before its turn came had not begun to connect.
    let cancelled = fetcher.statistics.cancelled
    #expect(cancelled.resolving + cancelled.connecting == 3 && cancelled.total == 3)
  }

  @Test func `while it waits for an answer, and while it receives one`() throws {
    let body = TestPicture.jpeg(filler: 1_000_000)
    // More than a loopback link holds: too much to wait for.
    let announced = 30_000_000
    let gate = Gate()
    let attempts = Monitor<[String: Int]>([:])
    try withServer(.oneConnection) { request in
      let attempt = attempts.withLock { counts in
        counts[request.target, default: 0] += 1
        return counts[request.target]
      }
      guard attempt == 1 else { return [.response(body: body)] }
      switch request.target {
      case "/silent": return [.wait(gate), .close]
      case "/headers": return [.response(announcing: announced), .wait(gate), .close]
      case "/body":
        let beginning = Array(body.prefix(100_000))
        return [.response(body: beginning, announcing: announced), .wait(gate), .close]
      case "/unannounced":
        return [.unannounced(body: Array(body.prefix(100_000))), .wait(gate), .close]
      default: return [.response(body: body)]
      }
    } run: { server, fetcher throws in
      let paths = ["/silent", "/headers", "/body", "/unannounced"]
      for (number, path) in paths.enumerated() {
        let (first, next) = (Completions(), Completions())
        let ticket = try fetcher.fetch(server.address(path), into: first)
        server.waitForRequests(3 * number + 1)
        try fetcher.fetch(server.address("/next\(number)"), into: next)
        fetcher.drop(ticket)
        #expect(first.wait(1).map(\.code) == [.cancelled], "\(path)")
        #expect(next.wait(1)[0].response?.body.bytes == body, "\(path)")
        // Whatever was kept of it, the next who asks gets all of it.
        let again = try fetcher.outcome(of: server.address(path))
        #expect(again.response?.body.bytes == body, "\(path)")
        #expect(first.count == 1)
      }
      // How far an answer had come that was on its way, nobody can say here.
      let cancelled = fetcher.statistics.cancelled
      #expect(cancelled.requesting >= 1)
      #expect(cancelled.requesting + cancelled.receiving == 4 && cancelled.total == 4)
      gate.open()
    }
  }

  @Test func `one that is nearly there is finished, for the cache`() throws {
    let body = TestPicture.jpeg(filler: 100_000)
    let (gate, sent) = (Gate(), Gate())
    let server = ScriptedServer { request in
      guard request.target == "/nearly" else { return [.response(body: TestPicture.png)] }
      return [
        .response(body: Array(body.dropLast(1_000)), announcing: body.count),
        .run { sent.open() }, .wait(gate), .send(Array(body.suffix(1_000))),
      ]
    }
    defer { server.stop() }
    let unclaimed = Monitor<[(FetchRequest, FetchResponse)]>([])
    let fetcher = try Fetcher(FetchConfiguration()) { request, response in
      unclaimed.withLock { $0.append((request, response)) }
      unclaimed.signal()
    }
    defer { fetcher.shutdown() }
    let nearly = FetchRequest(try PosterAddress(server.address("/nearly")), priority: .prefetch)
    let completions = Completions()
    let ticket = fetcher.fetch(nearly) { outcome in
      completions.add(outcome)
      // Only now, so that it cannot have been there already.
      gate.open()
    }
    sent.wait()
    // What was sent before this one has been received before it.
    #expect(try fetcher.outcome(of: server.address("/other")).response != nil)
    fetcher.drop(ticket)
    #expect(completions.wait(1).map(\.code) == [.cancelled])
    let (request, response) = unclaimed.wait(
      untilNanoseconds: { _ in nil }, for: { $0.first })
    #expect(request.address == nearly.address)
    #expect(response.body.bytes == body)
    #expect(fetcher.statistics.cancelled == FetchStatistics.Cancelled(finishing: 1))
    #expect(server.requests.count == 2)
  }

  @Test func `a picture that was being stored is whole or not there`() async throws {
    let directory = TemporaryDirectory()
    let origin = try DemoOrigin()
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = directory.path
    let pipeline = try PosterPipeline(configuration)
    let drawn = PosterBody(copying: DemoPoster.encode(name: "a.jpg", size: .w92))
    var generator = SeededGenerator()
    let requests = try (0..<300).map { number in
      try PosterRequest("\(origin.images)w92/a.jpg?\(number)", priority: .prefetch)
    }
    let tasks = requests.map { request in
      Task { () throws(PosterError) in
        if Bool.random() { return try await pipeline.warm(request) != .hit }
        return try await pipeline.poster(for: request).body == drawn
      }
    }
    var cancelled: Set<Int> = []
    for count in 1...100 {
      await origin.waitForRequests(count, of: "*")
      let victim = Int.random(in: 0..<min(3 * count, 300), using: &generator)
      tasks[victim].cancel()
      cancelled.insert(victim)
    }
    for (number, task) in tasks.enumerated() {
      switch await task.result {
      case .success(let isRight): #expect(isRight, "seed \(generator.seed): \(number)")
      case .failure(let error):
        let code = (error as? PosterError)?.code
        #expect(
          code == .cancelled && cancelled.contains(number), "seed \(generator.seed): \(number)")
      }
    }
    await pipeline.shutdown()
    let cache = try DiskCache(directory: directory.path)
    defer { cache.close() }
    let found = try requests.compactMap { try cache.poster(for: $0, isSeen: false) }
    #expect(found.count >= requests.count - cancelled.count, "seed \(generator.seed)")
    #expect(found.allSatisfy { $0.body == drawn }, "seed \(generator.seed)")
    #expect(try cache.statistics().entries == found.count)
  }

  @Test func `a picture that was stopped in the middle is in no tier and in no answer`()
    async throws
  {
    let directory = TemporaryDirectory()
    let origin = try DemoOrigin()
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = directory.path
    let pipeline = try PosterPipeline(configuration)
    let gate = origin.hold("/t/p/*", afterBytes: 1_000)
    let requests = try (0..<8).map { number in
      try PosterRequest(path: "/\(number).jpg", size: .w500, images: origin.images)
    }
    let tasks = requests.map { request in Task { try await pipeline.poster(for: request) } }
    await gate.waitForRequests(8)
    for task in tasks { task.cancel() }
    for task in tasks {
      let error = await #expect(throws: PosterError.self) { try await task.value }
      #expect(error?.code == .cancelled)
    }
    for request in requests { #expect(pipeline.cachedPoster(for: request) == nil) }
    #expect(try pipeline.disk?.statistics().entries == 0)
    gate.release()
    for (number, request) in requests.enumerated() {
      let poster = try await pipeline.poster(for: request)
      #expect(poster.body.bytes == DemoPoster.encode(name: "\(number).jpg", size: .w500))
    }
    await pipeline.shutdown()
  }

  @Test func `a connection is counted that was opened for a request which was dropped`() throws {
    try withServer { request in
      request.target == "/held" ? [.waitForClose] : [.response(body: TestPicture.png)]
    } run: { server, fetcher throws in
      let completions = Completions()
      let ticket = try fetcher.fetch(server.address("/held"), into: completions)
      server.waitForRequests(1)
      fetcher.drop(ticket)
      _ = completions.wait(1)
      #expect(try fetcher.outcome(of: server.address("/next")).get().status == 200)
      #expect(server.connectionCount == 2)
      #expect(fetcher.statistics.connectionsOpened == 2)
    }
  }

  // MARK: - Under load

  /// In a process of its own: other tests open and close descriptors, too. It prints what it finds.
  @Test func `a thousand cancels under load leave nothing open and disturb nobody`() async throws {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardOutputContent]
    ) {
      let before = openDescriptors()
      try cancelUnderLoad()
      // The test library opens a timer for the time limit whenever it comes to it.
      let left = openDescriptors().filter { descriptor in
        before[descriptor.key] != descriptor.value && !descriptor.value.contains("timerfd")
      }
      print("left open: \(left)")
    }
    let lines = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
      .split(separator: "\n").map(String.init)
    for line in [
      "not told once: []", "held and delivered: []", "dropped and failed: []", "wrong: []",
      "left open: [:]",
    ] {
      #expect(lines.contains(line), "\(lines)")
    }
    let reconnects = lines.compactMap { line in
      line.hasPrefix("reconnects: ") ? line.split(separator: " ").last.flatMap { Int($0) } : nil
    }
    // Each cancel of what had a connection may cost it, and no other: 500 had one for certain.
    let count = try #require(reconnects.first)
    #expect(count <= 1_000, "\(lines)")
    print("reconnects per 1000 cancels, half of them of running transfers: \(count)")
  }
}

/// Makes 2,000 requests, 1,000 of which are dropped: 250 while their server has the request, 250 when
/// it has sent a part of the answer, 500 whenever another request completes.
private func cancelUnderLoad() throws {
  let (waiting, receiving, random, count) = (250, 500, 1_000, 2_000)
  var generator = SeededGenerator()
  let body = TestPicture.jpeg(filler: 20_000)
  let tickets = Monitor<[Int: Ticket]>([:])
  let fetcher = try Fetcher()
  let drop: @Sendable (Int) -> Void = { number in
    // Its server may have it before its ticket has been written down.
    fetcher.drop(tickets.wait(untilNanoseconds: { _ in nil }, for: { $0[number] }))
  }
  let server = ScriptedServer { request in
    guard let number = Int(request.target.dropFirst()), number < receiving else {
      return [.response(body: body)]
    }
    let beginning = ScriptedServer.Step.response(
      body: Array(body.prefix(10_000)), announcing: 30_000_000)
    return (number < waiting ? [] : [beginning]) + [.run { drop(number) }, .waitForClose]
  }
  let table = TicketTable(count)
  let victims = Monitor((receiving..<random).shuffled(using: &generator))
  for number in (0..<count).shuffled(using: &generator) {
    let address = try PosterAddress(server.address("/\(number)"))
    let completion = table.completion(of: number) { _ in
      if number >= random, let victim = victims.withLock({ $0.popLast() }) { drop(victim) }
    }
    let ticket = fetcher.fetch(FetchRequest(address), completion: completion)
    tickets.withLock { $0[number] = ticket }
    tickets.signal()
  }
  table.waitForAll()
  let outcomes = table.outcomes
  fetcher.shutdown()
  print("not told once: \(outcomes.indices.filter { outcomes[$0].count != 1 })")
  print(
    "held and delivered: \((0..<receiving).filter { outcomes[$0][0].code != .cancelled })")
  let failed = (receiving..<random).filter { ![nil, .cancelled].contains(outcomes[$0][0].code) }
  print("dropped and failed: \(failed)")
  let wrong = (receiving..<count).filter { number in
    let received = outcomes[number][0].response?.body.bytes
    return received != body && (received != nil || number >= random)
  }
  print("wrong: \(wrong)")
  print("reconnects: \(server.connectionCount - 8)")
  print("cancelled: \(outcomes.count { $0[0].code == .cancelled }), seed \(generator.seed)")
  server.stop()
}
