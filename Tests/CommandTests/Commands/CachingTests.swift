import FoundationEssentials
import PosterCache
import PosterServer
import TestSupport
import Testing

/// What the command does about pictures that are stored, have expired, or are known to be absent.
@Suite(.timeLimit(.minutes(3)))
struct CachingTests {
  private func cacheControl(_ value: String) -> Fault {
    Fault("/t/p/*", .header(name: "Cache-Control", value: value))
  }

  private struct PictureJSON: Decodable {
    var source: String
    var etag: String?
  }

  private func source(
    _ place: Workplace, _ more: String..., name: String = "a.jpg"
  ) async throws -> String {
    let arguments = ["get", "--json", "\(place.origin.images)w92/\(name)"] + more
    let result = await PosterCacheBinary.run(arguments + ["--cache-dir", place.cache])
    #expect(result.status == 0, "\(result.errors)")
    return try result.decoded(as: PictureJSON.self).source
  }

  @Test func `get says where the picture came from`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(try await source(place) == "network")
    #expect(try await source(place) == "disk")
    #expect(try await source(place, "--refresh") == "revalidated")
    #expect(try await source(place, "--offline") == "disk")
    #expect(place.imageRequests == 2)
    place.origin.setFaults([cacheControl("max-age=0, stale-while-revalidate=600")])
    #expect(try await source(place, "--refresh") == "revalidated")
    // Delivered at once; the server is asked before the command ends.
    #expect(try await source(place) == "stale")
    #expect(place.imageRequests == 4)
    place.origin.setFaults([cacheControl("max-age=0")])
    #expect(try await source(place, "--refresh") == "revalidated")
    #expect(try await source(place) == "revalidated")
    #expect(place.imageRequests == 6)
  }

  @Test func `an expired picture stands in for an origin that is down, with a warning`()
    async throws
  {
    let place = try Workplace([cacheControl("max-age=0")])
    #expect(try await source(place) == "network")
    let address = "\(place.origin.images)w92/a.jpg"
    place.origin.shutdown()
    let result = await place.run("get", address, "--json", "--retries", "0")
    #expect(result.status == 0)
    #expect(try result.decoded(as: PictureJSON.self).source == "stale")
    #expect(result.errorLines.count == 1)
    #expect(result.errors.contains("warning: cannot connect to 127.0.0.1"))
    #expect(await place.run("get", address, "--refresh", "--retries", "0").status == 4)
    #expect(await place.run("get", address, "--offline").status == 0)
  }

  @Test func `what must be asked about is neither stale nor offline`() async throws {
    let place = try Workplace([cacheControl("max-age=0, must-revalidate")])
    #expect(try await source(place) == "network")
    #expect(try await source(place) == "revalidated")
    let address = "\(place.origin.images)w92/a.jpg"
    let offline = await place.run("get", address, "--offline")
    #expect(offline.status == 4 && offline.errors.contains("may not be used any more"))
    place.origin.shutdown()
    #expect(await place.run("get", address, "--retries", "0").status == 4)
  }

  @Test func `warm counts what was confirmed, and transfers none of it`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let first = try await place.warm("--pages", "2").warmReport
    #expect(first.fetched == first.posters && first.revalidated == 0)
    let second = await place.warm("--pages", "2", "--refresh", "-v")
    let report = try second.warmReport
    #expect(second.status == 0)
    #expect((report.hits, report.fetched, report.revalidated) == (0, 0, first.posters))
    #expect(report.bytes == 0 && report.failed == 0)
    #expect(second.errorLines.count { $0.hasPrefix("revalidated ") } == first.posters)
    let third = try await place.warm("--pages", "2").warmReport
    #expect(third.hits == first.posters)
    #expect(place.imageRequests == 2 * first.posters)
    let summary = await PosterCacheBinary.run(
      place.warmArguments(["--pages", "2", "--refresh"]).filter { $0 != "--json" },
      environment: ["TMDB_API_KEY": Workplace.key])
    #expect(summary.output.contains("\n  checked  \(first.posters)  (still right)\n"))
  }

  @Test func `an absence is remembered from run to run, and told`() async throws {
    let place = try Workplace([Fault("/t/p/w92/gone.jpg", .status(404))])
    defer { place.origin.shutdown() }
    let address = "\(place.origin.images)w92/gone.jpg"
    let first = await place.run("get", address)
    #expect(first.status == 1 && first.errors.contains("answered 404"))
    #expect(!first.errors.contains("remembered"))
    place.origin.setFaults([])
    let again = await place.run("get", address)
    #expect(again.status == 1 && again.errors.contains("answered 404"))
    #expect(again.errors.contains("remembered until 2"))
    #expect(place.imageRequests == 1)
    #expect(try await source(place, "--refresh", name: "gone.jpg") == "network")
    #expect(try await source(place, name: "gone.jpg") == "disk")
  }

  @Test func `warm fails for what is remembered as absent, with its status and no request`()
    async throws
  {
    let place = try Workplace([Fault("/t/p/*", .status(410))])
    defer { place.origin.shutdown() }
    let first = await place.warm()
    let count = try first.warmReport.posters
    #expect(first.status == 1 && place.imageRequests == count)
    let second = await place.warm()
    let report = try second.warmReport
    #expect(second.status == 1 && report.failed == count)
    #expect(report.failures.allSatisfy { $0.status == 410 && $0.error.contains("remembered") })
    #expect(place.imageRequests == count)
    place.origin.setFaults([])
    #expect(try await place.warm("--refresh").warmReport.fetched == count)
  }

  @Test func `a timed out poster is asked for again`() async throws {
    let place = try Workplace([Fault("/t/p/*", .stall(), first: 1)])
    defer { place.origin.shutdown() }
    let address = "\(place.origin.images)w92/slow.jpg"
    let result = await place.run("get", address, "--retries", "0", "--timeout", "0.1")
    #expect(result.status == 4)
    #expect(try await source(place, name: "slow.jpg") == "network")
  }

  @Test(arguments: [
    (["get", "/a.jpg", "--refresh", "--offline"], "leave out --offline"),
    (["warm", "--list", "trending", "--demo", "--refresh", "--dry-run"], "leave out --refresh"),
    (["ls", "--refresh"], "--refresh is an option of warm, get, sheet, not of ls"),
  ]) func `wrong usage is told`(arguments: [String], words: String) async {
    let result = await PosterCacheBinary.run(arguments)
    #expect(result.status == 2)
    #expect(result.errors.contains(words), "\(result.errors)")
  }
}
