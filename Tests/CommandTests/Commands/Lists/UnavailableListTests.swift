import Glibc
import PosterCache
import PosterServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct UnavailableListTests {
  @Test func `warming goes on when nobody reads what a search finds`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let arguments = [
      "warm", "--list", "search", "--query", "golden lighthouse", "--cache-dir", place.cache,
      "--api", place.origin.api.canonical, "--images", place.origin.images.canonical,
    ]
    func search(_ output: PosterCacheBinary.StandardOutput, _ more: String...) async
      -> PosterCacheBinary.Result
    {
      await PosterCacheBinary.run(
        arguments + more, environment: ["TMDB_API_KEY": Workplace.key], standardOutput: output)
    }
    // Neither is one that cannot be had forgotten.
    place.origin.setFaults([Fault("/t/p/*", .status(500))])
    let failing = await search(.closedPipe, "--retries", "0")
    #expect(failing.status == 4 && failing.errorLines.count == 3, "\(failing.errors)")
    place.origin.setFaults([])
    let full = await search(.file("/dev/full"), "--limit", "2")
    #expect(full.status == 1)
    #expect(
      full.errorLines
        == ["postercache: cannot write to standard output: No space left on device"])
    let closed = await search(.closedPipe, "-v")
    #expect(closed.status == 0)
    #expect(closed.errorLines.count { $0.hasPrefix("cached ") } == 2)
    #expect(closed.errorLines.count { $0.hasPrefix("fetched ") } == 1)
    #expect(place.imageRequests == 3 + 2 + 1)
    // A dry run has nothing else to do.
    #expect(await search(.closedPipe, "--dry-run").status == 0)
    let missing = await PosterCacheBinary.run(
      ["evict", "http://nobody.test/x.jpg", "--cache-dir", place.cache],
      standardOutput: .closedPipe)
    #expect(missing.status == 1)
    #expect(missing.errorLines == ["postercache: not in the cache: http://nobody.test/x.jpg"])
  }

  @Test func `a file that cannot be read is told, and nothing reported`() async throws {
    let directory = TemporaryDirectory()
    let cache = "\(directory.path)/cache"
    let lost = "\(directory.path)/lost.txt"
    let (sheet, folder, plot) = (
      "\(directory.path)/sheet.png", "\(directory.path)/out", "\(directory.path)/plot.png"
    )
    for arguments in [
      ["warm"], ["warm", "--dry-run"], ["export", "--to", folder], ["sheet", "-o", sheet],
      ["scroll", "--plot", plot],
    ] {
      let result = await PosterCacheBinary.run(
        arguments + ["--list", "urls", "--from", lost, "--cache-dir", cache])
      #expect(result.status == 2, "\(arguments)")
      #expect(result.output.isEmpty, "\(arguments)")
      #expect(
        result.errorLines
          == ["postercache: cannot read \(lost): No such file or directory"], "\(arguments)")
    }
    for path in [sheet, folder, plot] { #expect(access(path, F_OK) != 0, "\(path)") }
  }

  @Test func `an empty list is reported as one, and known as one`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let list = "\(place.directory.path)/list.txt"
    func write(_ text: String) throws {
      let file = try #require(fopen(list, "w"))
      fputs(text, file)
      fclose(file)
    }
    func run(_ arguments: String...) async -> PosterCacheBinary.Result {
      await PosterCacheBinary.run(
        arguments + [
          "--list", "urls", "--from", list, "--cache-dir", place.cache, "--images",
          place.origin.images.canonical,
        ])
    }
    try write("/a.jpg\n/b.jpg\n")
    #expect(try await run("warm", "--json").warmReport.fetched == 2)
    try write("# nothing\n\n")
    let empty = await run("warm")
    #expect(empty.status == 0 && empty.errors.isEmpty)
    #expect(empty.output.hasPrefix("urls: 0 pages, 0 items, 0 posters\n  fetched  0  (0 B in "))
    #expect(empty.output.hasSuffix(" s)\n  cached   0\n"))
    let report = try await run("warm", "--json").warmReport
    #expect(report.pages == 0 && report.posters == 0 && report.lists.map(\.items) == [0])
    let exported = await run("export", "--to", "\(place.directory.path)/out")
    #expect(exported.output == "exported 0 posters, 0 B, to \(place.directory.path)/out\n")
    // The last run had none.
    try write("/a.jpg\n")
    let last = try await run("warm", "--json", "--since-last").warmReport
    #expect(last.skipped.sinceLast == 0 && last.hits == 1)
    // What --since-last knows goes with the posters.
    #expect(await place.run("clear").status == 0)
    let cleared = try await run("warm", "--json", "--since-last").warmReport
    #expect(cleared.skipped.sinceLast == 0 && cleared.fetched == 1)
    let again = try await run("warm", "--json", "--since-last").warmReport
    #expect(again.skipped.sinceLast == 1 && again.posters == 0)
  }

  @Test func `what is wrong with a file names it`() async throws {
    let directory = TemporaryDirectory()
    let path = "\(directory.path)/feed.json"
    let file = try #require(fopen(path, "w"))
    fputs(#"{"data": [{"type": "IMAGE_ONLY""#, file)
    fclose(file)
    let told = "\(path): not a feed: the file is broken or cut JSON"
    let fromFile = await PosterCacheBinary.run([
      "warm", "--list", "feed", "--from", path, "--json", "--cache-dir", directory.path + "/c",
    ])
    #expect(fromFile.status == 1 && fromFile.errorLines == ["postercache: \(told)"])
    let failures = try fromFile.warmReport.failures
    #expect(failures.map(\.error) == [told] && failures[0].url == nil)
    // Its standard input is the tests' own, whatever that is, unless a shell says otherwise.
    let script = "exec \"$0\" \"$@\" < \"$POSTERCACHE_DIR\"/feed.json"
    let piped = await RunningCommand(
      path: "/bin/sh",
      arguments: [
        "-c", script, PosterCacheBinary.path, "scroll", "--list", "feed", "--from", "-", "--json",
      ], environment: ["POSTERCACHE_DIR": directory.path, "TMPDIR": directory.path]
    ).result()
    #expect(piped.status == 1)
    #expect(
      piped.errorLines == [
        "postercache: not a feed: standard input is broken or cut JSON"
      ])
  }
}
