/// What the kernel counts for this process.
enum ProcessFigures {
  /// Bytes of resident memory that are not pages of files: what the process really costs.
  static func anonymousBytes() throws(BenchError) -> Int {
    try value(of: "RssAnon", in: "/proc/self/status") << 10
  }

  /// Bytes passed to `write` and its kind so far.
  static func writtenBytes() throws(BenchError) -> Int {
    try value(of: "wchar", in: "/proc/self/io")
  }

  private static func value(of name: String, in path: String) throws(BenchError) -> Int {
    for line in try TextFile.lines(path) where line.hasPrefix("\(name):") {
      let digits = line.drop { !$0.isNumber }.prefix { $0.isNumber }
      if let number = Int(digits) { return number }
    }
    throw BenchError("\(path) has no \(name)")
  }
}
