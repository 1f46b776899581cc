import Glibc

/// A store of posters in Python, run by `Benchmarks/peers/stores.py` as a program that is told what to
/// do and says itself how long that took.
final class PythonStore {
  /// The stores that the program knows, by the names it knows them by.
  enum Kind: String {
    case diskcache, sqlite
  }

  private let process: Command.Child
  private let commands: CInt
  private let answers: CInt

  /// Starts the program; it reads the posters at once.
  ///
  /// - Parameters:
  ///   - list: a file with a line for each poster: its address, a tab, its file.
  init(_ kind: Kind, python: String, program: String, list: String) throws(BenchError) {
    let (commandsRead, commandsWrite) = try Self.pipe()
    let (answersRead, answersWrite) = try Self.pipe()
    defer {
      close(commandsRead)
      close(answersWrite)
    }
    (commands, answers) = (commandsWrite, answersRead)
    process = try Command(python, [program, kind.rawValue, list]).start(
      standardOutput: answersWrite, standardInput: commandsRead)
  }

  deinit {
    close(commands)  // which ends it
    close(answers)
    var usage = rusage()
    _ = try? process.wait(&usage)  // how it ended does not matter
  }

  /// Stores every poster in a new store in the empty `directory`.
  func insert(into directory: String) throws(BenchError) -> Sample {
    try carryOut("insert \(directory)")
  }

  /// Reads every poster of the last store, `times` over in random order.
  func read(times: Int) throws(BenchError) -> Sample {
    try carryOut("hit \(times)")
  }

  private func carryOut(_ command: String) throws(BenchError) -> Sample {
    let line = Array("\(command)\n".utf8)
    guard write(commands, line, line.count) == line.count else {
      throw BenchError(call: "write", "to the Python store")
    }
    var answer: [UInt8] = []
    var byte: UInt8 = 0
    while Glibc.read(answers, &byte, 1) == 1, byte != UInt8(ascii: "\n") { answer.append(byte) }
    let text = String(decoding: answer, as: UTF8.self)
    let numbers = text.split(separator: " ").compactMap { Double($0) }
    guard numbers.count == 2 else { throw BenchError("the Python store answers \"\(text)\"") }
    return Sample(seconds: numbers[0], processorSeconds: numbers[1])
  }

  private static func pipe() throws(BenchError) -> (read: CInt, write: CInt) {
    var ends: [CInt] = [0, 0]
    guard Glibc.pipe(&ends) == 0 else { throw BenchError(call: "pipe", "") }
    // The program must not hold the ends that are ours, or it would wait for itself.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}
