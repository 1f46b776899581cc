import CLinux
import Glibc

/// Reads the file behind `--token-file`, which may be a pipe: `--token-file <(pass tmdb)`.
enum TokenFile {
  /// The longest credential that is read, in bytes.
  static let maximumLength = 16_384

  /// The file's text, or `nil` if it cannot be read or is longer than a credential.
  static func text(at path: String) -> String? {
    let file = postercache_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: maximumLength + 1)
    var count = 0
    while count < bytes.count {
      let received = bytes.withUnsafeMutableBytes {
        read(file, $0.baseAddress.map { $0 + count }, $0.count - count)
      }
      if received == 0 { break }
      if received > 0 { count += received } else if errno != EINTR { return nil }
    }
    return count <= maximumLength ? String(decoding: bytes[..<count], as: UTF8.self) : nil
  }
}
