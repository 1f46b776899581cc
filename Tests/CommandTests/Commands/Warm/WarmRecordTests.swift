import Glibc
import PosterCache
import PosterServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct WarmRecordTests {
  @Test func `what the last run had is left out, and what failed is not`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let dry = try await place.dryRun()
    let lost = String(dry[2].dropFirst(place.origin.images.canonical.count))
    place.origin.setFaults([Fault(PathPattern("/t/p/\(lost)"), .status(500))])
    let first = try await place.warm("--limit", "5", "--retries", "0").warmReport
    #expect(first.fetched == 4 && first.failed == 1 && first.skipped.sinceLast == 0)
    place.origin.setFaults([])
    let second = try await place.warm("--since-last", "--limit", "5").warmReport
    #expect(second.skipped.sinceLast == 4 && second.posters == 1 && second.fetched == 1)
    #expect(second.lists[0].skipped.sinceLast == 4)
    let dryAgain = try await place.warm("--since-last", "--dry-run").warmReport
    #expect(dryAgain.skipped.sinceLast == 5 && dryAgain.wouldFetch == 13)
    let third = await PosterCacheBinary.run(
      place.warmArguments(["--since-last"]).filter { $0 != "--json" },
      environment: ["TMDB_API_KEY": Workplace.key])
    #expect(third.output.contains("  skipped  7  (2 without a poster, 5 as last time)\n"))
    // Those that were left out are still among what the list had.
    let fourth = try await place.warm("--since-last").warmReport
    #expect(fourth.skipped.sinceLast == 18 && fourth.posters == 0)
    // Another size is another list.
    let other = try await place.warm("--since-last", "--size", "w92", "--limit", "2").warmReport
    #expect(other.skipped.sinceLast == 0 && other.fetched == 2)
    #expect(place.imageRequests == 18 + 1 + 2)
  }

  @Test func `an interrupted run notes what it has`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let firstTwo = place.origin.hold("/t/p/*")
    let command = PosterCacheBinary.start(
      place.warmArguments(["--connections", "2", "-v"]),
      environment: ["TMDB_API_KEY": Workplace.key])
    await firstTwo.waitForRequests(2)
    let rest = place.origin.hold("/t/p/*")
    firstTwo.release()
    await rest.waitForRequests(2)
    // They are known to be stored.
    #expect(await command.waitForErrorLines(2, containing: "fetched "))
    command.send(SIGINT)
    #expect(await command.result().status == 130)
    rest.release()
    let again = try await place.warm("--since-last").warmReport
    #expect(again.skipped.sinceLast == 2 && again.fetched == 16 && again.hits == 0)
  }

  @Test func `two processes that warm one list transfer each poster once`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let held = place.origin.hold("/t/p/*")
    let environment = ["TMDB_API_KEY": Workplace.key]
    let first = PosterCacheBinary.start(place.warmArguments([]), environment: environment)
    await held.waitForRequests(1)
    let second = PosterCacheBinary.start(
      place.warmArguments(["--list", "popular,trending"]), environment: environment)
    #expect(
      await second.waitForErrorLines(1, containing: "waiting for another warm of trending/all/day"))
    // Nobody is asked before all locks are held, and a dry run waits for none.
    #expect(place.origin.requestCount(of: "/3/movie/popular") == 0)
    #expect(try await place.dryRun().count == 18)
    held.release()
    let reports = try await [first.result(), second.result()].map { try $0.warmReport }
    #expect(reports[0].fetched == 18 && reports[1].posters == 38)
    #expect(reports[1].hits == 18 && reports[1].fetched == 20)
    let counts = place.origin.requestCounts.filter { $0.key.hasPrefix("/t/p/") }
    #expect(counts.count == 38 && counts.values.allSatisfy { $0 == 1 })
  }

  @Test func `whoever waits for another run can be interrupted`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let held = place.origin.hold("/t/p/*")
    let environment = ["TMDB_API_KEY": Workplace.key]
    let first = PosterCacheBinary.start(place.warmArguments([]), environment: environment)
    await held.waitForRequests(1)
    let second = PosterCacheBinary.start(place.warmArguments([]), environment: environment)
    #expect(await second.waitForErrorLines(1, containing: "waiting for another warm"))
    second.send(SIGTERM)
    let result = await second.result()
    #expect(result.status == 143 && result.output.isEmpty)
    held.release()
    #expect(await first.result().status == 0)
  }

  @Test func `lists share their posters, and one that fails leaves the others`() async throws {
    let place = try Workplace([Fault("/3/tv/1002/similar", .status(500))])
    defer { place.origin.shutdown() }
    // Both rows are asked for at the same time.
    let pages = place.origin.hold("/3/tv/1002/*")
    let command = PosterCacheBinary.start(
      place.warmArguments([
        "--list", "related", "--media", "tv", "--id", "1002", "--retries", "0",
      ]), environment: ["TMDB_API_KEY": Workplace.key])
    await pages.waitForRequests(2)
    pages.release()
    let result = await command.result()
    #expect(result.status == 1)
    let report = try result.warmReport
    #expect(report.fetched == 19 && report.lists.map(\.failedPages) == [1, 0])
    #expect(report.failures.map(\.status) == [500])
    #expect(result.errorLines.count == 1 && result.errors.contains("tv/1002/similar"))
    // The failed row keeps its record, the other one has one now.
    place.origin.setFaults([])
    let again = try await place.warm(
      "--list", "related", "--media", "tv", "--id", "1002", "--since-last"
    ).warmReport
    #expect(again.lists.map(\.skipped.sinceLast) == [0, 19] && again.fetched == 17)
    let both = try await place.warm("--list", "popular,trending", "--media", "all").warmReport
    #expect(both.lists.map(\.posters).reduce(0, +) == 38 && both.skipped.duplicate == 18)
    let counts = place.origin.requestCounts.filter { $0.key.hasPrefix("/t/p/") }
    #expect(counts.values.allSatisfy { $0 == 1 })
    // Pages come from the cache, too.
    place.origin.shutdown()
    let offline = await place.warm("--list", "popular,trending", "--offline")
    #expect(offline.status == 0)
    #expect(try offline.warmReport.hits == 38)
  }
}
