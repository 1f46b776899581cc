import CLinux
import Glibc

/// An open file, closed when the last reference goes.
///
/// Every descriptor is opened with `O_CLOEXEC`: a child process must not keep our locks alive.
final class FileDescriptor: Sendable {
  /// The descriptor's number, valid as long as this object lives.
  let number: CInt

  /// Takes ownership of `number`.
  init(owning number: CInt) {
    self.number = number
  }

  /// Opens `path`, never following a symbolic link in its last component.
  convenience init(
    opening path: String, flags: CInt, mode: mode_t = 0o644
  ) throws(SystemError) {
    let number = retryingOnInterrupt {
      postercache_open(path, flags | O_CLOEXEC | O_NOFOLLOW, mode)
    }
    guard number >= 0 else { throw SystemError(call: "open", path: path) }
    self.init(owning: number)
  }

  deinit {
    close(number)
  }

  /// What `fstat` says about the file.
  func status() throws(SystemError) -> stat {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw SystemError(call: "fstat") }
    return status
  }
}

/// A failed system call: its name, `errno` and the path it was about.
public struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The C function that failed.
  public let call: String
  /// The value of `errno`.
  public let errorNumber: CInt
  /// The file it was about, if any.
  public let path: String?

  /// - Parameter errorNumber: `errno` as it is now unless given.
  init(call: String, path: String? = nil, errorNumber: CInt = errno) {
    self.call = call
    self.errorNumber = errorNumber
    self.path = path
  }

  /// `open: Permission denied (/some/path)`.
  public var description: String {
    let reason = String(cString: strerror(errorNumber))
    return path.map { "\(call): \(reason) (\($0))" } ?? "\(call): \(reason)"
  }
}

/// Calls `body` until it does something else than fail with `EINTR`.
func retryingOnInterrupt<Result: SignedInteger>(_ body: () -> Result) -> Result {
  while true {
    let result = body()
    if result != -1 || errno != EINTR { return result }
  }
}
