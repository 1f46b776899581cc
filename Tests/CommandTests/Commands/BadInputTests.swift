import Glibc
import PosterCache
import PosterServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3)))
struct BadInputTests {
  @Test(arguments: [
    ["warm", "--list", "trendign"], ["warm", "--list", "trending", "--size", "w343"],
    ["warm", "--list", "trending", "--lmit", "3"], ["wram"], [], ["get"], ["get", "poster.jpg"],
    ["warm", "--list", "trending", "--demo", "--language", "not a language"],
    ["demo-origin", "--fault", "nonsense"], ["evict"], ["pin", "poster.jpg"], ["trim"],
    ["trim", "--to", "much"], ["export"], ["export", "--to", "x", "--pages", "2"],
    ["ls", "--sort", "name"], ["verify", "--repiar"],
    ["ls", "--cacert", "/nonexistent", "--connections", "0"],
  ])
  func `wrong usage is one line and status 2`(arguments: [String]) async throws {
    let directory = TemporaryDirectory()
    let result = await PosterCacheBinary.run(
      arguments, environment: ["POSTERCACHE_DIR": directory.path])
    #expect(result.status == 2)
    #expect(result.output.isEmpty)
    #expect(result.errorLines.count == 1, "\(result.errors)")
    #expect(result.errors.hasPrefix("postercache: "))
  }

