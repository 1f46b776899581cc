import Glibc
import PosterCache
import PosterServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct WarmTests {
  @Test func `a list is warmed page by page, and the second run fetches nothing`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let first = await place.warm("--pages", "10")
    #expect(first.status == 0)
    #expect(first.errors.isEmpty)
    #expect(
      first.keys == [
        "list", "pages", "items", "posters", "skipped", "hits", "fetched", "revalidated", "failed",
        "bytes", "seconds", "failures", "lists", "faults",
      ])
    let report = try first.warmReport
    #expect(report.list == "trending/all/day")
    #expect(report.pages == 10 && report.items == 200)
    // 7 without a path and 3 people, 3 repeated across page borders.
    #expect(report.skipped == .init(noPath: 10, duplicate: 3, unsupported: 0))
    #expect(report.posters == 187 && report.fetched == 187)
    #expect(report.hits == 0 && report.revalidated == 0 && report.failed == 0)
    #expect(report.failures.isEmpty)
    #expect(place.imageRequests == 187)
    #expect(try await place.storedCount() == 187)

    let second = try await place.warm("--pages", "10").warmReport
    #expect(second.hits == 187 && second.fetched == 0 && second.bytes == 0)
    #expect(place.imageRequests == 187)
  }

  @Test func `the embedded origin needs no network and no credential`() async throws {
    let directory = TemporaryDirectory()
    for fetched in [true, false] {
      let result = await PosterCacheBinary.run([
        "warm", "--list", "trending", "--demo", "--json", "--cache-dir", directory.path,
      ])
      #expect(result.status == 0, "\(result.errors)")
      let report = try result.warmReport
      #expect(report.posters > 0)
      // Keys do not depend on the port: the second run finds everything.
      #expect(
        (report.fetched, report.hits) == (fetched ? (report.posters, 0) : (0, report.posters)))
    }
  }

  @Test func `people read a summary, the quiet nothing, the verbose every poster`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    func warm(_ more: String...) async -> PosterCacheBinary.Result {
      await PosterCacheBinary.run(
        place.warmArguments(more).filter { $0 != "--json" },
        environment: ["TMDB_API_KEY": Workplace.key])
    }
    let plain = await warm("--limit", "5")
    #expect(plain.output.hasPrefix("trending/all/day: 1 page, "))
    #expect(plain.output.contains("\n  fetched  5  ("))
    #expect(plain.errors.isEmpty)
    let quiet = await warm("--limit", "5", "-q")
    #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.errors.isEmpty)
    let verbose = await warm("--limit", "6", "-v")
    #expect(verbose.errorLines.count { $0.hasPrefix("cached http://127.0.0.1:") } == 5)
    #expect(verbose.errorLines.count { $0.hasPrefix("fetched http://127.0.0.1:") } == 1)
    #expect(verbose.errorLines.count { $0.hasPrefix("page 1: ") } == 1)
  }

  @Test func `a progress bar is drawn when asked for, beside the results`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let drawn = await place.warm("--limit", "3", "--progress", "always")
    #expect(drawn.errors.contains("\r[") && drawn.errors.contains("3/3 posters"))
    #expect(!drawn.errors.contains("\u{1B}"))
    #expect(drawn.errors.hasPrefix("\rloading the list…"))
    #expect(try drawn.warmReport.fetched == 3)
    let dry = await place.warm("--dry-run", "--progress", "always")
    #expect(!dry.errors.contains("["))
    let hidden = await place.warm("--limit", "3", "--progress", "never")
    #expect(hidden.errors.isEmpty)
  }

  @Test func `size, limit and window reach the origin`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let result = await place.warm(
      "--media", "tv", "--window", "week", "--size", "w92", "--limit", "25", "--pages", "all")
    let report = try result.warmReport
    #expect(report.list == "trending/tv/week")
    #expect(report.pages == 2 && report.posters == 25 && report.fetched == 25)
    #expect(place.origin.requestCount(of: "/3/trending/tv/week") == 2)
    #expect(place.origin.requestCount(of: "/t/p/w92/*") == 25)
  }

  @Test func `a dry run prints addresses and touches neither images nor cache`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let result = await PosterCacheBinary.run(
      place.warmArguments(["--dry-run", "--limit", "4"]).filter { $0 != "--json" },
      environment: ["TMDB_API_KEY": Workplace.key])
    #expect(result.status == 0)
    #expect(result.errorLines.count == 1 && result.errors.hasPrefix("would fetch 4 of 4 posters, "))
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 4)
    #expect(lines.allSatisfy { $0.hasPrefix("\(place.origin.images)w342/") })
    #expect(place.imageRequests == 0)
    let json = try await place.warm("--dry-run", "--limit", "4").warmReport
    #expect(json.posters == 4 && json.fetched == 0 && json.hits == 0)
    #expect(access(place.cache, F_OK) != 0)
  }

  @Test func `what cannot be fetched is told, and the rest is warmed`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let listing = await PosterCacheBinary.run(
      place.warmArguments(["--dry-run", "--limit", "6"]).filter { $0 != "--json" },
      environment: ["TMDB_API_KEY": Workplace.key])
    let addresses = listing.output.split(separator: "\n").map(String.init)
    let paths = try addresses.map { address in
      PathPattern(
        String(
          address.dropFirst(
            try #require(address.firstRange(of: "/t/p/")).lowerBound
              .utf16Offset(in: address))))
    }
    place.origin.setFaults([
      Fault(paths[1], .status(404)), Fault(paths[2], .wrongType),
      Fault(paths[4], .truncate(afterBytes: 500)),
    ])
    let result = await place.warm("--limit", "6", "--retries", "0")
    #expect(result.status == 1)
    let report = try result.warmReport
    #expect(report.posters == 6 && report.fetched == 3 && report.failed == 3)
    #expect(report.failures.map(\.url) == [addresses[1], addresses[2], addresses[4]])
    #expect(report.failures.map(\.status) == [404, nil, nil])
    #expect(result.errorLines.count == 3)
    #expect(result.errorLines.allSatisfy { $0.hasPrefix("postercache: ") })
    #expect(zip(result.errorLines, report.failures).allSatisfy { $0.contains($1.url ?? "?") })
    #expect(try await place.storedCount() == 3)
    // Once the origin is well again, only what failed is fetched. The 404 is still believed.
    place.origin.setFaults([])
    let again = try await place.warm("--limit", "6").warmReport
    #expect(again.hits == 3 && again.fetched == 2 && again.failed == 1)
    #expect(again.failures.map(\.url) == [addresses[1]] && again.failures[0].status == 404)
    let refreshed = try await place.warm("--limit", "6", "--refresh").warmReport
    #expect(refreshed.revalidated == 5 && refreshed.fetched == 1 && refreshed.failed == 0)
  }

  @Test func `a page that fails costs its own posters only`() async throws {
    let server = ScriptedServer { request in
      guard request.target.hasPrefix("/3/") else {
        return [.response(body: [0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3, 4, 0xFF, 0xD9])]
      }
      guard let number = (1...3).first(where: { request.target.contains("?page=\($0)") }),
        number != 2
      else { return [.response(body: Array("<html>maintenance</html>".utf8))] }
      let page = #"{"results":[{"id":\#(number),"poster_path":"/\#(number).jpg"}],"total_pages":3}"#
      return [.response(body: Array(page.utf8))]
    }
    defer { server.stop() }
    let directory = TemporaryDirectory()
    let result = await PosterCacheBinary.run([
      "warm", "--list", "trending", "--pages", "all", "--json", "--cache-dir", directory.path,
      "--api", server.address("/3"), "--images", server.address("/t/p/"),
    ])
    #expect(result.status == 1)
    let report = try result.warmReport
    #expect(report.pages == 2 && report.fetched == 2 && report.failed == 0)
    #expect(report.failures.map(\.url) == [server.address("/3/trending/all/day?page=2")])
    #expect(report.failures[0].error.contains("HTML"))
    #expect(result.errorLines.count == 1)
  }

  @Test func `an interrupted run keeps what it fetched, and the next one goes on`() async throws {
    for (signal, status) in [(SIGINT, Int32(130)), (SIGTERM, Int32(143))] {
      let place = try Workplace()
      defer { place.origin.shutdown() }
      let arguments = place.warmArguments(["--pages", "3", "--connections", "2"])
      let firstTwo = place.origin.hold("/t/p/*")
      let command = PosterCacheBinary.start(
        arguments, environment: ["TMDB_API_KEY": Workplace.key])
      await firstTwo.waitForRequests(2)
      let rest = place.origin.hold("/t/p/*")
      firstTwo.release()
      // Two connections: these two are asked for because the first two have come.
      await rest.waitForRequests(2)
      command.send(signal)
      let interrupted = await command.result()
      #expect(interrupted.status == status)
      #expect(interrupted.output.isEmpty)
      #expect(interrupted.errorLines.count == 1)
      #expect(interrupted.errors.contains("interrupted"))
      rest.release()
      let stored = try await place.storedCount()
      #expect(stored == 2, "\(interrupted.errors)\(place.origin.requestCounts)")
      let again = await place.warm("--pages", "3")
      let report = try again.warmReport
      #expect(again.status == 0)
      #expect(report.hits == 2 && report.fetched == report.posters - 2)
    }
  }

  @Test func `an interruption while the list is loaded ends at once`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let held = place.origin.hold("/3/*")
    let command = PosterCacheBinary.start(
      place.warmArguments([]), environment: ["TMDB_API_KEY": Workplace.key])
    await held.waitForRequests(1)
    command.send(SIGINT)
    let result = await command.result()
    #expect(result.status == 130)
    #expect(result.output.isEmpty)
  }
}
