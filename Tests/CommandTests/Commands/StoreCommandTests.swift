import Glibc
import PosterCache
import PosterServer
import TestSupport
import Testing

/// `evict`, `pin`, `unpin`, `trim`, the orders of `ls`, and `warm --pin`.
@Suite(.timeLimit(.minutes(3)))
struct StoreCommandTests {
  @Test func `evict removes what is named, and tells what is not there`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let images = place.origin.images.canonical
    for name in ["a.jpg", "b.jpg", "c.jpg"] {
      #expect(await place.run("get", "\(images)w92/\(name)", "-o", "/dev/null").status == 0)
    }
    let result = await place.run(
      "evict", "--json", "\(images)w92/a.jpg", "\(images)w92/x.jpg?key=secret", "/c.jpg", "/a.jpg",
      "--size", "w92", "--images", images)
    #expect(result.status == 1)
    #expect(result.keys == ["removed", "bytes", "missing"])
    let bytes = size("a.jpg", .w92) + size("c.jpg", .w92)
    // a.jpg is named twice: by its address and by its path.
    #expect(
      try result.decoded(as: [String: Int].self)
        == ["removed": 2, "bytes": bytes, "missing": 1])
    #expect(result.errors == "postercache: not in the cache: \(images)w92/x.jpg?key=…")
    #expect(try await listed(place) == ["\(images)w92/b.jpg"])
    let last = await place.run("evict", "\(images)w92/b.jpg")
    #expect(last.status == 0 && last.errors.isEmpty)
    #expect(
      last.output == "removed 1 poster, \(ByteSize(bytes: size("b.jpg", .w92)))\n")
    #expect(try await place.storedCount() == 0)
    // Without --size it is w342 that is meant.
    let other = await place.run("evict", "/b.jpg", "/c.jpg", "--images", images)
    #expect(other.status == 1)
    #expect(
      other.errorLines
        == ["b", "c"].map {
          "postercache: not in the cache: \(images)w342/\($0).jpg"
        })
    #expect(other.output == "removed 0 posters, 0 B\n")
  }

  @Test func `pinned posters survive trim, and are evicted once they are unpinned`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let images = place.origin.images.canonical
    let addresses = ["a.jpg", "b.jpg", "c.jpg"].map { "\(images)w92/\($0)" }
    for address in addresses {
      #expect(await place.run("get", address, "-o", "/dev/null").status == 0)
    }
    let pin = await place.run("pin", "--json", addresses[0], addresses[1])
    #expect(pin.status == 0 && pin.errors.isEmpty)
    #expect(pin.keys == ["pinned", "bytes", "missing"])
    let bytes = size("a.jpg", .w92) + size("b.jpg", .w92)
    #expect(
      try pin.decoded(as: [String: Int].self) == ["pinned": 2, "bytes": bytes, "missing": 0])
    #expect(try await listed(place) == [addresses[1], addresses[0], addresses[2]])
    let stats = try await place.run("stats", "--json").decoded(as: [String: Int].self)
    let blocks = try #require(stats["pinned_bytes"])
    #expect(blocks % 4096 == 0 && blocks > bytes && blocks < bytes + 3 * 4096)

    let trim = await place.run("trim", "--to", "0", "--json")
    #expect(trim.status == 0)
    #expect(trim.keys == ["removed", "bytes"])
    #expect(
      try trim.decoded(as: [String: Int].self)
        == ["removed": 1, "bytes": size("c.jpg", .w92)])
    let total = ByteSize(bytes: blocks)
    #expect(
      trim.errors == "pinned posters (\(total)) keep the cache at \(total), above 0 B")
    #expect(await place.run("trim", "--to", "0", "-q").errors.isEmpty)
    #expect(try await listed(place) == [addresses[1], addresses[0]])

    let unpin = await place.run("unpin", addresses[1], addresses[2], addresses[0])
    #expect(unpin.status == 1)
    #expect(unpin.errors == "postercache: not in the cache: \(addresses[2])")
    #expect(unpin.output == "unpinned 2 posters, \(ByteSize(bytes: bytes))\n")
    let unpinned = try await place.run("stats", "--json").decoded(as: [String: Int].self)
    #expect(unpinned["pinned_bytes"] == 0 && unpinned["bytes"] == blocks)
    let rest = await place.run("trim", "--to=0")
    #expect(rest.status == 0 && rest.errors.isEmpty)
    #expect(rest.output == "removed 2 posters, \(ByteSize(bytes: bytes))\n")
    #expect(try await place.storedCount() == 0)
  }

  @Test
  func `trim evicts no more than it must, the least recently used first, and keeps the limit`()
    async throws
  {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--limit", "12").status == 0)
    let before = try await listed(place)
    let stats = try await place.run("stats", "--json").decoded(as: [String: Int].self)
    let bytes = try #require(stats["bytes"])
    #expect(
      await place.run("trim", "--to", "\(bytes)").output == "removed 0 posters, 0 B\n")
    let trim = try await place.run("trim", "--to", "\(bytes - 1)", "--json")
      .decoded(as: [String: Int].self)
    #expect(trim["removed"] == 1)
    #expect(try await listed(place) == before.dropLast())
    let after = try await place.run("stats", "--json").decoded(as: [String: Int].self)
    #expect(after["limit"] == 1 << 30 && after["evictions"] == 1)
  }

  @Test func `ls sorts by size, by address, or as they are evicted`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--limit", "6").status == 0)
    let images = place.origin.images.canonical
    // The same picture under two addresses has one size.
    for query in ["?b", "?a"] {
      #expect(
        await place.run("get", "\(images)w92/Z.jpg\(query)", "-o", "/dev/null").status == 0)
    }
    let recent = try await entries(place)
    #expect(recent.map(\.url).prefix(2) == ["\(images)w92/Z.jpg?a", "\(images)w92/Z.jpg?b"])
    #expect(try await entries(place, "--sort", "lru") == recent)
    let byAddress = recent.sorted { Array($0.url.utf8).lexicographicallyPrecedes($1.url.utf8) }
    #expect(try await entries(place, "--sort", "url") == byAddress)
    let bySize = try await entries(place, "--sort=size")
    #expect(bySize.map(\.bytes) == recent.map(\.bytes).sorted(by: >))
    #expect(Set(bySize.map(\.url)) == Set(recent.map(\.url)))
    let twins = bySize.map(\.url).filter { $0.contains("Z.jpg") }
    #expect(twins == ["\(images)w92/Z.jpg?a", "\(images)w92/Z.jpg?b"])
    let plain = await place.run("ls", "--sort", "url")
    #expect(
      plain.output.split(separator: "\n").map { $0.split(separator: " ").last.map(String.init) }
        == byAddress.map(\.url))
  }

  @Test func `warm --pin pins what is stored at the end, hits as well, and no failure`()
    async throws
  {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--limit", "4").status == 0)
    let first = try await entries(place)
    #expect(first.allSatisfy { !$0.pinned })
    let result = await place.warm("--limit", "8", "--pin")
    #expect(result.status == 0)
    #expect(try result.warmReport.hits == 4)
    #expect(try await entries(place).map(\.pinned) == Array(repeating: true, count: 8))
    let trimmed = await place.run("trim", "--to", "0", "--json")
    #expect(try trimmed.decoded(as: [String: Int].self)["removed"] == 0)
    place.origin.setFaults([Fault("/t/p/w92/*", .status(404))])
    let failing = await place.warm("--limit", "8", "--size", "w92", "--pin")
    #expect(failing.status == 1)
    #expect(try failing.warmReport.failed == 8)
    let text = await PosterCacheBinary.run(
      ["warm", "--pin"]
        + place.warmArguments(["--limit", "9"]).dropFirst().filter { $0 != "--json" },
      environment: ["TMDB_API_KEY": Workplace.key])
    #expect(text.status == 0)
    #expect(text.output.contains("\n  pinned   9\n"), "\(text.output)")
    #expect(try await entries(place).count(where: \.pinned) == 9)
  }

  // MARK: -

  private struct Entry: Decodable, Equatable {
    var url: String
    var bytes: Int
    var pinned: Bool
  }

  private func entries(_ place: Workplace, _ options: String...) async throws -> [Entry] {
    let result = await PosterCacheBinary.run(
      ["ls", "--json", "--cache-dir", place.cache] + options)
    return try result.decoded(as: [Entry].self)
  }

  private func listed(_ place: Workplace) async throws -> [String] {
    try await entries(place).map(\.url)
  }

  private func size(_ name: String, _ size: PosterSize) -> Int {
    DemoPoster.encode(name: name, size: size).count
  }
}
