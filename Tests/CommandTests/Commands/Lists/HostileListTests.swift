import FoundationEssentials
import Glibc
import PosterCache
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct HostileListTests {
  /// Pictures with names that want to be elsewhere; each is a whole address below the server's.
  private static let pictures = [
    "/a/..%2f..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/up.jpg", "/x/..", "/x/%2e%2e", "/.",
    "/.hidden", "/\(String(repeating: "long", count: 100)).jpg", "/ünïcödé/名前.jpg",
    "/a%0d%0aX-Evil:%201.jpg", "/nul%00.jpg", "/back\\slash\\..\\x", "/-rf", "/%2F%2Fhost/x",
    "/con.jpg?x=../../y", "/a%5c..%5cb",
  ]

  /// What is no picture of anybody's.
  private static let refused = [
    "file:///etc/passwd", "javascript:alert(1)", "http://user:pa55word@127.0.0.1/x.jpg",
    "/../../escape.jpg", "/%2e%2e/escape.jpg", "relative.jpg",
    "http://", "ftp://127.0.0.1/x.jpg", "http://h.test:99999/x.jpg",
  ]

  @Test func `what lists name stays inside the cache and the export`() async throws {
    let targets = Targets()
    let server = ScriptedServer { request in
      targets.add(request.target, request.headers.map { "\($0): \($1)" }.joined())
      return [.response(body: [0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3, 4, 0xFF, 0xD9])]
    }
    defer { server.stop() }
    let directory = TemporaryDirectory()
    let base = server.address("")
    let lines = Self.pictures.map { base + $0 } + Self.refused
    let list = "\(directory.path)/list.txt"
    try write(lines.joined(separator: "\r\n"), to: list)
    let feed = "\(directory.path)/feed.json"
    let entries = (lines + [base + "/split\r\nX-Evil: 1.jpg", base + "/mixed.jpg"]).map { line in
      ["type": "IMAGE_ONLY", "imageURL": line]
    }
    try write(
      String(decoding: JSONEncoder().encode(["data": entries]), as: UTF8.self), to: feed)
    let cache = "\(directory.path)/cache"
    for (name, source) in [("urls", list), ("feed", feed)] {
      let result = await PosterCacheBinary.run([
        "warm", "--list", name, "--from", source, "--json", "--cache-dir", cache,
      ])
      let report = try result.warmReport
      #expect(result.status == 0, "\(result.errors)")
      #expect(report.failures.isEmpty && report.posters >= Self.pictures.count - 3)
      #expect(report.skipped.unsupported >= Self.refused.count)
      #expect(report.faults.count == report.skipped.unsupported)
      #expect(!result.output.contains("pa55word") && !result.errors.contains("pa55word"))
      #expect(result.errorLines.allSatisfy { $0.hasPrefix("postercache: ") })
    }
    #expect(targets.all.allSatisfy { !$0.lowercased().contains("x-evil: ") })
    let listed = await PosterCacheBinary.run(["ls", "--json", "--cache-dir", cache])
    let stored = try listed.decoded(as: [Entry].self)
    let before = CacheFiles.names(in: directory.path)
    let target = "\(directory.path)/deep/er/out"
    let export = await PosterCacheBinary.run(["export", "--to", target, "--cache-dir", cache])
    #expect(export.status == 0, "\(export.errors)")
    let names = CacheFiles.names(in: target)
    #expect(names.count == stored.count)
    #expect(
      names.allSatisfy { name in
        !name.hasPrefix(".") && !name.contains("/") && name.utf8.count <= 255
          && name.hasSuffix(".jpg") && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
      }, "\(names)")
    #expect(CacheFiles.names(in: directory.path) == (before + ["deep"]).sorted())
    #expect(CacheFiles.names(in: "\(directory.path)/deep") == ["er"])
    #expect(CacheFiles.names(in: "\(directory.path)/deep/er") == ["out"])
    // Those of one list alone, by their addresses.
    let some = await PosterCacheBinary.run([
      "export", "--list", "urls", "--from", list, "--to", "\(directory.path)/some", "--json",
      "--cache-dir", cache,
    ])
    #expect(some.status == 0)
    #expect(
      try some.decoded(as: [String: Int].self)["files"]
        == CacheFiles.names(in: "\(directory.path)/some").count)
  }

  @Test func `an address with a zone is one, and only names what it says`() async throws {
    let directory = TemporaryDirectory()
    let list = "\(directory.path)/list.txt"
    try write("http://[FE80::1%25eth0]/x.jpg\nhttp://[fe80::1%25a/../b]/x\n", to: list)
    let result = await PosterCacheBinary.run([
      "warm", "--list", "urls", "--from", list, "--dry-run",
    ])
    #expect(result.status == 0)
    #expect(result.output == "http://[fe80::1%25eth0]/x.jpg\n", "\(result.errors)")
    #expect(result.errorLines.count == 2)
  }

  private struct Entry: Decodable {
    var url: String
  }

  /// What a server was asked for.
  private final class Targets: Sendable {
    private let heads = Lock<[String]>([])
    var all: [String] { heads.withLock { $0 } }
    func add(_ target: String, _ head: String) { heads.withLock { $0.append(target + head) } }
  }

  private func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
  }
}
