import TestSupport

@testable import postercache_bench

/// The benchmark's counted programs as they are built beside the tests, each counted once for all tests.
///
/// Instructions are left to the benchmark and its baseline: valgrind 3.19 does not run programs that are linked
/// dynamically with libdispatch, as those are that are built with tests.
enum CountedPrograms {
  static let memory = Result { try count { _ in CountedWork.arguments(.memory, []) } }

  static let disk = Result { try count { CountedWork.arguments(.disk, [("--to", $0)]) } }

  /// Transfers of a list of addresses; counts neither system calls nor instructions.
  static func transfers(_ kind: CountedWork.Kind, list: String) throws -> CountedProgram {
    try count([]) { CountedWork.arguments(kind, [("--list", list), ("--to", $0)]) }
  }

  /// Whether what is counted is what people run: without the optimiser, there are many more allocations.
  static var isOptimised: Bool {
    var isUnoptimised = false
    // Evaluated only where assertions are.
    assert(
      {
        isUnoptimised = true
        return true
      }())
    return !isUnoptimised
  }

  static var hasStrace: Bool { Program.path(of: "strace") != nil }

  private static func count(
    _ instruments: [CountedProgram.Instrument] = [.systemCalls],
    _ arguments: (String) -> [String]
  ) throws -> CountedProgram {
    let directory = TemporaryDirectory()
    return try CountedProgram(
      PosterCacheBinary.path(of: "postercache-bench"), instruments: instruments,
      directory: directory.path, arguments: arguments)
  }
}
