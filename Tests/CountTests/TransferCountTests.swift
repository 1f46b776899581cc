import FoundationEssentials
import PosterCache
import TestSupport
import Testing

@testable import postercache_bench

/// What transfers take, counted: connections, allocations and copies.
@Suite(
  .timeLimit(.minutes(5)),
  .enabled(if: NginxServer.isAvailable, "they come from nginx"))
struct TransferCountTests {
  private static let posterBytes = 40_000

  @Test(.enabled(if: CountedPrograms.isOptimised, "counts are those of optimised code"))
  func `a body is allocated once and copied once, and connections are used again`() async throws {
    try await withServer { server in
      let directory = TemporaryDirectory()
      let list = "\(directory.path)/list"
      let addresses = (0..<CountedWork.manyTransfers).map {
        server.address("/\($0 % 50).jpg?\($0)\n")
      }
      try addresses.joined().write(
        to: URL(filePath: list), atomically: false, encoding: .utf8)
      let fetch = try CountedPrograms.transfers(.fetch, list: list)
      let warm = try CountedPrograms.transfers(.warm, list: list)
      for program in [fetch, warm] {
        // Every request of a second round would be a reconnect otherwise.
        #expect(program.total(.connections, CountedWork.many) == Double(CountedWork.connections))
        func further(_ count: CountedProgram.Count) throws -> Double {
          try #require(program.further(count, CountedWork.few, CountedWork.many))
        }
        // The other large one is libcurl's buffer.
        let large = try further(.largeAllocations)
        #expect(large >= 2 && large <= 2.15, "\(large) large allocations a transfer")
        let copied = try further(.copiedBytes) / Double(Self.posterBytes)
        #expect(copied >= 1 && copied <= 1.1, "each byte copied \(copied) times")
      }
      let allocations = try #require(
        fetch.further(.allocations, CountedWork.few, CountedWork.many))
      #expect(allocations <= 120, "\(allocations) allocations a transfer")
      let written = try #require(
        warm.further(.writtenBytes, CountedWork.few, CountedWork.many))
      #expect(
        written >= 40_960 && written <= 1.25 * Double(Self.posterBytes), "\(written) bytes a poster"
      )
    }
  }

  @Test
  func `a thousand requests over sixteen connections open sixteen, cancelled ones among them`()
    async throws
  {
    try await withServer { server in
      var configuration = FetchConfiguration()
      configuration.connectionsPerHost = 16
      let fetcher = try Fetcher(configuration)
      let ended = Monitor((done: 0, cancelled: 0, failures: [PosterError]()))
      var tickets: [Ticket] = []
      for number in 0..<1000 {
        let address = try PosterAddress(server.address("/\(number % 50).jpg?\(number)"))
        tickets.append(
          fetcher.fetch(FetchRequest(address, priority: .background)) { result in
            ended.withLock { ended in
              switch result {
              case .success: ended.done += 1
              case .failure(let error) where error.code == .cancelled: ended.cancelled += 1
              case .failure(let error): ended.failures.append(error)
              }
            }
            ended.signal()
          })
      }
      // As a scroll does that turns back: what is far down the queue is not wanted any more.
      for ticket in tickets.suffix(300) { fetcher.drop(ticket) }
      let (done, cancelled, failures) = ended.wait(
        untilNanoseconds: { _ in nil },
        for: { $0.done + $0.cancelled + $0.failures.count == 1000 ? $0 : nil })
      #expect(failures.isEmpty)
      #expect(done >= 700)
      #expect(done + cancelled == 1000)
      #expect(fetcher.statistics.connectionsOpened <= 16)
      fetcher.shutdown()
    }
  }

  /// An nginx with fifty posters of 40,000 bytes.
  private func withServer(_ body: (NginxServer) async throws -> Void) async throws {
    let directory = TemporaryDirectory()
    let picture = Data(
      [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 7, count: Self.posterBytes - 4))
    for number in 0..<50 {
      try picture.write(to: URL(filePath: "\(directory.path)/\(number).jpg"))
    }
    let server = try NginxServer(root: directory.path, directory: directory.path)
    do {
      try await body(server)
    } catch {
      _ = await server.stop()
      throw error
    }
    #expect(await server.stop() == [])
  }
}
