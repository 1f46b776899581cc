import CLinux
import Glibc

/// LMDB's two files, before and while LMDB maps them: a mapped page without a block behind it is a
/// SIGBUS for whoever touches it.
struct IndexFiles {
  let directory: FileDescriptor

  /// Room for the lock file: 1,024 readers of 64 bytes, and its header.
  private static let lockBytes: Int64 = 128 << 10

  /// Whether there is an index.
  var exist: Bool {
    var status = stat()
    return fstatat(directory.number, "data.mdb", &status, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// Makes sure that the lock file, which LMDB only sizes, has blocks.
  func prepare() throws(PosterError) {
    do throws(SystemError) {
      let file = try open("lock.mdb", flags: O_RDWR | O_CREAT)
      let status = retryingOnInterrupt { postercache_reserve(file.number, Self.lockBytes) }
      // Some file systems cannot reserve; they take their chance.
      guard status == 0 || errno == EOPNOTSUPP || errno == ENOSYS else {
        throw SystemError(call: "fallocate", path: "lock.mdb")
      }
    } catch {
      throw PosterError(
        .directoryUnavailable, "cannot prepare the cache index", underlying: error)
    }
  }

  /// Lengthens an index that was cut short to `bytes`. LMDB then finds zeros, which it reports as
  /// damage where they are needed.
  func cover(_ bytes: Int) throws(PosterError) {
    do throws(SystemError) {
      let file = try open("data.mdb", flags: O_RDWR)
      guard try file.status().st_size < bytes else { return }
      guard ftruncate(file.number, off_t(bytes)) == 0 else { throw SystemError(call: "ftruncate") }
    } catch {
      throw PosterError(
        .directoryUnavailable, "cannot prepare the cache index", underlying: error)
    }
  }

  /// Removes both.
  func remove() {
    unlinkat(directory.number, "data.mdb", 0)
    unlinkat(directory.number, "lock.mdb", 0)
  }

  private func open(_ name: String, flags: CInt) throws(SystemError) -> FileDescriptor {
    let number = retryingOnInterrupt {
      postercache_openat(directory.number, name, flags | O_CLOEXEC | O_NOFOLLOW, 0o644)
    }
    guard number >= 0 else { throw SystemError(call: "open", path: name) }
    return FileDescriptor(owning: number)
  }
}
