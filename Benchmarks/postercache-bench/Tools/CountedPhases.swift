import FoundationEssentials
import Glibc

/// The side of a program that is counted: it does its work in phases, each so many operations, and tells
/// whoever counts where they begin and end.
///
/// The same program runs under each instrument (``CountedProgram``): with ``CountingLibrary`` loaded,
/// whose counts are read here at both ends of a phase; under `strace`, which sees a file being asked for;
/// under callgrind, which sees a function being called.
struct CountedPhases {
  /// What was counted of a phase, without `strace` and callgrind.
  struct Phase: Codable {
    let name: String
    let operations: Int
    /// Bytes passed to `write` and its kind.
    let writtenBytes: Int
    /// Of all threads, and of the one that did the work; `nil` where the counting library is not loaded.
    let memory: MemoryCounts?
    let ownMemory: MemoryCounts?
  }

  /// What the counting library says: `postercache_counts`, which this is laid out like.
  struct MemoryCounts: Codable {
    var allocations: UInt64 = 0
    var largeAllocations: UInt64 = 0
    var allocatedBytes: UInt64 = 0
    var copiedBytes: UInt64 = 0
    var connections: UInt64 = 0

    static func - (after: MemoryCounts, before: MemoryCounts) -> MemoryCounts {
      MemoryCounts(
        allocations: after.allocations - before.allocations,
        largeAllocations: after.largeAllocations - before.largeAllocations,
        allocatedBytes: after.allocatedBytes - before.allocatedBytes,
        copiedBytes: after.copiedBytes - before.copiedBytes,
        connections: after.connections - before.connections)
    }
  }

  private typealias Reading = (all: MemoryCounts, own: MemoryCounts)

  private var phases: [Phase] = []

  /// Does `operations` of something. Whatever can be done before, is: keys made, caches warmed.
  mutating func measure<Failure: Error>(
    _ name: String, _ operations: Int, _ body: () throws(Failure) -> Void
  ) throws {
    let written = try ProcessFigures.writtenBytes()
    SystemCalls.begin(name)
    let before = CountingLibrary.now()
    countedPhaseDidChange()
    try body()
    countedPhaseDidChange()
    let after = CountingLibrary.now()
    SystemCalls.begin(Self.between)
    try end(name, operations, written: written, before, after)
  }

  /// The same for what suspends, and goes on on another thread: there are no counts of one thread.
  mutating func measureTasks(
    _ name: String, _ operations: Int, _ body: () async throws -> Void
  ) async throws {
    let written = try ProcessFigures.writtenBytes()
    SystemCalls.begin(name)
    let before = CountingLibrary.now()
    countedPhaseDidChange()
    try await body()
    countedPhaseDidChange()
    let after = CountingLibrary.now()
    SystemCalls.begin(Self.between)
    try end(name, operations, written: written, before, after, isOneThread: false)
  }

  /// Prints what was counted, as JSON.
  func report() throws {
    Console.output(String(decoding: try JSONEncoder().encode(phases), as: UTF8.self))
  }

  /// What system calls belong to that are made outside of phases.
  static let between = "between"

  private mutating func end(
    _ name: String, _ operations: Int, written: Int, _ before: Reading?, _ after: Reading?,
    isOneThread: Bool = true
  ) throws {
    let (memory, own) =
      if let before, let after {
        (MemoryCounts?.some(after.all - before.all), isOneThread ? after.own - before.own : nil)
      } else {
        (MemoryCounts?.none, MemoryCounts?.none)
      }
    phases.append(
      Phase(
        name: name, operations: operations,
        writtenBytes: try ProcessFigures.writtenBytes() - written, memory: memory, ownMemory: own))
  }
}

/// Where one phase ends and another begins, for callgrind, which is told the name of this function. It must be
/// called, so that it may be neither inlined nor left out.
@inline(never)
@_optimize(none)
func countedPhaseDidChange() {}
