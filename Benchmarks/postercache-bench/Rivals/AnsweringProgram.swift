import Glibc

/// A program that is told on its standard input what to do, a line each, and answers with a line of two
/// numbers; most say themselves how long they took, so that starting them does not count.
final class AnsweringProgram {
  private let name: String
  private let process: Command.Child
  private let commands: CInt
  private let answers: CInt

  /// Starts the program.
  ///
  /// - Parameter name: what errors call it.
  init(_ command: Command, name: String) throws(BenchError) {
    self.name = name
    let (commandsRead, commandsWrite) = try Self.pipe()
    let (answersRead, answersWrite) = try Self.pipe()
    defer {
      close(commandsRead)
      close(answersWrite)
    }
    (commands, answers) = (commandsWrite, answersRead)
    process = try command.start(standardOutput: answersWrite, standardInput: commandsRead)
  }

  deinit {
    close(commands)  // which ends it
    close(answers)
    var usage = rusage()
    _ = try? process.wait(&usage)  // how it ended does not matter
  }

  /// Has a command carried out that is answered by the wall-clock and processor seconds it took.
  func measure(_ command: String) throws(BenchError) -> Sample {
    let numbers = try ask(command)
    return Sample(seconds: numbers.0, processorSeconds: numbers.1)
  }

  /// Has a command carried out; returns the two numbers it is answered by.
  func ask(_ command: String) throws(BenchError) -> (Double, Double) {
    let line = Array("\(command)\n".utf8)
    guard write(commands, line, line.count) == line.count else {
      throw BenchError(call: "write", "to \(name)")
    }
    var answer: [UInt8] = []
    var byte: UInt8 = 0
    while Glibc.read(answers, &byte, 1) == 1, byte != UInt8(ascii: "\n") { answer.append(byte) }
    let text = String(decoding: answer, as: UTF8.self)
    let numbers = text.split(separator: " ").compactMap { Double($0) }
    guard numbers.count == 2 else { throw BenchError("\(name) answers \"\(text)\"") }
    return (numbers[0], numbers[1])
  }

  private static func pipe() throws(BenchError) -> (read: CInt, write: CInt) {
    var ends: [CInt] = [0, 0]
    guard Glibc.pipe(&ends) == 0 else { throw BenchError(call: "pipe", "") }
    // The program must not hold the ends that are ours, or it would wait for itself.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }
}
