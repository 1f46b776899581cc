import FoundationEssentials
import Glibc
import PosterServer
import TestSupport
import Testing

@testable import PosterCache
@testable import postercache

@Suite(.timeLimit(.minutes(3)))
struct VerifyTests {
  @Test func `a sound cache is status 0`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--limit", "6").status == 0)
    let result = await place.run("verify", "--json")
    #expect(result.status == 0 && result.errors.isEmpty)
    #expect(
      result.keys == [
        "checked", "ok", "corrupt", "missing", "orphan_bytes", "repaired", "index",
      ])
    let found = try result.decoded(as: Report.self)
    #expect(found == Report(checked: 6, ok: 6))
    let plain = await place.run("verify")
    #expect(
      plain.output == """
        checked    6
        ok         6
        corrupt    0
        missing    0
        orphaned   0 B
        repaired   0

        """)
    let mended = await place.run("verify", "--repair", "--json")
    #expect(mended.status == 0)
    #expect(try mended.decoded(as: Report.self) == Report(checked: 6, ok: 6))
  }

  @Test func `a flipped byte is status 1 until it is repaired`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--limit", "6").status == 0)
    try flipByte(at: 500, in: "\(place.cache)/segments/00000001.seg")
    let found = await place.run("verify", "--json")
    #expect(found.status == 1)
    #expect(try found.decoded(as: Report.self) == Report(checked: 6, ok: 5, corrupt: 1))
    #expect(
      found.errors
        == "postercache: the cache in \(place.cache) is damaged: postercache verify --repair mends it"
    )
    // Looking changes nothing.
    #expect(try await place.storedCount() == 6)
    let repaired = await place.run("verify", "--repair", "--json")
    #expect(repaired.status == 0 && repaired.errors.isEmpty)
    let report = try repaired.decoded(as: Report.self)
    #expect(report.corrupt == 1 && report.repaired > 0 && report.index == "ok")
    #expect(try await place.storedCount() == 5)
    let after = try await place.run("verify", "--json").decoded(as: Report.self)
    #expect(after == Report(checked: 5, ok: 5))
  }

  @Test func `an index that is gone is rebuilt, and told in words`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--limit", "6").status == 0)
    for name in ["data.mdb", "lock.mdb"] { #expect(unlink("\(place.cache)/index/\(name)") == 0) }
    let found = await place.run("verify")
    #expect(found.status == 1)
    #expect(
      found.output.hasSuffix(
        "\nindex      missing: postercache verify --repair rebuilds it from the records\n"))
    #expect(found.errorLines.count == 1)
    let repaired = await place.run("verify", "--repair", "--json")
    #expect(repaired.status == 0, "\(repaired.errors)")
    #expect(try repaired.decoded(as: Report.self).index == "missing")
    #expect(try await place.storedCount() == 6)
    let after = await place.run("verify", "--json")
    #expect(after.status == 0)
    #expect(try after.decoded(as: Report.self) == Report(checked: 6, ok: 6))
    let again = await place.warm("--limit", "6")
    #expect(try again.warmReport.hits == 6)
  }

  @Test func `an index that is damaged is status 1, and every other command's 5`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--limit", "4").status == 0)
    // Both meta pages.
    for offset in [16, 4096 + 16] {
      try flipByte(at: offset, in: "\(place.cache)/index/data.mdb")
    }
    let found = await place.run("verify", "--json")
    #expect(found.status == 1)
    #expect(try found.decoded(as: Report.self).index == "damaged")
    #expect(await place.run("ls").status == 5)
    let repaired = await place.run("verify", "--repair")
    #expect(repaired.status == 0, "\(repaired.errors)")
    #expect(repaired.output.contains("\nindex      damaged, "))
    #expect(repaired.output.hasSuffix(": rebuilt from the records\n"))
    #expect(try await place.storedCount() == 4)
  }

  @Test func `verify sets a limit that is given, once the cache is sound`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--limit", "4").status == 0)
    #expect(await place.run("verify", "--disk-limit", "64M").status == 0)
    let stats = try await place.run("stats", "--json").decoded(as: [String: Int].self)
    #expect(stats["limit"] == 64 << 20)
  }

  @Test(arguments: [
    ["verify"], ["verify", "--repair"], ["verify", "--json", "--disk-limit", "1G"],
  ])
  func `where there is no cache it is status 5, and there still is none`(
    arguments: [String]
  ) async throws {
    let directory = TemporaryDirectory()
    let missing = "\(directory.path)/parent/cache"
    let result = await PosterCacheBinary.run(arguments + ["--cache-dir", missing])
    #expect(result.status == 5)
    #expect(result.output.isEmpty && result.errorLines.count == 1)
    #expect(access("\(directory.path)/parent", F_OK) != 0)
    let foreign = await PosterCacheBinary.run(arguments + ["--cache-dir", "/proc/self"])
    #expect(foreign.status == 5 && foreign.output.isEmpty)
  }

  @Test func `the words say what is wrong and what to do`() {
    var found = DiskVerification()
    #expect(!VerifyCommand.text(found, isRepairing: false).contains("index"))
    found.index = .damaged("page\n7")
    found.orphanBytes = 8192
    let text = VerifyCommand.text(found, isRepairing: false)
    #expect(text.contains("\norphaned   8.0 KiB\n"))
    #expect(
      text.hasSuffix(
        "\nindex      damaged, page?7: postercache verify --repair rebuilds it from the records\n"))
    #expect(
      VerifyCommand.text(found, isRepairing: true).hasSuffix(
        "\nindex      damaged, page?7: not rebuilt\n"))
    found.repaired = 1
    found.index = .missing
    #expect(
      VerifyCommand.text(found, isRepairing: true).hasSuffix(
        "\nindex      missing: rebuilt from the records\n"))
    #expect(
      VerifyCommand.json(found).text
        == #"{"checked":0,"ok":0,"corrupt":0,"missing":0,"orphan_bytes":8192,"repaired":1,"#
        + #""index":"missing"}"#)
  }

  @Test func `no page of the index can end a command without a word`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    #expect(await place.warm("--limit", "120", "--pages", "8").status == 0)
    let files = CacheFiles(place.cache)
    let sound = try Data(contentsOf: URL(filePath: "\(place.cache)/index/data.mdb"))
    var generator = SeededGenerator(seed: 7)
    for page in 0..<min(24, sound.count / 4096) {
      let noise = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &generator) }
      files.overwrite("index/data.mdb", at: page * 4096, with: noise)
      for command in [["ls"], ["stats"], ["trim", "--to", "1G"]] {
        let result = await PosterCacheBinary.run(command + ["--cache-dir", place.cache])
        #expect([0, 5].contains(result.status), "page \(page): \(command), \(result.errors)")
        let isExplained = result.errors.contains("postercache: ")
        #expect(isExplained == (result.status == 5), "page \(page): \(result.errors)")
      }
      files.overwrite("index/data.mdb", at: 0, with: Array(sound))
    }
    let verified = await place.run("verify")
    #expect(verified.status == 0, "\(verified.output) \(verified.errors)")
  }

  // MARK: -

  private struct Report: Decodable, Equatable {
    var checked = 0
    var ok = 0
    var corrupt = 0
    var missing = 0
    var orphanBytes = 0
    var repaired = 0
    var index = "ok"
  }

  private func flipByte(at offset: Int, in path: String) throws {
    let file = open(path, O_RDWR | O_CLOEXEC)
    try #require(file >= 0)
    defer { close(file) }
    var byte: UInt8 = 0
    #expect(pread(file, &byte, 1, off_t(offset)) == 1)
    byte ^= 0xFF
    #expect(pwrite(file, &byte, 1, off_t(offset)) == 1)
  }
}
