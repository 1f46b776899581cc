import Glibc

/// A link of a given rate and round-trip time between two network namespaces, made by
/// `Benchmarks/link/link.c`.
struct ShapedLink {
  /// The address of the server's end.
  static let serverAddress = "10.77.0.1"

  private let process: Command.Child
  private let control: CInt
  private let server: String
  private let client: String

  /// Makes a link.
  ///
  /// - Parameter program: what `Benchmarks/link/link.c` was built into.
  /// - Throws: where it cannot be made, as without being root.
  init(_ program: String, megabits: Double, milliseconds: Int) throws(BenchError) {
    var input: [CInt] = [0, 0]
    var output: [CInt] = [0, 0]
    guard pipe(&input) == 0, pipe(&output) == 0 else { throw BenchError(call: "pipe", "") }
    // Nobody else may hold the end whose closing ends the link.
    for end in input + output { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    process = try Command(program, ["\(megabits)", "\(milliseconds)"]).start(
      standardOutput: output[1], standardInput: input[0])
    control = input[1]
    close(input[0])
    close(output[1])
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while read(output[0], &byte, 1) == 1, byte != UInt8(ascii: "\n") { line.append(byte) }
    close(output[0])
    let ends = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    (server, client) = (ends.first ?? "", ends.last ?? "")
    guard ends.count == 2 else {
      remove()
      throw BenchError("\(program) made no link")
    }
  }

  /// Removes the link; what still runs at its ends stays there.
  func remove() {
    close(control)
    var usage = rusage()
    _ = try? process.wait(&usage)  // how it ended does not matter
  }

  /// `command`, to be run at the server's end.
  func atServer(_ command: Command) -> Command { Self.command(command, in: server) }

  /// `command`, to be run at the client's end.
  func atClient(_ command: Command) -> Command { Self.command(command, in: client) }

  private static func command(_ command: Command, in namespace: String) -> Command {
    // Part of Debian's essential util-linux.
    Command("/usr/bin/nsenter", ["--net=\(namespace)", command.program] + command.arguments)
  }
}
