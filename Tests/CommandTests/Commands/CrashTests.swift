import Glibc
import PosterCache
import PosterServer
import TestSupport
import Testing

/// What a killed process leaves, and what several processes make of one directory.
@Suite(.timeLimit(.minutes(3)))
struct CrashTests {
  @Test func `kill -9 at any moment leaves whole posters only, and the next run goes on`()
    async throws
  {
    var generator = SeededGenerator()
    let place = try Workplace()
    defer { place.origin.shutdown() }
    var checked: Set<CacheKey> = []
    for round in 0..<12 {
      let context = "seed \(generator.seed), round \(round)"
      let size = ["w154", "w185", "w342"][round % 3]
      // Eight transfers at a time: while the next eight are held, the last eight are stored. The
      // process cannot end before it is killed, however long this test has to wait for its turn.
      var gate = place.origin.hold("/t/p/*")
      let command = PosterCacheBinary.start(
        place.warmArguments(["--pages", "all", "--size", size, "--connections", "8"]),
        environment: ["TMDB_API_KEY": Workplace.key])
      for _ in 0..<Int.random(in: 1...5, using: &generator) {
        await gate.waitForRequests(8)
        let next = place.origin.hold("/t/p/*")
        gate.release()
        gate = next
      }
      await gate.waitForRequests(Int.random(in: 1...8, using: &generator))
      command.send(SIGKILL)
      #expect(await command.result().status == 256 + SIGKILL, "\(context)")
      gate.release()
      try check(place, context, &checked)
    }
    let last = await place.warm("--pages", "2", "--size", "w154")
    #expect(last.status == 0, "\(last.errors)")
    #expect(try last.warmReport.failed == 0)
    checked = []
    try check(place, "seed \(generator.seed), at the end", &checked)
    // Nothing that a killed process had written without committing it takes up room.
    let statistics = try DiskCache(directory: place.cache).statistics()
    #expect(try segmentBlocks(place) == statistics.bytes)
    #expect(statistics.corrupt == 0)
  }

  @Test func `two processes warm one directory at once, and a third one clears it`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let sizes = ["w92", "w154"]
    async let first = place.warm("--pages", "6", "--size", sizes[0])
    async let second = place.warm("--pages", "6", "--size", sizes[1])
    await place.origin.waitForRequests(40, of: "/t/p/*")
    let clear = await place.run("clear")
    #expect(clear.status == 0, "\(clear.errors)")
    for result in await [first, second] {
      #expect(result.status == 0, "\(result.errors)")
      #expect(try result.warmReport.failed == 0)
    }
    var checked: Set<CacheKey> = []
    try check(place, "after clearing", &checked)
    for size in sizes {
      let again = await place.warm("--pages", "6", "--size", size)
      #expect(again.status == 0, "\(again.errors)")
    }
    try check(place, "at the end", &checked)
    let statistics = try DiskCache(directory: place.cache).statistics()
    #expect(statistics.entries == 2 * (try await place.warm("--pages", "6").warmReport.posters))
    #expect(statistics.corrupt == 0)
  }

  /// Every entry's bytes are the origin's, and the totals are those of the entries.
  ///
  /// - Parameter checked: posters that need not be compared again; the others are added.
  private func check(
    _ place: Workplace, _ context: String, _ checked: inout Set<CacheKey>
  ) throws {
    guard access(place.cache, F_OK) == 0 else { return }
    let cache = try DiskCache(directory: place.cache)
    var entries: [DiskEntry] = []
    try cache.forEachEntry { entry in
      entries.append(entry)
      return true
    }
    for entry in entries where checked.insert(entry.key).inserted {
      let request = PosterRequest(entry.metadata.address)
      let parts = request.address.canonical.split(separator: "/")
      let size = try #require(PosterSize(rawValue: String(parts[parts.count - 2])))
      let drawn = DemoPoster.encode(name: String(parts[parts.count - 1]), size: size)
      let isRight = try cache.poster(for: request)?.body == PosterBody(copying: drawn)
      #expect(isRight, "\(request.address), \(context)")
    }
    let statistics = try cache.statistics()
    #expect(statistics.entries == entries.count, "\(context)")
    #expect(statistics.corrupt == 0, "\(context)")
  }

  /// Bytes that the segment files really occupy.
  private func segmentBlocks(_ place: Workplace) throws -> Int {
    var sum = 0
    for number in 1..<200 {
      let digits = String(number)
      let name = String(repeating: "0", count: 8 - digits.count) + digits + ".seg"
      var status = stat()
      guard stat("\(place.cache)/segments/\(name)", &status) == 0 else { continue }
      sum += Int(status.st_blocks) * 512
    }
    return sum
  }
}
