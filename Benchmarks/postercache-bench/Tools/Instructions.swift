import Glibc
import Synchronization

/// Instructions by phases of a program, as callgrind sees them.
///
/// callgrind runs a program on a processor of its own making and counts each instruction: the same work takes
/// the same number on any machine with the same libraries, however busy it is.
struct Instructions {
  /// One for each phase, in order, over all threads.
  let phases: [Double]

  /// Runs `program` with `arguments` under callgrind; `nil` where valgrind or binutils are not installed.
  ///
  /// - Parameter directory: an empty one, for what callgrind writes.
  init?(of program: String, _ arguments: [String], directory: String) throws(BenchError) {
    guard let valgrind = Command.find("valgrind"),
      let stripped = try Self.stripped(program, in: directory)
    else { return nil }
    let file = "\(directory)/callgrind"
    // Counts are written, and begin anew, whenever a phase begins or ends: the first file is what came before
    // the first phase, the second the first phase, the third what came between it and the next.
    _ = try Command(
      valgrind,
      [
        "--tool=callgrind", "--quiet", "--log-file=\(directory)/log", "--dump-line=no",
        "--dump-before=*countedPhaseDidChange*", "--callgrind-out-file=\(file)", stripped,
      ] + arguments
    ).run()
    var phases: [Double] = []
    while access("\(file).\(2 * phases.count + 2)", R_OK) == 0 {
      let lines = try TextFile.lines("\(file).\(2 * phases.count + 2)")
      guard let line = lines.last(where: { $0.hasPrefix("totals: ") }),
        let total = Double(line.dropFirst(8))
      else { throw BenchError("callgrind wrote no total into \(file)") }
      phases.append(total)
    }
    self.phases = phases
  }

  /// Copies without what debuggers need, by their programs: valgrind 3.19 gives up on the debugging information
  /// that Swift's own libraries have.
  private static let copies = Mutex<[String: String]>([:])

  private static func stripped(
    _ program: String, in directory: String
  ) throws(BenchError) -> String? {
    if let copy = copies.withLock({ $0[program] }), access(copy, X_OK) == 0 { return copy }
    guard let strip = Command.find("strip") else { return nil }
    let copy = "\(directory)/program"
    _ = try Command(strip, ["--strip-debug", "-o", copy, program]).run()
    copies.withLock { $0[program] = copy }
    return copy
  }
}
