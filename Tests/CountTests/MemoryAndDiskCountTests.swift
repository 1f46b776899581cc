import Testing

@testable import postercache_bench

/// What hits, misses and inserts take, counted in a program of its own: numbers that no busy machine blurs.
@Suite(
  .timeLimit(.minutes(5)),
  .enabled(if: CountedPrograms.isOptimised, "counts are those of optimised code"))
struct TierCountTests {
  private let hit = CountedWork.phase("hit", CountedWork.memoryNames[0])

  @Test func `print`() throws {
    for (name, p) in [("memory", try CountedPrograms.memory.get()), ("disk", try CountedPrograms.disk.get())] {
      Swift.print(name, p.absent)
      for ph in p.names {
        Swift.print(ph, CountedProgram.ordinaryCounts.map { ($0.name, p.each($0.count, ph, ownThread: true) ?? -1) }, p.each(.systemCalls, ph, ownThread: true) ?? -1, p.each(.systemCalls, ph) ?? -1, p.each(.writtenBytes, ph) ?? -1)
      }
    }
  }
}
