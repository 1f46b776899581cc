import Glibc

/// Why a benchmark could not be run, on one line.
struct BenchError: Error, CustomStringConvertible {
  let description: String
  /// What the program ends with: 1, or 2 where it was called wrongly.
  var status: CInt = 1

  init(_ description: String) {
    self.description = description
  }

  /// Wrong arguments.
  static func usage(_ description: String) -> BenchError {
    var error = BenchError(description)
    error.status = 2
    return error
  }

  /// A failed system call, with `errno` as it is now.
  init(call: String, _ subject: String) {
    self.init("\(call) \(subject): \(String(cString: strerror(errno)))")
  }
}
