import Glibc

/// Why a benchmark could not be run, on one line.
struct BenchError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }

  /// A failed system call, with `errno` as it is now.
  init(call: String, _ subject: String) {
    self.init("\(call) \(subject): \(String(cString: strerror(errno)))")
  }
}