  @Test func `no credentials is status 3, and names what to set`() async throws {
    let directory = TemporaryDirectory()
    let result = await PosterCacheBinary.run([
      "warm", "--list", "trending", "--cache-dir", directory.path,
    ])
    #expect(result.status == 3)
    #expect(result.errorLines.count == 1)
    for word in ["TMDB_TOKEN", "TMDB_API_KEY", "--demo"] { #expect(result.errors.contains(word)) }
  }

  @Test(arguments: [Workplace.key, "eyJhbGciOiJub25lIn0.5ec2e7.c2ln"])
  func `refused credentials are status 3, and never shown`(secret: String) async throws {
    let place = try Workplace([Fault("/3/*", .status(401))])
    defer { place.origin.shutdown() }
    let tokenFile = "\(place.directory.path)/token"
    let file = try #require(fopen(tokenFile, "w"))
    fputs(secret, file)
    fclose(file)
    for (arguments, environment) in [
      (["-v"], ["TMDB_TOKEN": secret]), (["-v", "--token-file", tokenFile], [:]),
    ] {
      let result = await PosterCacheBinary.run(
        place.warmArguments(arguments), environment: environment)
      #expect(result.status == 3)
      #expect(try result.warmReport.failures.map(\.status) == [401])
      #expect(!result.output.contains("5ec2e7") && !result.errors.contains("5ec2e7"))
      #expect(result.errorLines.count { $0.hasPrefix("postercache: ") } == 1)
    }
  }

  @Test func `the credential is sent, and neither shown nor stored`() async throws {
    let place = try Workplace([Fault("/t/p/*", .status(404))])
    defer { place.origin.shutdown() }
    let failing = await place.warm("-v", "--limit", "3")
    #expect(failing.status == 1)
    place.origin.setFaults([])
    let working = await place.warm("-v", "--limit", "5", "--refresh")
    #expect(working.status == 0)
    let listing = await place.run("ls", "--json")
    for result in [failing, working, listing] {
      #expect(!result.output.contains(Workplace.key) && !result.errors.contains(Workplace.key))
    }
  }

  @Test func `an origin that is down is status 4`() async throws {
    let place = try Workplace()
    place.origin.shutdown()
    let result = await place.warm("--retries", "0")
    #expect(result.status == 4)
    #expect(result.errorLines.count == 1, "\(result.errors)")
    #expect(try result.warmReport.posters == 0)
  }

  @Test func `a name that does not resolve is status 4`() async throws {
    let directory = TemporaryDirectory()
    // A label of more than 63 characters: nobody needs to be asked whether it exists.
    let host = String(repeating: "a", count: 70) + ".test"
    let result = await PosterCacheBinary.run([
      "warm", "--list", "trending", "--api", "http://\(host)/3", "--retries", "0",
      "--cache-dir", directory.path,
    ])
    #expect(result.status == 4)
    #expect(result.errorLines.count == 1, "\(result.errors)")
  }

  @Test func `images that are down are status 4, whatever the list says`() async throws {
    let place = try Workplace([Fault("/t/p/*", .drop)])
    defer { place.origin.shutdown() }
    let result = await place.warm("--retries", "0", "--limit", "3")
    #expect(result.status == 4)
    #expect(try result.warmReport.failed == 3)
    #expect(try await place.storedCount() == 0)
  }

  @Test func `an origin in trouble is status 4, one that limits the rate status 1`() async throws {
    let place = try Workplace([Fault("/3/*", .status(503))])
    defer { place.origin.shutdown() }
    #expect(await place.warm("--retries", "0").status == 4)
    place.origin.setFaults([Fault("/3/*", .status(429))])
    let limited = await place.warm("--retries", "0")
    #expect(limited.status == 1)
    #expect(limited.errors.contains("429"))
  }

  @Test func `a list that is not found is status 1, and tells of a path that --api lacks`()
    async throws
  {
    let place = try Workplace([Fault("/3/*", .status(404))])
    defer { place.origin.shutdown() }
    let whole = await place.warm()
    #expect(whole.status == 1)
    #expect(whole.errors.contains("404") && !whole.errors.contains("--api"))
    for base in ["http://127.0.0.1:\(place.origin.port)", "http://127.0.0.1:\(place.origin.port)/"]
    {
      let lacking = await place.warm("--api", base)
      #expect(lacking.status == 1)
      #expect(lacking.errors.contains("; does --api lack its path, such as /3?"))
      #expect(lacking.errorLines.count == 1)
      #expect(try lacking.warmReport.failures.map(\.status) == [404])
    }
  }

  @Test(
    arguments: [
      (.drop, 4), (.status(500), 4), (.status(429), 1), (.truncate(afterBytes: 100), 1),
      (.wrongType, 1),
    ] as [(Fault.Kind, Int32)])
  func `what becomes of all posters decides between status 1 and 4`(
    kind: Fault.Kind, status: Int32
  ) async throws {
    let place = try Workplace([Fault("/t/p/*", kind)])
    defer { place.origin.shutdown() }
    let result = await place.warm("--retries", "0", "--limit", "3")
    #expect(result.status == status, "\(result.errors)")
    #expect(try result.warmReport.failed == 3)
  }

  @Test func `HTML instead of a list is status 1, and said to be HTML`() async throws {
    let place = try Workplace([Fault("/3/*", .wrongType)])
    defer { place.origin.shutdown() }
    let result = await place.warm()
    #expect(result.status == 1)
    #expect(result.errors.contains("HTML"))
    #expect(result.errorLines.count == 1)
  }

  @Test func `a list that is cut short is not taken for the whole`() async throws {
    let place = try Workplace([Fault("/3/*", .truncate(afterBytes: 700))])
    defer { place.origin.shutdown() }
    let result = await place.warm("--retries", "0")
    #expect(result.status != 0)
    #expect(try result.warmReport.posters == 0)
    #expect(place.imageRequests == 0)
  }

  @Test(arguments: ["/3/*", "/t/p/*"])
  func `an origin that never answers is status 4`(pattern: String) async throws {
    let place = try Workplace([Fault(PathPattern(pattern), .stall())])
    defer { place.origin.shutdown() }
    let result = await place.warm("--timeout", "1", "--retries", "0", "--limit", "3")
    #expect(result.status == 4, "\(result.errors)")
    #expect(try await place.storedCount() == 0)
  }

  @Test func `a cache directory that cannot be opened is status 5`() async throws {
    let directory = TemporaryDirectory()
    let file = "\(directory.path)/file"
    fclose(fopen(file, "w"))
    for arguments in [
      ["warm", "--list", "trending", "--demo"], ["ls"], ["stats"], ["clear", "--json"],
      ["evict", "/a.jpg"], ["pin", "/a.jpg", "--json"], ["unpin", "/a.jpg"], ["trim", "--to", "0"],
      ["export", "--to", "\(directory.path)/out"], ["verify", "--json"], ["verify", "--repair"],
    ] {
      let result = await PosterCacheBinary.run(arguments + ["--cache-dir", file])
      #expect(result.status == 5)
      #expect(result.output.isEmpty)
      #expect(result.errorLines.count == 1, "\(result.errors)")
    }
    let nowhere = await PosterCacheBinary.run(["ls"], environment: [:])
    #expect(nowhere.status == 5)
    #expect(nowhere.errors.contains("--cache-dir"))
  }

  @Test(arguments: [
    ["ls"], ["ls", "--json"], ["ls", "--sort", "url"], ["stats", "--disk-limit", "1G"], ["clear"],
    ["evict", "/a.jpg"], ["pin", "/a.jpg"], ["unpin", "/a.jpg"], ["trim", "--to", "1M"],
    ["export", "--to", "/nonexistent/out"],
  ])
  func `a cache that does not exist is status 5, and still does not`(
    arguments: [String]
  ) async throws {
    let directory = TemporaryDirectory()
    let missing = "\(directory.path)/parent/cache"
    let result = await PosterCacheBinary.run(arguments + ["--cache-dir", missing])
    #expect(result.status == 5)
    #expect(result.output.isEmpty)
    #expect(result.errors == "postercache: there is no cache in \(missing)")
    #expect(access("\(directory.path)/parent", F_OK) != 0)
  }

  @Test func `a port in use is status 4`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let result = await PosterCacheBinary.run([
      "demo-origin", "--listen", "127.0.0.1:\(place.origin.port)",
    ])
    #expect(result.status == 4)
    #expect(result.errorLines.count == 1)
    #expect(result.errors.contains("\(place.origin.port)"))
  }

  @Test func `a reader that goes away is no failure, a full disk is one`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--limit", "3").status == 0)
    let first = await place.run("ls")
    let address = try #require(
      first.output.split(separator: "\n").first?.split(separator: " ").last)
    for arguments in [
      ["ls"], ["ls", "--json"], ["ls", "--sort", "size"], ["stats"], ["--help"], ["--version"],
      ["get", String(address)], ["trim", "--to", "1G"], ["pin", String(address)],
      ["export", "--json", "--to", "\(place.directory.path)/out"],
    ] {
      let arguments = arguments + ["--cache-dir", place.cache]
      let closed = await PosterCacheBinary.run(arguments, standardOutput: .closedPipe)
      #expect(closed.status == 0, "\(arguments)")
      #expect(closed.errors.isEmpty)
      let full = await PosterCacheBinary.run(arguments, standardOutput: .file("/dev/full"))
      #expect(full.status == 1, "\(arguments)")
      #expect(full.errors.contains("No space left"))
    }
  }
}
