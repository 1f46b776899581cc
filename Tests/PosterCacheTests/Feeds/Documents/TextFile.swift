import FoundationEssentials
import Glibc

/// Files and named pipes that tests read lists from.
enum TextFile {
  static func write(_ text: String, to path: String) throws {
    try write(bytes: Array(text.utf8), to: path)
  }

  static func write(bytes: [UInt8], to path: String) throws {
    try Data(bytes).write(to: URL(filePath: path))
  }

  /// A named pipe in `directory`.
  static func pipe(in directory: String) -> String {
    let path = "\(directory)/pipe"
    precondition(mkfifo(path, 0o600) == 0, "mkfifo: \(String(cString: strerror(errno)))")
    return path
  }

  /// Opens a named pipe for writing; the reader, which does not block, has opened it or will.
  static func openForWriting(_ path: String) -> CInt {
    // For reading, too: so it does not wait for the reader.
    let file = open(path, O_RDWR | O_CLOEXEC)
    precondition(file >= 0, "open: \(String(cString: strerror(errno)))")
    return file
  }

  static func write(_ text: String, to file: CInt) {
    var text = text
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while let start = rest.baseAddress, !rest.isEmpty {
        let count = Glibc.write(file, start, rest.count)
        precondition(count > 0, "write: \(String(cString: strerror(errno)))")
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      }
    }
  }
}
