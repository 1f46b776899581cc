import CLinux
import Glibc
import PosterCache

/// Writes whole files: readers see the old one or the new one, never a half.
enum OutputFile {
  /// Puts `body` into the file at `path`, by a temporary file beside it and `rename`. What is there
  /// and no regular file, such as `/dev/null` or a pipe, is written to as it is.
  ///
  /// - Throws: ``PosterError/Code/notStored`` with the system's reason.
  static func write(_ body: PosterBody, to path: String) throws(PosterError) {
    func failure(_ number: CInt) -> PosterError {
      PosterError(.notStored, "cannot write \(path): \(String(cString: strerror(number)))")
    }
    var status = stat()
    let exists = stat(path, &status) == 0
    if exists, status.st_mode & S_IFMT == S_IFDIR { throw failure(EISDIR) }
    if exists, status.st_mode & S_IFMT != S_IFREG {
      let file = postercache_open(path, O_WRONLY | O_CLOEXEC, 0)
      guard file >= 0 else { throw failure(errno) }
      defer { close(file) }
      do {
        try body.withUnsafeBytes { bytes throws(WriteError) in try writeAll(bytes, to: file) }
      } catch {
        throw failure(error.number)
      }
      return
    }
    let target = exists ? resolved(path) : path
    let temporary = "\(target).\(getpid()).tmp"
    // O_EXCL: whatever is there already is not ours to overwrite.
    let file = postercache_open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw failure(errno) }
    do {
      defer { close(file) }
      try body.withUnsafeBytes { bytes throws(WriteError) in try writeAll(bytes, to: file) }
    } catch {
      unlink(temporary)
      throw failure(error.number)
    }
    guard rename(temporary, target) == 0 else {
      let number = errno
      unlink(temporary)
      throw failure(number)
    }
  }

  /// The file behind a symbolic link, so that the link stays.
  private static func resolved(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }
}
