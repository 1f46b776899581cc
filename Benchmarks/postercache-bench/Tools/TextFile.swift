import CLinux
import Glibc

/// Whole files, read and written in one go.
enum TextFile {
  static func write(_ bytes: some Collection<UInt8>, to path: String) throws(BenchError) {
    let file = postercache_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw BenchError(call: "cannot write", path) }
    defer { close(file) }
    let bytes = Array(bytes)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      guard count > 0 else { throw BenchError(call: "cannot write", path) }
      written += count
    }
  }

  static func write(_ text: String, to path: String) throws(BenchError) {
    try write(text.utf8, to: path)
  }

  /// - Throws: unless `path` can be written; makes no file that is not there.
  static func checkWritable(_ path: String) throws(BenchError) {
    var status = stat()
    var place = path
    if stat(path, &status) != 0 {
      // What is not there is made in a directory, which the slash makes sure of.
      place = (path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".") + "/"
    } else if status.st_mode & S_IFMT == S_IFDIR {
      throw BenchError("cannot write \(path): it is a directory")
    }
    guard access(place, W_OK) == 0 else { throw BenchError(call: "cannot write", path) }
  }

  static func read(_ path: String) throws(BenchError) -> [UInt8] {
    let file = postercache_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard file >= 0 else { throw BenchError(call: "cannot read", path) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(file, &buffer, buffer.count)
      guard count >= 0 else { throw BenchError(call: "cannot read", path) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  static func lines(_ path: String) throws(BenchError) -> [String] {
    try read(path).split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }
}
