import FoundationEssentials
import Glibc

/// A fresh directory that goes away with its last reference.
public final class TemporaryDirectory: Sendable {
  /// The directory's absolute path.
  public let path: String

  /// - Parameter parent: where to make it; `$TMPDIR` or `/tmp` unless given.
  public init(in parent: String? = nil) {
    let base = parent ?? ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(base)/postercache-test.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      fatalError("mkdtemp in \(base): \(String(cString: strerror(errno)))")
    }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit {
    // What cannot be removed stays in the temporary directory, which is the system's to clean.
    try? FileManager.default.removeItem(atPath: path)
  }
}
