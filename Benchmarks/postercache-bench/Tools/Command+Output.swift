import Glibc

extension Command {
  /// Runs the program and returns what it writes to its standard output.
  ///
  /// - Throws: if it cannot be started or ends with another status than 0.
  func output() throws(BenchError) -> [UInt8] {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else { throw BenchError(call: "pipe", "") }
    defer { close(ends[0]) }
    _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
    _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
    let child: Child
    do {
      defer { close(ends[1]) }
      child = try start(standardOutput: ends[1])
    }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(ends[0], &buffer, buffer.count)
      if count <= 0 { break }
      text += buffer[..<count]
    }
    var usage = rusage()
    let status = try child.wait(&usage)
    guard status == 0 else { throw BenchError("\(program) ended with status \(status)") }
    return text
  }
}
