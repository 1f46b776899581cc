import CLinux
import Glibc

/// LMDB's two files, before and while LMDB maps them: a mapped page without a block behind it is a
/// SIGBUS for whoever touches it.
struct IndexFiles {
  let directory: FileDescriptor

  /// Room for the lock file: 1,024 readers of 64 bytes, and its header.
  private static let lockBytes: Int64 = 128 << 10

  /// Whether there is an index: one that was never written to is none.
  var exist: Bool { dataBytes > 0 }

  /// Bytes of the index, and those that it occupies on the disk.
  var dataBytes: Int { Int(status("data.mdb")?.st_size ?? 0) }
  var occupiedBytes: Int {
    ["data.mdb", "lock.mdb"].reduce(0) { $0 + Int(status($1)?.st_blocks ?? 0) * 512 }
  }

  /// Bytes that the index occupies without its lock file.
  var dataBlockBytes: Int { Int(status("data.mdb")?.st_blocks ?? 0) * 512 }

  /// Gives back the blocks of `ranges`; where the file system cannot, they stay.
  func punch(_ ranges: [Range<Int>]) throws(PosterError) {
    guard !ranges.isEmpty else { return }
    do throws(SystemError) {
      let file = try open("data.mdb", flags: O_RDWR)
      for range in ranges {
        _ = retryingOnInterrupt {
          postercache_punch_hole(file.number, Int64(range.lowerBound), Int64(range.count))
        }
      }
    } catch {
      throw PosterError(.notStored, "cannot shrink the cache index", underlying: error)
    }
  }

  private func status(_ name: String) -> stat? {
    var status = stat()
    return fstatat(directory.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
  }

  /// Makes sure that the lock file, which LMDB only sizes, has blocks.
  func prepare() throws(PosterError) {
    do throws(SystemError) {
      let file = try open("lock.mdb", flags: O_RDWR | O_CREAT)
      let status = retryingOnInterrupt { postercache_allocate(file.number, 0, Self.lockBytes) }
      // Some file systems cannot reserve; they take their chance.
      guard status == 0 || errno == EOPNOTSUPP || errno == ENOSYS else {
        throw SystemError(call: "fallocate", path: "lock.mdb")
      }
    } catch {
      throw PosterError(
        .directoryUnavailable, "cannot prepare the cache index", underlying: error)
    }
  }

  /// Takes the blocks of the first MiB, which do not count against the limit: evictions are changes to
  /// the index, and must be possible when the disk is full.
  func reserve() {
    // On a disk that is full already, or a file system that cannot, they take their chance.
    guard dataBlockBytes < IndexSize.free, let file = try? open("data.mdb", flags: O_RDWR) else {
      return
    }
    _ = retryingOnInterrupt { postercache_allocate(file.number, 0, Int64(IndexSize.free)) }
  }

  /// Lengthens the index to `bytes`, if it is shorter, so that no page of it lacks a block when it is
  /// touched. Only while nobody writes.
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
