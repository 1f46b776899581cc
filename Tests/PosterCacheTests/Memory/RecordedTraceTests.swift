import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

/// Requests that were really made, and how many of them an exact LRU hits.
@Suite(.timeLimit(.minutes(2)), .enabled(if: Corpus.isAvailable))
struct RecordedTraceTests {
  private struct Answer: Decodable {
    struct Row: Decodable {
      let capacity: Int
      let hits: Int
      let evictions: Int
    }

    let requests: Int
    let unique: Int
    let lru: [Row]
  }

  @Test(arguments: ["web07", "web12"])
  func `hits on recorded traces are those of an exact LRU`(name: String) async throws {
    let answers = try JSONDecoder().decode(
      [String: Answer].self, from: Corpus.bytes("traces/lru_answers.json"))
    let answer = try #require(answers["cache2k/\(name)"])
    let trace = try await trace(name)
    try #require(trace.count == answer.requests)
    // One value a name: what is measured is the order.
    var values: [UInt32: StoredPoster] = [:]
    let metadata = SamplePoster.make(0, bytes: 4).metadata
    for number in Set(trace) {
      var generator = SeededGenerator(seed: UInt64(number))
      let key = CacheKey(high: UInt64(number), low: generator.next())
      values[number] = StoredPoster(
        key: key, metadata: metadata, body: PosterBody(copying: [UInt8(truncatingIfNeeded: number)])
      )
    }
    #expect(values.count == answer.unique)
    try #require(answer.lru.count == 4)
    for row in answer.lru {
      let cache = MemoryCache(limitBytes: row.capacity)
      var hits = 0
      for number in trace {
        let value = try #require(values[number])
        if cache.poster(for: value.key) != nil { hits += 1 } else { cache.insert(value) }
      }
      #expect(hits == row.hits, "capacity \(row.capacity)")
      #expect(trace.count - hits - cache.count == row.evictions, "capacity \(row.capacity)")
    }
  }

  /// A trace's names: four bytes each, the most significant first.
  private func trace(_ name: String) async throws -> [UInt32] {
    let xz = try #require(Program.path(of: "xz"), "xz is missing: apt-get install xz-utils")
    let file = try Corpus.filePath("traces/cache2k/\(name).trace.xz")
    let unpacked = await RunningCommand(path: xz, arguments: ["-dc", file], environment: [:])
      .result()
    try #require(unpacked.status == 0, "\(unpacked.errors)")
    let bytes = unpacked.standardOutput
    return stride(from: 0, to: bytes.count - 3, by: 4).map { start in
      bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
  }
}
