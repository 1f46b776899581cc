import FoundationEssentials
import Glibc
import PosterCache

/// The programs whose phases are counted (``CountedProgram``): `postercache-bench contestant counted
/// --kind KIND --to DIR`, where the directory is empty.
///
/// Each phase is one thing done so many times by one contestant, on one thread, after everything has been
/// done once: nothing is opened, grown or compiled within it.
struct CountedWork {
  enum Kind: String {
    /// Hits and inserts of what is in memory.
    case memory
    /// Hits, misses and inserts on a disk.
    case disk
    /// Addresses, and plans of the moving window.
    case requests
    /// Pictures to pixels; needs `--pictures DIR`.
    case decode
    /// Transfers from the addresses of `--list FILE`; and the same with a bare loop.
    case fetch, loop
    /// The same through the whole pipeline.
    case warm
  }

  /// The posters are of this size, which is the median of real ones.
  static let posterBytes = 40_000
  /// Hits and misses are counted over so many posters, each as often as the others.
  static let posters = 200
  /// Inserts are made in batches of so many, which are known to be written together.
  static let batchPosters = 25
  static let batches = 8
  /// Transfers of the first phase, and of the second; the difference is what counts.
  static let fewTransfers = 100
  static let manyTransfers = 600
  static let connections = 16

  /// Phases are called after what is done and who does it.
  static func phase(_ operation: String, _ contestant: String) -> String {
    "\(operation): \(contestant)"
  }

  let values: [String: String]

  init(_ values: [String: String]) {
    self.values = values
  }

  /// The arguments that make this program that of `kind`.
  static func arguments(_ kind: Kind, _ values: [(name: String, value: String)]) -> [String] {
    ContestantProgram.arguments("counted", [("--kind", kind.rawValue)] + values)
  }

  func run() async throws {
    let word = try value("--kind")
    guard let kind = Kind(rawValue: word) else {
      throw BenchError("nothing called \(word) is counted")
    }
    var phases = CountedPhases()
    switch kind {
    case .memory: try await memory(&phases)
    case .disk: try disk(&phases)
    case .requests: try requests(&phases)
    case .decode: try decode(&phases)
    case .fetch, .loop, .warm: try await transfers(&phases, kind)
    }
    try phases.report()
  }

  func value(_ name: String) throws(BenchError) -> String {
    guard let value = values[name] else { throw BenchError("what is counted needs \(name)") }
    return value
  }

  /// As many places of posters, in an order that no cache knows.
  static func order(_ passes: Int) -> [Int] {
    var generator = SplitMix64(seed: 1)
    return (0..<passes).flatMap { _ in Array(0..<posters).shuffled(using: &generator) }
  }
}
