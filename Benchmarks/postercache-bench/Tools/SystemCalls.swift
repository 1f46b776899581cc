import Glibc

/// System calls by phases of a program, as `strace` sees them.
struct SystemCalls {
  /// How often each call was made in a phase, over all threads.
  typealias Counts = [String: Int]

  /// The phases of the run, by name.
  private let phases: [String: Counts]
  /// The same, of the thread alone that began the phase.
  private let ownPhases: [String: Counts]

  /// Calls that say nothing about the work: waiting for and waking other threads, and getting memory.
  private static let uncounted: Set<String> = [
    "futex", "brk", "mmap", "munmap", "mprotect", "madvise", "sched_yield",
  ]

  private static let markerFolder = "/postercache-bench-phase"

  /// Tells a tracing `strace` that a phase begins, by asking for a file that does not exist.
  static func begin(_ phase: String) {
    _ = access("\(markerFolder)/\(phase)", F_OK)
  }

  /// Runs `program` with `arguments` under `strace`; `nil` where that is not installed.
  ///
  /// - Parameters:
  ///   - log: the file for what `strace` writes.
  ///   - first: the phase that the program begins in; `nil` counts nothing before it says that one begins.
  init?(
    of program: String, _ arguments: [String], log: String, first: String? = nil
  ) throws(BenchError) {
    guard let strace = Command.find("strace") else { return nil }
    _ = try Command(strace, ["-f", "-qq", "-s", "128", "-o", log, program] + arguments).run()
    var phases: [String: Counts] = [:]
    var ownPhases: [String: Counts] = [:]
    var phase = first
    var owner: Substring = ""
    for line in try TextFile.lines(log) {
      // `123 pread64(5, ...) = 3`; what was interrupted is on two lines, the second a resumption.
      let call = line.drop { $0.isNumber || $0 == " " }
      guard let parenthesis = call.firstIndex(of: "("), !call.hasPrefix("<") else { continue }
      if let marker = call.firstRange(of: "\(Self.markerFolder)/") {
        phase = String(call[marker.upperBound...].prefix { $0 != "\"" })
        owner = line.prefix { $0.isNumber }
        continue
      }
      let name = String(call[..<parenthesis])
      guard let phase else { continue }
      phases[phase, default: [:]][name, default: 0] += 1
      guard line.hasPrefix("\(owner) ") else { continue }
      ownPhases[phase, default: [:]][name, default: 0] += 1
    }
    self.phases = phases
    self.ownPhases = ownPhases
  }

  /// All calls of a phase together, but for those that say nothing about the work.
  ///
  /// - Parameter ownThread: those of the thread alone that began the phase.
  func total(_ phase: String, ownThread: Bool = false) -> Double {
    let counts = (ownThread ? ownPhases : phases)[phase, default: [:]]
    return Double(counts.lazy.filter { !Self.uncounted.contains($0.key) }.map(\.value).reduce(0, +))
  }

  /// How often one call was made in a phase.
  func count(_ call: String, _ phase: String) -> Double {
    Double(phases[phase]?[call] ?? 0)
  }
}
