import FoundationEssentials
import Glibc

/// Real inputs with known right answers, which are not part of the repository. Tests that want them
/// run where the environment variable `POSTERCACHE_CORPUS` names their directory.
public enum Corpus {
  /// The directory, `nil` where there is none.
  public static let directory = ProcessInfo.processInfo.environment["POSTERCACHE_CORPUS"]

  /// Whether the corpus is there: for `.enabled(if:)`.
  public static var isAvailable: Bool { directory != nil }

  /// The bytes of the file at `path` below the directory.
  public static func bytes(_ path: String) throws -> Data {
    let file = try filePath(path)
    var status = stat()
    // FoundationEssentials leaks a buffer where it reads an empty file, which LeakSanitizer tells.
    if stat(file, &status) == 0, status.st_size == 0 { return Data() }
    return try Data(contentsOf: URL(filePath: file))
  }

  /// The path of the file at `path` below the directory.
  public static func filePath(_ path: String) throws -> String {
    guard let directory else { throw Missing() }
    return "\(directory)/\(path)"
  }

  /// The corpus was asked for where there is none.
  public struct Missing: Error {}
}
