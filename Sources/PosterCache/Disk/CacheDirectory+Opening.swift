import CLinux
import Glibc

/// Finding, making and refusing directories.
extension CacheDirectory {
  static func openDirectory(_ path: String) throws(SystemError) -> FileDescriptor {
    let number = retryingOnInterrupt {
      postercache_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    }
    guard number >= 0 else { throw SystemError(call: "open", path: path) }
    return FileDescriptor(owning: number)
  }

  /// `path` from the root, with the links in it as they are.
  static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
    defer { free(current) }
    return "\(String(cString: current))/\(path)"
  }

  static func openFile(
    _ name: String, in directory: FileDescriptor, flags: CInt
  ) throws(SystemError) -> FileDescriptor {
    let number = retryingOnInterrupt {
      // Of a pipe that has one of our names nobody would ever open the other end.
      postercache_openat(
        directory.number, name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o644)
    }
    guard number >= 0 else { throw SystemError(call: "open", path: name) }
    return FileDescriptor(owning: number)
  }

  static func unusable(_ path: String, _ error: SystemError) -> PosterError {
    PosterError(
      .directoryUnavailable, "cannot use the cache directory \(path)", underlying: error)
  }

  static func makeDirectory(
    _ name: String, in directory: FileDescriptor
  ) throws(SystemError) {
    guard mkdirat(directory.number, name, 0o755) == 0 || errno == EEXIST else {
      throw SystemError(call: "mkdir", path: name)
    }
  }

  static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
    withUnsafePointer(to: &entry.pointee.d_name) { pointer in
      pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
  }

  /// A directory that holds something, but no cache, is one that somebody named by mistake.
  static func refuseForeignContents(_ path: String) throws(SystemError) {
    guard let stream = opendir(path) else { throw SystemError(call: "opendir", path: path) }
    defer { closedir(stream) }
    var foreign = false
    while let entry = readdir(stream) {
      let name = name(of: entry)
      if name == "format" { return }
      // What a file system, a checkout or a half-deleted cache may have there.
      let isHarmless =
        name.hasPrefix(".")
        || ["CACHEDIR.TAG", "README.md", "lost+found", "index", "segments", "state"].contains(name)
      foreign = foreign || !isHarmless
    }
    guard !foreign else {
      throw SystemError(
        call: "it holds other files and no cache", path: path, errorNumber: ENOTEMPTY)
    }
  }

  /// LMDB opens its files by name, and would follow a symbolic link.
  static func refuseLinks(
    _ names: [String], in directory: FileDescriptor
  ) throws(SystemError) {
    for name in names {
      var status = stat()
      guard fstatat(directory.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw SystemError(call: "open", path: name, errorNumber: ELOOP)
      }
    }
  }

  static func makeDirectories(_ path: String) throws(SystemError) {
    if mkdir(path, 0o755) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
      throw SystemError(call: "mkdir", path: path)
    }
    try makeDirectories(String(path[..<slash]))
    guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
      throw SystemError(call: "mkdir", path: path)
    }
  }

  /// Numbers of file systems (linux/magic.h).
  static let xfs = 0x5846_5342
  static let btrfs = 0x9123_683E

  static func fileSystemType(of directory: FileDescriptor) throws(SystemError) -> Int {
    var status = statfs()
    guard fstatfs(directory.number, &status) == 0 else { throw SystemError(call: "statfs") }
    return Int(status.f_type)
  }

  /// LMDB's locks and memory map do not work over a network (its documentation, "Caveats").
  static func refuseNetworkFileSystem(
    _ directory: FileDescriptor, _ path: String
  ) throws(SystemError) {
    let type = try fileSystemType(of: directory)
    // NFS, SMB, SMB2, CIFS, 9P, Ceph, AFS (linux/magic.h).
    let network: Set<Int> = [
      0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x0102_1997, 0x00C3_6400, 0x5346_414F,
    ]
    guard !network.contains(type) else {
      throw SystemError(call: "a cache on a network file system", path: path, errorNumber: ENOTSUP)
    }
  }

  /// Marks the directory as one that backups may leave out (bford.info/cachedir).
  static func tag(_ directory: FileDescriptor) throws(SystemError) {
    let text = """
      Signature: 8a477f597d28d172789f06886806bc55
      # This directory is a cache of posters made by postercache. Deleting it loses nothing.

      """
    let file: FileDescriptor
    do throws(SystemError) {
      file = try openFile("CACHEDIR.TAG", in: directory, flags: O_WRONLY | O_CREAT | O_EXCL)
    } catch {
      guard error.errorNumber == EEXIST else { throw error }
      return
    }
    try write(text, to: file)
  }

  static func lock(
    _ file: FileDescriptor, _ type: CInt, byte: Int64
  ) throws(SystemError) {
    let status = retryingOnInterrupt {
      postercache_ofd_lock_wait(file.number, Int16(type), byte, 1)
    }
    guard status == 0 else { throw SystemError(call: "lock") }
  }

  static func read(_ file: FileDescriptor) throws(SystemError) -> String {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = retryingOnInterrupt { pread(file.number, &bytes, bytes.count, 0) }
    guard count >= 0 else { throw SystemError(call: "read") }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  /// Whether the lock could be had, or given up, at once.
  static func tryLock(_ file: FileDescriptor, _ type: CInt, byte: Int64) -> Bool {
    postercache_ofd_lock(file.number, Int16(type), byte, 1) == 0
  }

  /// Writes the text of a new directory's format, so that it survives a power cut.
  ///
  /// An empty one is that of a directory which lost it in a power cut: without the seed every record
  /// would be lost. The state has it as well.
  static func makeFormat(
    _ file: FileDescriptor, in directory: FileDescriptor, newSeed: UInt64
  ) throws(SystemError) -> String {
    var known: UInt64?
    // A new directory has none.
    if let state = try? openFile("state", in: directory, flags: O_RDONLY) {
      known = DirectoryState(text: try read(state)).seed
    }
    let text = DirectoryFormat(seed: known ?? newSeed).text
    do throws(SystemError) {
      try write(text, to: file)
      guard fdatasync(file.number) == 0 else { throw SystemError(call: "fdatasync") }
    } catch {
      // On a full disk: half a text would be taken for another format's.
      _ = ftruncate(file.number, 0)
      throw error
    }
    return text
  }

  static func write(_ text: String, to file: FileDescriptor) throws(SystemError) {
    let bytes = Array(text.utf8)
    let count = retryingOnInterrupt { pwrite(file.number, bytes, bytes.count, 0) }
    guard count == bytes.count else {
      throw SystemError(call: "write", errorNumber: count < 0 ? errno : ENOSPC)
    }
  }
}
