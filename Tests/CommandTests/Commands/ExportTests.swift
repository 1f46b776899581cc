import FoundationEssentials
import Glibc
import PosterCache
import PosterServer
import TestSupport
import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(3)))
struct ExportTests {
  @Test func `everything stored becomes plain files, named by the path`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let images = place.origin.images.canonical
    for path in ["w92/a.jpg", "w342/b.png", "w92/c.jpg", "w342/c.jpg"] {
      #expect(await place.run("get", "\(images)\(path)", "-o", "/dev/null").status == 0)
    }
    let before = try await listed(place)
    let target = "\(place.directory.path)/made/on the way"
    let result = await place.run("export", "--json", "--to", target)
    #expect(result.status == 0 && result.errors.isEmpty)
    #expect(result.keys == ["files", "bytes", "missing", "failed"])
    let marks = ["w92", "w342"].map { size in
      // A literal address, which parses.
      CacheKey(try! PosterAddress("\(images)\(size)/c.jpg")).description.prefix(16)
    }
    let expected = [
      "a.jpg": picture("a.jpg", .w92), "b.png": picture("b.png", .w342),
      "c-\(marks[0]).jpg": picture("c.jpg", .w92), "c-\(marks[1]).jpg": picture("c.jpg", .w342),
    ]
    #expect(try files(in: target) == expected)
    let bytes = expected.values.reduce(0) { $0 + $1.count }
    #expect(
      try result.decoded(as: [String: Int].self)
        == ["files": 4, "bytes": bytes, "missing": 0, "failed": 0])
    // Exporting leaves the order of eviction as it was.
    #expect(try await listed(place) == before)
    let again = await place.run("export", "--to", target)
    #expect(
      again.output == "exported 4 posters, \(ByteSize(bytes: bytes)), to \(target)\n")
    #expect(try files(in: target) == expected)
  }

  @Test func `an export into a cache is refused, and the rest of one that died is removed`()
    async throws
  {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(
      await place.run("get", "\(place.origin.images.canonical)w92/a.jpg", "-o", "/dev/null").status
        == 0)
    for target in ["", "/segments", "/index/", "/new"].map({ place.cache + $0 }) {
      let before = CacheFiles.names(in: target)
      let result = await place.run("export", "--to", target)
      #expect(result.status == 2 && result.errorLines.count == 1, "\(result.errors)")
      #expect(CacheFiles.names(in: target) == before)
    }
    let target = "\(place.directory.path)/out"
    mkdir(target, 0o755)
    // No process has a number as large as this one.
    for name in [".postercache-2000000000-0.tmp", ".postercache-1-0.tmp", ".postercache-x.tmp"] {
      close(open("\(target)/\(name)", O_CREAT | O_WRONLY, 0o644))
      // Two hours ago.
      var times = [timeval](repeating: timeval(tv_sec: time(nil) - 7200, tv_usec: 0), count: 2)
      utimes("\(target)/\(name)", &times)
    }
    #expect(await place.run("export", "--to", target).status == 0)
    #expect(
      CacheFiles.names(in: target) == [".postercache-1-0.tmp", ".postercache-x.tmp", "a.jpg"])
  }

  @Test func `one size is exported under plain names`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let images = place.origin.images.canonical
    for path in ["w92/a.jpg", "w342/a.jpg", "w342/b.jpg"] {
      #expect(await place.run("get", "\(images)\(path)", "-o", "/dev/null").status == 0)
    }
    let target = "\(place.directory.path)/out"
    #expect(await place.run("export", "--to", target, "--size", "w342").status == 0)
    #expect(
      try files(in: target) == [
        "a.jpg": picture("a.jpg", .w342), "b.jpg": picture("b.jpg", .w342),
      ])
    let none = await place.run("export", "--to", target, "--size", "w780")
    #expect(none.status == 0 && none.output == "exported 0 posters, 0 B, to \(target)\n")
  }

  @Test func `a list's posters are exported if they are stored, and never fetched`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--limit", "5").status == 0)
    #expect(
      await place.run("get", "\(place.origin.images)w92/other.jpg", "-o", "/dev/null").status == 0)
    let requests = place.imageRequests
    let target = "\(place.directory.path)/out"
    let whole = await export(place, ["--limit", "5", "--json", "--to", target])
    #expect(whole.status == 0, "\(whole.errors)")
    #expect(try whole.decoded(as: [String: Int].self)["files"] == 5)
    let names = Set(
      try await listed(place).filter { $0.contains("/w342/") }
        .compactMap { $0.split(separator: "/").last.map(String.init) })
    #expect(Set(try files(in: target).keys) == names && names.count == 5)

    let part = await export(place, ["--limit", "8", "--json", "-v", "--to", target])
    #expect(part.status == 1)
    let counts = try part.decoded(as: [String: Int].self)
    #expect(counts["files"] == 5 && counts["missing"] == 3 && counts["failed"] == 0)
    #expect(part.errorLines.contains("3 of 8 posters not in the cache"))
    #expect(part.errorLines.count { $0.hasPrefix("not in the cache: \(place.origin.images)") } == 3)
    let otherSize = await export(place, ["--limit", "2", "--size", "w92", "--to", target])
    #expect(otherSize.status == 1 && otherSize.errors == "2 of 2 posters not in the cache")
    #expect(place.imageRequests == requests)
  }

  @Test func `a list that cannot be had exports nothing, with the list's status`() async throws {
    let place = try Workplace([Fault("/3/*", .status(500))])
    defer { place.origin.shutdown() }
    #expect(
      await place.run("get", "\(place.origin.images)w92/a.jpg", "-o", "/dev/null").status == 0)
    let target = "\(place.directory.path)/out"
    let down = await export(place, ["--retries", "0", "--json", "--to", target])
    #expect(down.status == 4 && down.errorLines.count == 1)
    #expect(down.output == #"{"files":0,"bytes":0,"missing":0,"failed":0}"# + "\n")
    place.origin.setFaults([Fault("/3/*", .status(401))])
    #expect(await export(place, ["--to", target]).status == 3)
    #expect(access(target, F_OK) != 0)
  }

  @Test func `the demo list is exported without network or key`() async throws {
    let directory = TemporaryDirectory()
    let cache = ["--cache-dir", "\(directory.path)/cache", "--list", "trending", "--demo"]
    #expect(await PosterCacheBinary.run(["warm", "--limit", "3"] + cache).status == 0)
    let result = await PosterCacheBinary.run(
      ["export", "--limit", "3", "--to", "\(directory.path)/out"] + cache)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try files(in: "\(directory.path)/out").count == 3)
  }

  @Test func `links in the directory are replaced, and what they lead to stays`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let images = place.origin.images.canonical
    for name in ["link.jpg", "dangling.jpg", "folder.jpg", "file.jpg"] {
      #expect(await place.run("get", "\(images)w92/\(name)", "-o", "/dev/null").status == 0)
    }
    let base = place.directory.path
    try FileManager.default.createDirectory(
      atPath: "\(base)/out/folder.jpg", withIntermediateDirectories: true)
    try Data("precious".utf8).write(to: URL(filePath: "\(base)/precious"))
    try Data("old".utf8).write(to: URL(filePath: "\(base)/out/file.jpg"))
    symlink("\(base)/precious", "\(base)/out/link.jpg")
    symlink("\(base)/nowhere", "\(base)/out/dangling.jpg")
    // The way to the directory may lead through a link.
    symlink("\(base)/out", "\(base)/way")
    let result = await place.run("export", "--json", "--to", "\(base)/way")
    #expect(result.status == 1)
    let counts = try result.decoded(as: [String: Int].self)
    #expect(counts["files"] == 3 && counts["failed"] == 1 && counts["missing"] == 0)
    #expect(result.errorLines.count == 1)
    #expect(
      result.errors.hasPrefix("postercache: cannot write \(base)/way/folder.jpg: Is a directory"))
    #expect(try Data(contentsOf: URL(filePath: "\(base)/precious")) == Data("precious".utf8))
    #expect(access("\(base)/nowhere", F_OK) != 0)
    rmdir("\(base)/out/folder.jpg")
    let expected = ["link.jpg", "dangling.jpg", "file.jpg"].map { ($0, picture($0, .w92)) }
    #expect(try files(in: "\(base)/out") == Dictionary(uniqueKeysWithValues: expected))
    for (name, _) in expected {
      var status = stat()
      #expect(lstat("\(base)/out/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFREG)
    }
  }

  @Test func `a temporary file never takes the place of one that is there`() throws {
    let directory = TemporaryDirectory()
    let base = directory.path
    let target = try ExportDirectory("\(base)/out")
    symlink("\(base)/victim", "\(base)/out/.postercache-\(getpid())-0.tmp")
    let poster = SamplePoster.make(1)
    try target.write(poster.body, as: "a.jpg")
    #expect(access("\(base)/victim", F_OK) != 0)
    #expect(unlink("\(base)/out/.postercache-\(getpid())-0.tmp") == 0)
    #expect(try files(in: "\(base)/out") == ["a.jpg": poster.body.bytes])
    // Whoever has the directory open goes on in it, wherever its name leads by then.
    #expect(rename("\(base)/out", "\(base)/moved") == 0)
    symlink("\(base)/elsewhere", "\(base)/out")
    try target.write(poster.body, as: "b.jpg")
    #expect(try Set(names(in: "\(base)/moved")) == ["a.jpg", "b.jpg"])
    #expect(access("\(base)/elsewhere", F_OK) != 0)
  }

  @Test func `hostile addresses write nothing outside the directory`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let cache = try DiskCache(directory: place.cache)
    let body = SamplePoster.make(1)
    for path in [
      "..%2F..%2Fevil", "%2E%2E%2Fevil", ".bashrc", "", "a%00b", "x/..%5Cy",
      String(repeating: "z", count: 5000),
    ] {
      cache.insert(
        StoredPoster(
          metadata: PosterMetadata(
            address: try PosterAddress("http://h.test/\(path)"), type: .jpeg,
            storedAt: body.metadata.storedAt, expiresAt: body.metadata.expiresAt),
          body: body.body))
    }
    cache.close()
    let base = "\(place.directory.path)/deep/er/out"
    #expect(await place.run("export", "--to", base).status == 0)
    #expect(
      Set(try files(in: base).keys) == [
        "_..%2F..%2Fevil.jpg", "_..%2Fevil.jpg", "_.bashrc.jpg", "_.jpg", "a%00b.jpg",
        "_..%5Cy.jpg", String(repeating: "z", count: 251) + ".jpg",
      ])
    #expect(try names(in: "\(place.directory.path)/deep") == ["er"])
    #expect(try names(in: "\(place.directory.path)/deep/er") == ["out"])
  }

  @Test func `a file that cannot be written is one line, and the rest goes on`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let cache = try DiskCache(directory: place.cache)
    for (number, bytes) in [(1, 2000), (2, 3 << 20), (3, 4000)] {
      cache.insert(SamplePoster.make(number, bytes: bytes))
    }
    cache.close()
    // Files of at most 2,048 blocks of 512 bytes: as on a full disk, writing fails half-way.
    let target = "\(place.directory.path)/out"
    let script =
      "trap '' XFSZ; ulimit -f 2048; exec '\(PosterCacheBinary.path)' export --json"
      + " --to '\(target)' --cache-dir '\(place.cache)'"
    let result = await RunningCommand(
      path: "/bin/sh", arguments: ["-c", script], environment: [:]
    ).result()
    #expect(result.status == 1, "\(result.errors)")
    #expect(
      result.errors
        == "postercache: cannot write \(target)/poster2.jpg: File too large:"
        + " \(SamplePoster.request(2).address)")
    let counts = try result.decoded(as: [String: Int].self)
    #expect(counts == ["files": 2, "bytes": 6000, "missing": 0, "failed": 1])
    #expect(
      try files(in: target) == [
        "poster1.jpg": SamplePoster.make(1).body.bytes,
        "poster3.jpg": SamplePoster.make(3, bytes: 4000).body.bytes,
      ])
  }

  @Test func `a directory that cannot be made is one line and status 1`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(
      await place.run("get", "\(place.origin.images)w92/a.jpg", "-o", "/dev/null").status == 0)
    let file = "\(place.directory.path)/file"
    fclose(fopen(file, "w"))
    for target in [file, "\(file)/below", "/proc/nowhere/out"] {
      let result = await place.run("export", "--to", target)
      #expect(result.status == 1)
      #expect(result.errorLines.count == 1 && result.output.isEmpty)
      #expect(result.errors.hasPrefix("postercache: cannot write to \(target): "))
    }
  }

  @Test func `SIGINT while the list loads ends it, and nothing is written`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--limit", "3").status == 0)
    let before = place.origin.requestCount(of: "/3/*")
    let gate = place.origin.hold("/3/*")
    let target = "\(place.directory.path)/out"
    let command = PosterCacheBinary.start(
      // The first page is kept since the list was warmed.
      exportArguments(place, ["--to", target, "--media", "tv"]),
      environment: ["TMDB_API_KEY": Workplace.key])
    await place.origin.waitForRequests(before + 1, of: "/3/*")
    command.send(SIGINT)
    let result = await command.result()
    #expect(result.status == 130)
    #expect(result.output.isEmpty)
    #expect(result.errors == "interrupted: 0 of 0 posters exported, run it again for the rest")
    #expect(access(target, F_OK) != 0)
    gate.release()
  }

  @Test func `SIGINT between two files leaves whole files only`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--pages", "10", "--size", "w92").status == 0)
    let target = "\(place.directory.path)/out"
    let command = PosterCacheBinary.start(
      ["export", "-v", "--to", target, "--cache-dir", place.cache])
    #expect(await command.waitForErrorLines(1, containing: "wrote"))
    command.send(SIGINT)
    let result = await command.result()
    let written = try files(in: target)
    // It may have been faster than the signal.
    #expect(result.status == 130 || result.status == 0)
    #expect(result.errorLines.count { $0.hasPrefix("wrote ") } == written.count)
    for (name, bytes) in written { #expect(bytes == picture(name, .w92), "\(name)") }
    if result.status == 130 {
      #expect(result.output.isEmpty)
      #expect(result.errorLines.last?.hasPrefix("interrupted: \(written.count) of ") == true)
    }
  }

  // MARK: -

  private func exportArguments(_ place: Workplace, _ more: [String]) -> [String] {
    [
      "export", "--list", "trending", "--cache-dir", place.cache,
      "--api", place.origin.api.canonical, "--images", place.origin.images.canonical,
    ] + more
  }

  /// `export --list trending` against the origin.
  private func export(_ place: Workplace, _ more: [String]) async -> PosterCacheBinary.Result {
    await PosterCacheBinary.run(
      exportArguments(place, more), environment: ["TMDB_API_KEY": Workplace.key])
  }

  private func picture(_ name: String, _ size: PosterSize) -> [UInt8] {
    DemoPoster.encode(name: name, size: size)
  }

  private struct Entry: Decodable {
    var url: String
  }

  private func listed(_ place: Workplace) async throws -> [String] {
    try await place.run("ls", "--json").decoded(as: [Entry].self).map(\.url)
  }

  private func names(in directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory)
  }

  /// All files of `directory`, temporary and hidden ones included, with their bytes.
  private func files(in directory: String) throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in try names(in: directory) {
      files[name] = Array(try Data(contentsOf: URL(filePath: "\(directory)/\(name)")))
    }
    return files
  }
}
