import CLinux
import FoundationEssentials
import Glibc
import PosterCache

/// Reads the file behind `--trace`, which may be a pipe: `--trace <(record)`.
enum TraceFile {
  /// How long an interruption may go unnoticed while nothing comes out of a pipe, in milliseconds.
  private static let patience: CInt = 50

  /// What is in the file.
  ///
  /// - Parameter limit: the most bytes that it may have.
  /// - Throws: ``PosterError/Code/invalidConfiguration`` with the system's reason, or if there is more;
  ///   ``PosterError/Code/cancelled`` if the task was cancelled meanwhile.
  static func bytes(at path: String, limit: Int) throws(PosterError) -> Data {
    // A pipe that nobody writes to is not to be waited for here, where nothing interrupts.
    let file = postercache_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
    guard file >= 0 else { throw failure(errno, path) }
    defer { close(file) }
    var data = Data()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      var ready = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
      let count = poll(&ready, 1, patience) == 0 ? -1 : read(file, &buffer, buffer.count)
      let number = ready.revents == 0 ? EAGAIN : errno
      if Task.isCancelled { throw PosterError(.cancelled, "interrupted") }
      if count == 0 { return data }
      if count > 0 {
        data.append(contentsOf: buffer[..<count])
        guard data.count <= limit else {
          throw FlagParser.usage(
            "\(path): not a usable scroll trace: it has more than \(limit) bytes")
        }
      } else if number != EAGAIN && number != EINTR {
        throw failure(number, path)
      }
    }
  }

  private static func failure(_ number: CInt, _ path: String) -> PosterError {
    FlagParser.usage("cannot read the trace \(path): \(String(cString: strerror(number)))")
  }
}
