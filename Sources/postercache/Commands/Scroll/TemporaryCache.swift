import FoundationEssentials
import Glibc
import PosterCache

/// A cache directory for one run of a command.
struct TemporaryCache {
  /// Its absolute path.
  let path: String

  /// Makes it below `$TMPDIR`, or `/tmp`.
  ///
  /// - Throws: ``PosterError/Code/directoryUnavailable`` with the system's reason.
  init() throws(PosterError) {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? ""
    var template = Array(
      "\(parent.isEmpty ? "/tmp" : parent)/postercache-scroll.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw PosterError(
        .directoryUnavailable,
        "cannot make a cache for this run, name one with --cache-dir:"
          + " \(String(cString: strerror(errno)))")
    }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Removes it and everything in it.
  func remove() {
    // What cannot be removed stays in the temporary directory, which is the system's to clean.
    try? FileManager.default.removeItem(atPath: path)
  }
}
