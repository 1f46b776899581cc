import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import PosterCache

/// How many processes are killed.
private let crashes =
  ProcessInfo.processInfo.environment["POSTERCACHE_CRASHES"].flatMap { Int($0) } ?? 50

/// What `kill -9` leaves of a process that writes, at any moment.
///
/// `POSTERCACHE_CRASHES` sets how many processes are killed, 50 unless given.
@Suite(.timeLimit(.minutes(3 + crashes / 20)))
struct DiskCrashTests {
  /// Half of them where everything fits, half where every poster evicts others.
  private static let kinds = DiskInspection.places.flatMap { place in
    [(place, Int?.none), (place, 6 << 20)]
  }

  @Test(arguments: kinds)
  func `kill -9 at any moment costs nothing that was committed, and leaks nothing`(
    place: String, limit: Int?
  ) async throws {
    var generator = SeededGenerator()
    let directory = TemporaryDirectory(in: place)
    let inspection = DiskInspection(directory.path)
    // Everything is stored in one directory, so that what a crash leaves behind adds up.
    var survivors = Survivors(isLossless: limit == nil)
    let rounds = (crashes + Self.kinds.count - 1) / Self.kinds.count
    for round in 0..<rounds {
      let context = "seed \(generator.seed), round \(round), limit \(limit ?? 0) in \(place)"
      // Every other time somebody else has the directory open when the process dies.
      let witness = round % 2 == 1 ? try DiskCache(directory: directory.path) : nil
      let output = await killedWriter(directory.path, round, limit, &generator, context)
      survivors.read(output)
      if let witness {
        let refusal = witness.storing(TorturePoster.make(Self.marker, version: 2 * round))
        #expect(refusal == nil, "\(context)")
        try survivors.check(against: inspection.check(witness, context), context)
        witness.close()
      }
      try check(inspection, &survivors, round, context)
    }
  }

  /// A number that no process writes.
  private static let marker = TorturePoster.tinyNumbers

  /// Starts a writer, kills it at a random moment and returns what it printed.
  private func killedWriter(
    _ path: String, _ round: Int, _ limit: Int?, _ generator: inout SeededGenerator,
    _ context: String
  ) async -> String {
    let process = TortureProcess.start(
      "write", path, seed: generator.next(),
      ["count=200", "version=\(1 + round * 1_000_000)", "edits=\(limit == nil ? 3 : 7)"]
        + (limit.map { ["limit=\($0)"] } ?? []))
    // Now and then it is killed while it still opens the directory.
    let isEarly = Int.random(in: 0..<8, using: &generator) == 0
    let lines = isEarly ? 0 : Int.random(in: 1...150, using: &generator)
    #expect(await process.waitForOutputLines(lines), "\(context)")
    // Some system calls later: in the middle of something else.
    let calls = Int.random(in: 0...(isEarly ? 40_000 : 4000), using: &generator)
    for _ in 0..<calls { _ = DiskInspection.blockBytes("\(path)/format") }
    if Bool.random(using: &generator) { waitForGrowth(path) }
    process.send(SIGKILL)
    let result = await process.result()
    #expect(result.status == 256 + SIGKILL, "\(result.errors), \(context)")
    return result.output
  }

  /// Returns when a segment grows, and so between a record's writing and its commit, or after so many
  /// looks that none will.
  private func waitForGrowth(_ path: String) {
    guard let name = DiskInspection(path).segmentNames.last else { return }
    let file = "\(path)/segments/\(name)"
    var before = stat()
    var now = stat()
    guard stat(file, &before) == 0 else { return }
    for _ in 0..<40_000 {
      guard stat(file, &now) == 0, now.st_size == before.st_size else { return }
    }
  }

  /// Reopens the directory and checks that everything is there and nothing is left over.
  private func check(
    _ inspection: DiskInspection, _ survivors: inout Survivors, _ round: Int, _ context: String
  ) throws {
    let cache = try DiskCache(directory: inspection.path)
    try survivors.check(against: inspection.check(cache, context), context)
    try inspection.expectNoLeak(cache, "before an insert, \(context)")
    let refusal = cache.storing(TorturePoster.make(Self.marker, version: 2 * round + 1))
    #expect(refusal == nil, "\(context)")
    try inspection.expectNoLeak(cache, "after an insert, \(context)")
    var pinned: [PosterRequest] = []
    try cache.forEachEntry { entry in
      if entry.isPinned { pinned.append(PosterRequest(entry.metadata.address)) }
      return entry.isPinned
    }
    try cache.unpin(pinned)
    survivors.nothingIsPinned()
    cache.close()
  }

  /// What a killed process had said, and so what must be there.
  private struct Survivors {
    /// Whether everything that was stored must be there, and not only what was pinned.
    let isLossless: Bool
    private var stored: [Int: Int] = [:]
    private var pinned: Set<Int> = []

    init(isLossless: Bool) {
      self.isLossless = isLossless
    }

    mutating func nothingIsPinned() {
      pinned = []
    }

    mutating func read(_ output: String) {
      for line in output.split(separator: "\n") {
        let words = line.split(separator: " ")
        guard let number = words.dropFirst().first.flatMap({ Int($0) }) else { continue }
        switch words[0] {
        case "stored": stored[number] = words.last.flatMap { Int($0) }
        case "pinned": pinned.insert(number)
        case "unpinning": pinned.remove(number)
        case "removing":
          stored[number] = nil
          pinned.remove(number)
        default: Issue.record("the process printed \(line)")
        }
      }
    }

    func check(against versions: [Int: Int], _ context: String) throws {
      let lost = stored.filter { number, version in
        guard isLossless || pinned.contains(number) else { return false }
        return (versions[number] ?? 0) < version
      }
      #expect(lost.isEmpty, "\(lost) were committed, \(context)")
      #expect(pinned.allSatisfy { versions[$0] != nil }, "\(context)")
    }
  }
}
