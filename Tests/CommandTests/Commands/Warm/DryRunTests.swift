import Glibc
import PosterCache
import PosterServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct DryRunTests {
  @Test func `a dry run tells what is missing, and changes nothing`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let all = try await place.dryRun()
    #expect(all.count == 18 && access(place.cache, F_OK) != 0)
    #expect(await place.warm("--limit", "5").status == 0)
    let (listed, statistics) = (await place.run("ls", "--json"), await place.run("stats", "--json"))
    let pages = place.origin.requestCount(of: "/3/*")
    let requests = place.imageRequests
    let result = await PosterCacheBinary.run(
      place.warmArguments(["--dry-run"]).filter { $0 != "--json" },
      environment: ["TMDB_API_KEY": Workplace.key])
    #expect(result.status == 0)
    #expect(result.output == all.dropFirst(5).map { "\($0)\n" }.joined())
    let json = try await place.warm("--dry-run").warmReport
    #expect(json.posters == 18 && json.wouldFetch == 13 && json.fetched == 0 && json.hits == 0)
    // As large as those that are stored are on average.
    let sizes = try listed.decoded(as: [Entry].self).map(\.bytes)
    let bytes = sizes.reduce(0, +) / sizes.count * 13
    #expect(json.estimatedBytes == bytes)
    #expect(
      result.errorLines == [
        "would fetch 13 of 18 posters, about \(ByteSize(bytes: bytes)) (estimated by those that are"
          + " stored)"
      ])
    #expect(place.origin.requestCount(of: "/3/*") == pages + 2)
    #expect(place.imageRequests == requests)
    #expect(await place.run("ls", "--json").output == listed.output)
    #expect(await place.run("stats", "--json").output == statistics.output)
  }

  private struct Entry: Decodable {
    var bytes: Int
  }

  @Test func `the API says where pictures are and how large, where nobody else does`() async throws
  {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--limit", "1").status == 0)
    #expect(place.origin.requestCount(of: "/3/configuration") == 0)
    func own(_ more: String...) async -> PosterCacheBinary.Result {
      await PosterCacheBinary.run(
        [
          "warm", "--list", "trending", "--limit", "2", "--cache-dir", place.cache, "--json",
          "--api", place.origin.api.canonical,
        ] + more, environment: ["TMDB_API_KEY": Workplace.key])
    }
    // Kept for days: asked for once, and the poster of the first run is the same.
    for isFirst in [true, false] {
      let report = try await own().warmReport
      #expect(report.hits == (isFirst ? 1 : 2) && report.fetched == (isFirst ? 1 : 0))
      #expect(place.origin.requestCount(of: "/3/configuration") == 1)
    }
    let lists = place.origin.requestCount(of: "/3/trending/all/day")
    let other = await own("--size", "w300")
    #expect(other.status == 2 && other.output.isEmpty)
    #expect(
      other.errors.hasPrefix(
        "postercache: --size takes w92, w154, w185, w342, w500, w780, original, not w300"))
    #expect(other.errorLines.count == 1)
    #expect(place.origin.requestCount(of: "/3/trending/all/day") == lists)
    // A configuration that cannot be had costs a line for those who want to know.
    place.origin.setFaults([Fault("/3/configuration", .status(500))])
    let failing = await PosterCacheBinary.run(
      [
        "warm", "--list", "trending", "--limit", "2", "--dry-run", "-v", "--retries", "0", "--api",
        place.origin.api.canonical,
      ], environment: ["TMDB_API_KEY": Workplace.key])
    #expect(failing.status == 0)
    #expect(failing.output.hasPrefix("https://image.tmdb.org/t/p/w342/"))
    #expect(failing.errorLines.count { $0.hasPrefix("no configuration, going on with") } == 1)
    // Kept ones are of no use to who does not say where they are kept.
    let refused = await PosterCacheBinary.run([
      "warm", "--list", "trending", "--size", "w300", "--dry-run", "--retries", "0", "--api",
      place.origin.api.canonical,
    ])
    #expect(refused.status == 2 && refused.errorLines.count == 1)
    #expect(
      refused.errors.contains(
        "not w300; did you mean w342? (these are built in, as the API did not tell its own sizes: ")
    )
  }
}
