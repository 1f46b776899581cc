import Glibc

/// Results go to the standard output, everything else to the standard error.
enum Console {
  static func output(_ text: String) {
    write(text + "\n", to: 1)
  }

  static func error(_ text: String) {
    write(text + "\n", to: 2)
  }

  private static func write(_ text: String, to file: CInt) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      // A reader that has gone away wants no more; there is nobody else to be told.
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
