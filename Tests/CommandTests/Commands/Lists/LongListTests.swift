import Glibc
import PosterServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct LongListTests {
  @Test func `a list without an end is warmed while it comes, in constant memory`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let pipe = "\(place.directory.path)/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    let transfers = place.origin.hold("/t/p/*")
    let command = PosterCacheBinary.start([
      "warm", "--list", "urls", "--from", pipe, "--json", "--cache-dir", place.cache, "--images",
      place.origin.images.canonical,
    ])
    // Waits until the command reads.
    let writer = open(pipe, O_WRONLY | O_CLOEXEC)
    try #require(writer >= 0)
    let lines = (0..<200).map { "/n\($0).jpg\n" }.joined()
    write(lines, to: writer)
    // Nothing more comes yet, and the list has not ended.
    await transfers.waitForRequests(1)
    transfers.release()
    await place.origin.waitForRequests(200, of: "/t/p/*")
    for _ in 0..<100 { write(lines, to: writer) }
    let early = try peakKilobytes(of: command.processIdentifier)
    for _ in 0..<1_400 { write(lines, to: writer) }
    write("nothing\n", to: writer)
    let late = try peakKilobytes(of: command.processIdentifier)
    close(writer)
    let result = await command.result()
    #expect(result.status == 0)
    let report = try result.warmReport
    #expect(report.items == 300_201 && report.posters == 200 && report.fetched == 200)
    #expect(report.skipped == .init(noPath: 0, duplicate: 300_000, unsupported: 1))
    #expect(report.faults.map(\.place) == ["line 300201"])
    #expect(result.errorLines.count == 1 && result.errors.hasPrefix("postercache: \(pipe): line "))
    #expect(late - early < 8 * 1024, "\(early) KiB, then \(late) KiB")
    #expect(place.imageRequests == 200)
  }

  @Test func `standard input is read, and an interruption ends the wait for it`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let script = "printf '# two\\n/a.jpg\\r\\n\\n/b.jpg' | exec \"$0\" \"$@\""
    let piped = RunningCommand(
      path: "/bin/sh",
      arguments: [
        "-c", script, PosterCacheBinary.path, "warm", "--list", "urls", "--from", "-", "--json",
        "--cache-dir", place.cache, "--images", place.origin.images.canonical,
      ], environment: [:])
    let report = try await piped.result().warmReport
    #expect(report.items == 2 && report.fetched == 2)
    let pipe = "\(place.directory.path)/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    let waiting = PosterCacheBinary.start([
      "warm", "--list", "urls", "--from", pipe, "-v", "--cache-dir", place.cache, "--images",
      place.origin.images.canonical,
    ])
    let writer = open(pipe, O_WRONLY | O_CLOEXEC)
    write("/c.jpg\n", to: writer)
    #expect(await waiting.waitForErrorLines(1, containing: "fetched "))
    waiting.send(SIGINT)
    let result = await waiting.result()
    #expect(
      result.status == 130 && result.errorLines.last?.hasPrefix("interrupted: 1 of 1") == true)
    close(writer)
  }

  private func write(_ text: String, to file: CInt) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }

  /// The most memory that a process has had so far.
  private func peakKilobytes(of process: pid_t) throws -> Int {
    let file = try #require(fopen("/proc/\(process)/status", "r"))
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, CInt(line.count), file) != nil {
      let text = String(
        decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if text.hasPrefix("VmHWM:") {
        return try #require(text.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
      }
    }
    Issue.record("no VmHWM")
    return 0
  }
}
