import FoundationEssentials
import Glibc

/// A file system of a few megabytes in memory, mounted in a temporary directory as long as this lives.
///
/// Takes the right to mount, as root has it.
public final class SmallDisk: Sendable {
  /// Where it is mounted.
  public var path: String { directory.path }

  private let directory = TemporaryDirectory()

  /// Whether this process may mount file systems.
  public static let isPossible = SmallDisk(megabytes: 1) != nil

  /// - Returns: `nil` if it cannot be mounted.
  public init?(megabytes: Int) {
    guard mount("tmpfs", directory.path, "tmpfs", 0, "size=\(megabytes)m") == 0 else { return nil }
  }

  deinit {
    // Files that are still open keep the file system, and nothing else, until they are closed.
    umount2(directory.path, CInt(MNT_DETACH))
  }

  /// Makes it read-only, or writable again; nobody may have a file of it open for writing.
  ///
  /// - Returns: whether that worked.
  public func setReadOnly(_ isReadOnly: Bool) -> Bool {
    let flags = UInt(MS_REMOUNT) | (isReadOnly ? UInt(MS_RDONLY) : 0)
    return mount(nil, directory.path, nil, flags, nil) == 0
  }

  /// Fills what is left with a file, to the last block.
  ///
  /// - Returns: the file's path; removing it frees the space.
  public func fillWithBallast() -> String {
    let file = "\(directory.path)/ballast"
    let descriptor = open(file, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    defer { close(descriptor) }
    let bytes = [UInt8](repeating: 1, count: 4096)
    while write(descriptor, bytes, bytes.count) > 0 {}
    precondition(errno == ENOSPC, "\(file): \(String(cString: strerror(errno)))")
    return file
  }
}
