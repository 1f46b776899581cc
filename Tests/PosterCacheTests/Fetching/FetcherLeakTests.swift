import CTestSupport
import Glibc
import TestSupport
import Testing

@testable import PosterCache

/// Many transfers leave nothing behind.
@Suite(.timeLimit(.minutes(5)), .enabled(if: NginxServer.isAvailable))
struct FetcherLeakTests {
  @Test func `2,000 transfers over HTTP/1_1 leave nothing`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      try await Self.transfer { _ in .plain }
    }
    check(result?.standardOutputContent)
  }

  @Test func `2,000 transfers over HTTPS leave nothing`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      try await Self.transfer { .tls($0) }
    }
    check(result?.standardOutputContent)
  }

  @Test func `2,000 transfers over HTTP/2 leave nothing`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
      try await Self.transfer { .http2($0) }
    }
    check(result?.standardOutputContent)
  }

  /// Bytes that 2,000 transfers may leave on the heap: less than 64 each, where one leaked header list
  /// would be more.
  private static let allowance = 128 << 10

  private func check(_ output: [UInt8]?) {
    let lines = String(decoding: output ?? [], as: UTF8.self).split(separator: "\n")
    let values = lines.compactMap { line -> (Substring, Int)? in
      let words = line.split(separator: " ")
      guard words.count == 2, let value = Int(words[1]) else { return nil }
      return (words[0], value)
    }
    let found = Dictionary(values) { $1 }
    #expect(found["pictures"] == 3000)
    #expect(found["descriptors"] == 0, "\(lines)")
    // A sanitizer's allocator says nothing.
    #expect((found["growth"] ?? .max) < Self.allowance, "\(lines)")
  }

  /// Makes 500 transfers and then 2,000, and prints what the latter left on the heap, and the
  /// descriptors that all have left. In a process of its own.
  private static func transfer(
    _ transport: (TestCertificate) -> NginxServer.Transport
  ) async throws {
    let directory = TemporaryDirectory()
    let certificate = try await TestCertificate(directory: directory.path)
    let root = TemporaryDirectory()
    let file = open("\(root.path)/a.jpg", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    let picture = TestPicture.jpeg(filler: 20_000)
    precondition(write(file, picture, picture.count) == picture.count, "cannot write")
    close(file)
    let server = try NginxServer(
      root: root.path, directory: directory.path, transport: transport(certificate))
    var configuration = FetchConfiguration.once
    configuration.certificateAuthoritiesFile = certificate.path
    let address = server.address("/a.jpg")
    // The first opens what belongs to nobody in particular, such as Dispatch's own descriptors.
    var pictures = try transfers(0, of: address, configuration)
    let before = openDescriptors()
    // Both with nothing in the pools of a fetcher, which hold now more and now fewer buffers.
    let heap = postercache_allocated_bytes()
    pictures += try transfers(2000, of: address, configuration)
    print("growth \(postercache_allocated_bytes() - heap)")
    print("pictures \(pictures)")
    let left = openDescriptors().filter { descriptor in
      before[descriptor.key] != descriptor.value && !descriptor.value.contains("timerfd")
    }
    print("descriptors \(left.count)")
    if !left.isEmpty { print("left \(left)") }
    _ = await server.stop()
  }

  /// Makes 500 transfers and then `count` with a fetcher of their own; returns how many pictures came.
  private static func transfers(
    _ count: Int, of address: String, _ configuration: FetchConfiguration
  ) throws -> Int {
    let fetcher = try Fetcher(configuration)
    defer { fetcher.shutdown() }
    return try transfers(500 + count, of: address, with: fetcher)
  }

  /// Makes `count` transfers, 50 at a time; returns how many pictures came.
  private static func transfers(
    _ count: Int, of address: String, with fetcher: Fetcher
  ) throws -> Int {
    var pictures = 0
    for round in 0..<count / 50 {
      let completions = Completions()
      for number in 0..<50 {
        try fetcher.fetch("\(address)?\(round)-\(number)", into: completions)
      }
      pictures += completions.wait(50).count { $0.response != nil }
    }
    return pictures
  }
}
