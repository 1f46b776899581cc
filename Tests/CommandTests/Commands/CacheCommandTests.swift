import FoundationEssentials
import Glibc
import PosterCache
import PosterServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct CacheCommandTests {
  @Test func `ls lists the most recently used first`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let addresses = ["a.jpg", "b.png", "c.jpg"].map { "\(place.origin.images)w92/\($0)" }
    for address in addresses + [addresses[0]] {
      #expect(await place.run("get", address).status == 0)
    }
    let plain = await place.run("ls")
    #expect(
      plain.output.split(separator: "\n").map { $0.split(separator: " ").last.map(String.init) }
        == [addresses[0], addresses[2], addresses[1]])
    let json = await place.run("ls", "--json")
    #expect(
      json.keys == ["key", "url", "bytes", "content_type", "stored_at", "expires_at", "pinned"])
    let entries = try json.decoded(as: [Entry].self)
    #expect(entries.map(\.url) == [addresses[0], addresses[2], addresses[1]])
    #expect(entries.map(\.contentType) == ["image/jpeg", "image/jpeg", "image/png"])
    #expect(entries[0].bytes == DemoPoster.encode(name: "a.jpg", size: .w92).count)
    #expect(entries.allSatisfy { !$0.pinned })
  }

  @Test func `stats counts, clear removes`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--limit", "8").status == 0)
    let stats = await place.run("stats", "--json", "--disk-limit", "64M")
    #expect(
      stats.keys == [
        "entries", "bytes", "limit", "segments", "hits", "misses", "evictions", "corrupt",
        "pinned_bytes", "disk_bytes",
      ])
    let counts = try stats.decoded(as: [String: Int].self)
    #expect(counts["entries"] == 8 && counts["limit"] == 64 << 20 && counts["corrupt"] == 0)
    #expect(counts["pinned_bytes"] == 0)
    let text = await place.run("stats").output.split(separator: "\n")
    #expect(text.count == 9 && text[2] == "pinned     0 B")
    let onDisk = try ByteSize(bytes: #require(counts["disk_bytes"]))
    #expect(text[3] == "on disk    \(onDisk) really occupied")
    let listed = try await place.run("ls", "--json").decoded(as: [Entry].self)
    let cleared = await place.run("clear", "--json")
    #expect(cleared.status == 0)
    #expect(cleared.keys == ["removed", "bytes"])
    let removed = try cleared.decoded(as: [String: Int].self)
    #expect(removed == ["removed": 8, "bytes": listed.reduce(0) { $0 + $1.bytes }])
    #expect(await place.run("ls").output.isEmpty)
    #expect(await place.run("ls", "--json").output == "[\n]\n")
    // The limit stays with the directory.
    let later = try await place.run("stats", "--json").decoded(as: [String: Int].self)
    #expect(later["limit"] == 64 << 20 && later["entries"] == 0)
    #expect(await place.run("clear").output == "removed 0 posters, 0 B\n")
  }

  @Test func `stats tells what the files really occupy`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--limit", "20").status == 0)
    #expect(await place.run("pin", "/none.jpg").status == 1)
    var paths: [String] = []
    for folder in ["segments", "index"] {
      let directory = "\(place.cache)/\(folder)"
      paths += try FileManager.default.contentsOfDirectory(atPath: directory).map {
        "\(directory)/\($0)"
      }
    }
    #expect(paths.count >= 3)
    let occupied = paths.reduce(0) { sum, path in
      var status = stat()
      return stat(path, &status) == 0 ? sum + Int(status.st_blocks) * 512 : sum
    }
    let stats = try await place.run("stats", "--json").decoded(as: [String: Int].self)
    #expect(stats["disk_bytes"] == occupied)
    #expect(try #require(stats["bytes"]) < occupied)
  }

  @Test func `a lower limit tells what it evicted, a higher or equal one nothing`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--pages", "3", "--size", "w780").status == 0)
    let before = try await place.run("stats", "--json").decoded(as: [String: Int].self)
    let lower = await place.run("stats", "--json", "--disk-limit", "1M")
    let after = try lower.decoded(as: [String: Int].self)
    let evicted = try #require(after["evictions"])
    #expect(try #require(before["entries"]) - #require(after["entries"]) == evicted && evicted > 1)
    #expect(lower.errors == "limit changed from 1.0 GiB to 1.0 MiB; \(evicted) posters evicted")
    #expect(await place.run("ls", "--disk-limit", "1M").errors.isEmpty)
    #expect(await place.run("ls", "--disk-limit", "2M").errors.isEmpty)
    #expect(await place.run("ls", "-q", "--disk-limit", "1M").errors.isEmpty)
    let picture = await place.run(
      "get", "\(place.origin.images)w92/a.jpg", "--disk-limit", "900K")
    #expect(picture.status == 0)
    #expect(picture.errors.hasPrefix("limit changed from 1.0 MiB to 900.0 KiB; "))
    #expect(picture.errorLines.count == 1)
  }

  @Test func `demo-origin tells where it listens, and ends with a signal`() async throws {
    let directory = TemporaryDirectory()
    let command = PosterCacheBinary.start(["demo-origin", "--fault", "/t/p/w92/bad.jpg=status:500"])
    let lines = await command.firstOutput().split(separator: "\n")
      .map { $0.split(separator: " ").map(String.init) }
    #expect(lines.map(\.first) == ["api", "images", "try"])
    let (api, images) = (lines[0][1], lines[1][1])
    #expect(images.hasPrefix("http://127.0.0.1:") && images.hasSuffix("/t/p/"))
    let picture = await PosterCacheBinary.run([
      "get", "\(images)w92/good.jpg", "--cache-dir", directory.path,
    ])
    #expect(picture.standardOutput == DemoPoster.encode(name: "good.jpg", size: .w92))
    let fault = await PosterCacheBinary.run([
      "get", "\(images)w92/bad.jpg", "--cache-dir", directory.path, "--retries", "0",
    ])
    #expect(fault.status == 4)
    #expect(
      lines[2].dropFirst() == [
        "postercache", "warm", "--list", "trending", "--api", api, "--images", images,
      ])
    let warm = await PosterCacheBinary.run(
      lines[2].dropFirst(2) + ["--limit", "3", "--json", "--cache-dir", directory.path])
    #expect(warm.status == 0, "\(warm.errors)")
    #expect(try warm.warmReport.fetched == 3)
    command.send(SIGTERM)
    let result = await command.result()
    #expect(result.status == 143)
    #expect(result.errors.isEmpty)
  }

  @Test func `demo-origin that listens on every address says so, and names one to ask`()
    async throws
  {
    let command = PosterCacheBinary.start(["demo-origin", "--listen", "0.0.0.0:0"])
    let lines = await command.firstOutput().split(separator: "\n")
      .map { $0.split(separator: " ").map(String.init) }
    #expect(lines.map(\.first) == ["api", "images", "try", "listen"])
    let api = lines[0][1]
    #expect(api.hasPrefix("http://127.0.0.1:") && api.hasSuffix("/3"))
    #expect(lines[3][1] == "0.0.0.0:\(api.dropFirst(17).dropLast(2))")
    command.send(SIGTERM)
    #expect(await command.result().status == 143)
  }

  @Test func `demo-origin wants a credential only when told to`() async throws {
    let directory = TemporaryDirectory()
    let command = PosterCacheBinary.start(["demo-origin", "--require-credential"])
    let lines = await command.firstOutput().split(separator: "\n")
      .map { $0.split(separator: " ").map(String.init) }
    let assignment = try #require(lines.last?.dropFirst().first).split(separator: "=")
    let arguments =
      lines[2].dropFirst(3) + ["--limit", "2", "--json", "--cache-dir", directory.path]
    #expect(await PosterCacheBinary.run(Array(arguments)).status == 3)
    let warm = await PosterCacheBinary.run(
      Array(arguments), environment: [String(assignment[0]): String(assignment[1])])
    #expect(warm.status == 0, "\(warm.errors)")
    command.send(SIGTERM)
    #expect(await command.result().status == 143)
  }

  @Test func `help and version need nothing`() async throws {
    for arguments in [["--help"], ["warm", "--help"], ["demo-origin", "-h"]] {
      let result = await PosterCacheBinary.run(arguments)
      #expect(result.status == 0 && result.errors.isEmpty)
      #expect(result.output.hasPrefix("usage: postercache"))
    }
    for (words, option) in [
      (["help"], ["--help"]), (["help", "warm"], ["warm", "--help"]),
      (["help", "demo-origin"], ["demo-origin", "-h"]),
    ] {
      let result = await PosterCacheBinary.run(words)
      #expect(result.status == 0 && result.errors.isEmpty)
      #expect(result.output == (await PosterCacheBinary.run(option)).output)
    }
    let version = await PosterCacheBinary.run(["-V"])
    #expect(version.output == "postercache \(postercacheVersion)\n" && version.status == 0)
  }

  private struct Entry: Decodable {
    var url: String
    var bytes: Int
    var contentType: String
    var pinned: Bool
  }
}
