import TestSupport
import Testing

@testable import postercache_bench

/// What hits, misses and inserts take, counted in a program of its own: promises that no busy machine blurs.
@Suite(
  .timeLimit(.minutes(5)),
  .enabled(if: CountedPrograms.isOptimised, "counts are those of optimised code"))
struct TierCountTests {
  @Test(.enabled(if: CountedPrograms.hasStrace))
  func `a hit in memory allocates nothing, copies nothing and asks the kernel for nothing`() throws
  {
    let program = try CountedPrograms.memory.get()
    for name in CountedWork.memoryNames.prefix(2) {
      let hit = CountedWork.phase("hit", name)
      #expect(program.total(.allocations, hit, ownThread: true) == 0, "\(name)")
      #expect(program.total(.copiedBytes, hit, ownThread: true) == 0, "\(name)")
      #expect(program.total(.systemCalls, hit, ownThread: true) == 0, "\(name)")
    }
  }

  @Test func `an insert into full memory makes three small allocations at most and copies nothing`()
    throws
  {
    let program = try CountedPrograms.memory.get()
    let insert = CountedWork.phase("insert", CountedWork.memoryNames[0])
    let allocations = try #require(program.each(.allocations, insert, ownThread: true))
    #expect(allocations <= 3.05, "\(allocations) allocations an insert")
    #expect(program.total(.largeAllocations, insert, ownThread: true) == 0)
    #expect(program.total(.copiedBytes, insert, ownThread: true) == 0)
  }

  @Test(.enabled(if: CountedPrograms.hasStrace))
  func `a hit on disk is one call of pread into the one large allocation, and no copy`() throws {
    let program = try CountedPrograms.disk.get()
    let hit = CountedWork.phase("hit", CountedWork.diskNames[0])
    #expect(program.each(.systemCalls, hit, ownThread: true) == 1)
    #expect(program.each(.call(["pread64"]), hit) == 1)
    #expect(program.each(.largeAllocations, hit, ownThread: true) == 1)
    #expect(program.total(.copiedBytes, hit, ownThread: true) == 0)
    let allocations = try #require(program.each(.allocations, hit, ownThread: true))
    #expect(allocations <= 3.15, "\(allocations) allocations a hit")
    // Beside the body of 40,000 bytes: header, metadata, and what keeps them.
    let bytes = try #require(program.each(.allocatedBytes, hit, ownThread: true))
    #expect(bytes >= 40_000 && bytes <= 40_600, "\(bytes) bytes a hit")
  }

  @Test(.enabled(if: CountedPrograms.hasStrace))
  func `a miss on disk allocates nothing and asks the kernel for nothing`() throws {
    let program = try CountedPrograms.disk.get()
    let miss = CountedWork.phase("miss", CountedWork.diskNames[0])
    #expect(program.total(.allocations, miss, ownThread: true) == 0)
    #expect(program.total(.systemCalls, miss, ownThread: true) == 0)
  }

  @Test(.enabled(if: CountedPrograms.hasStrace))
  func
    `posters of 40 KB are written with less than two calls each, and a fifth more bytes at most`()
    throws
  {
    let program = try CountedPrograms.disk.get()
    let insert = CountedWork.phase("insert", CountedWork.diskNames[0])
    let written = try #require(program.each(.writtenBytes, insert))
    // In whole blocks, a record is 40,960 bytes; the rest are pages of the index.
    #expect(written >= 40_960)
    #expect(written <= 1.19 * 40_000, "\(written) bytes a poster")
    let calls = try #require(program.each(.systemCalls, insert))
    #expect(calls <= 2, "\(calls) calls a poster")
    // The body is written from where it lies.
    #expect(program.total(.largeAllocations, insert) == 0)
    let copied = try #require(program.each(.copiedBytes, insert))
    #expect(copied <= 2400, "\(copied) bytes copied a poster: pages of the index, at most")
    let allocations = try #require(program.each(.allocations, insert))
    #expect(allocations <= 6.5, "\(allocations) allocations a poster")
  }
}
