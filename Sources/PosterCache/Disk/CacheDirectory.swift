import CLinux
import Glibc

/// The files of a cache directory: creates them, checks that they are ours, and holds the shared
/// lock that says that somebody uses the directory.
///
/// Everything is opened relative to descriptors of the directory and of `segments/`, and never
/// through a symbolic link: only the way to the directory itself may lead through some.
final class CacheDirectory: Sendable {
  /// The version of the format that this code reads and writes.
  static let formatVersion = 1

  /// The directory's path as given.
  let path: String
  /// The directory of the index.
  let index: FileDescriptor
  /// The directory of the segment files.
  let segments: FileDescriptor
  /// Holds the shared lock for as long as this object lives.
  private let format: FileDescriptor

  /// Opens the cache directory at `path`.
  ///
  /// - Parameter creating: make it and its parents if missing.
  /// Safe however many threads and processes do so at once.
  /// - Throws: ``PosterError/Code/directoryUnavailable`` or ``PosterError/Code/unsupportedFormat``.
  init(_ path: String, creating: Bool) throws(PosterError) {
    self.path = path
    let directory: FileDescriptor
    let formatText: String
    do throws(SystemError) {
      if creating { try Self.makeDirectories(path) }
      directory = try Self.openDirectory(path)
      try Self.refuseNetworkFileSystem(directory, path)
      try Self.refuseForeignContents(path)
      format = try Self.openFile(
        "format", in: directory, flags: creating ? O_RDWR | O_CREAT : O_RDWR)
      formatText = try Self.claim(format)
    } catch {
      guard creating || error.errorNumber != ENOENT else {
        throw PosterError(.directoryUnavailable, "there is no cache in \(path)")
      }
      throw Self.unusable(path, error)
    }
    try Self.check(format: formatText, path: path)
    do throws(SystemError) {
      try Self.tag(directory)
      try Self.makeDirectory("index", in: directory)
      try Self.makeDirectory("segments", in: directory)
      index = try Self.openFile("index", in: directory, flags: O_RDONLY | O_DIRECTORY)
      segments = try Self.openFile("segments", in: directory, flags: O_RDONLY | O_DIRECTORY)
      try Self.refuseLinks(["data.mdb", "lock.mdb"], in: index)
    } catch {
      throw Self.unusable(path, error)
    }
  }

  /// Opens the segment file `number` for writing, creating it if missing.
  func createSegment(_ number: UInt32) throws(SystemError) -> FileDescriptor {
    try Self.openFile(SegmentFormat.fileName(number), in: segments, flags: O_RDWR | O_CREAT)
  }

  /// Opens the segment file `number`; `nil` if there is none.
  func openSegment(_ number: UInt32, writable: Bool) throws(SystemError) -> FileDescriptor? {
    do throws(SystemError) {
      return try Self.openFile(
        SegmentFormat.fileName(number), in: segments, flags: writable ? O_RDWR : O_RDONLY)
    } catch {
      guard error.errorNumber == ENOENT else { throw error }
      return nil
    }
  }

  /// Deletes the segment file `number`. It is truncated first: a reader in another process may hold
  /// it open, and its blocks are to be free now.
  func deleteSegment(_ number: UInt32) {
    let name = SegmentFormat.fileName(number)
    if let file = try? Self.openFile(name, in: segments, flags: O_RDWR) {
      // Where this fails, the last one to close the file frees its blocks.
      _ = ftruncate(file.number, 0)
    }
    // Fails only if it is gone already, or if nothing at all can be changed here.
    unlinkat(segments.number, name, 0)
  }

  // MARK: - Opening

  private static func openDirectory(_ path: String) throws(SystemError) -> FileDescriptor {
    let number = retryingOnInterrupt {
      postercache_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    }
    guard number >= 0 else { throw SystemError(call: "open", path: path) }
    return FileDescriptor(owning: number)
  }

  private static func openFile(
    _ name: String, in directory: FileDescriptor, flags: CInt
  ) throws(SystemError) -> FileDescriptor {
    let number = retryingOnInterrupt {
      postercache_openat(directory.number, name, flags | O_CLOEXEC | O_NOFOLLOW, 0o644)
    }
    guard number >= 0 else { throw SystemError(call: "open", path: name) }
    return FileDescriptor(owning: number)
  }

  private static func unusable(_ path: String, _ error: SystemError) -> PosterError {
    PosterError(
      .directoryUnavailable, "cannot use the cache directory \(path)", underlying: error)
  }

  private static func makeDirectory(
    _ name: String, in directory: FileDescriptor
  ) throws(SystemError) {
    guard mkdirat(directory.number, name, 0o755) == 0 || errno == EEXIST else {
      throw SystemError(call: "mkdir", path: name)
    }
  }

  /// A directory that holds something, but no cache, is one that somebody named by mistake.
  private static func refuseForeignContents(_ path: String) throws(SystemError) {
    guard let stream = opendir(path) else { throw SystemError(call: "opendir", path: path) }
    defer { closedir(stream) }
    var foreign = false
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name == "format" { return }
      // What a file system, a checkout or a half-deleted cache may have there.
      let isHarmless =
        name.hasPrefix(".")
        || ["CACHEDIR.TAG", "README.md", "lost+found", "index", "segments"].contains(name)
      foreign = foreign || !isHarmless
    }
    guard !foreign else {
      throw SystemError(
        call: "it holds other files and no cache", path: path, errorNumber: ENOTEMPTY)
    }
  }

  /// LMDB opens its files by name, and would follow a symbolic link.
  private static func refuseLinks(
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

  private static func makeDirectories(_ path: String) throws(SystemError) {
    if mkdir(path, 0o755) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
      throw SystemError(call: "mkdir", path: path)
    }
    try makeDirectories(String(path[..<slash]))
    guard mkdir(path, 0o755) == 0 || errno == EEXIST else {
      throw SystemError(call: "mkdir", path: path)
    }
  }

  /// LMDB's locks and memory map do not work over a network (its documentation, "Caveats").
  private static func refuseNetworkFileSystem(
    _ directory: FileDescriptor, _ path: String
  ) throws(SystemError) {
    var status = statfs()
    guard fstatfs(directory.number, &status) == 0 else { throw SystemError(call: "statfs") }
    // NFS, SMB, SMB2, CIFS, 9P, Ceph, AFS (linux/magic.h).
    let network: Set<Int> = [
      0x6969, 0x517B, 0xFE53_4D42, 0xFF53_4D42, 0x0102_1997, 0x00C3_6400, 0x5346_414F,
    ]
    guard !network.contains(Int(status.f_type)) else {
      throw SystemError(call: "a cache on a network file system", path: path, errorNumber: ENOTSUP)
    }
  }

  /// Marks the directory as one that backups may leave out (bford.info/cachedir).
  private static func tag(_ directory: FileDescriptor) throws(SystemError) {
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

  /// Takes the shared lock and returns the format's text, writing it into a new directory.
  ///
  /// The lock for writing it is another one, and brief: whoever waited for an exclusive turn on the
  /// shared lock would wait until the last user of the directory is gone.
  private static func claim(_ format: FileDescriptor) throws(SystemError) -> String {
    try lock(format, F_WRLCK, byte: creationLockOffset)
    var text = try read(format)
    if text.isEmpty {
      text = formatText(formatVersion)
      try write(text, to: format)
    }
    try lock(format, F_UNLCK, byte: creationLockOffset)
    try lock(format, F_RDLCK, byte: usageLockOffset)
    return text
  }

  /// The byte of `format` whose lock is held, shared, by everybody who uses the directory.
  private static let usageLockOffset: Int64 = 0
  /// The byte whose lock is held, exclusively, while the text is looked at and written.
  private static let creationLockOffset: Int64 = 1

  private static func check(format text: String, path: String) throws(PosterError) {
    guard text != formatText(formatVersion) else { return }
    let line = text.prefix { $0 != "\n" }
    throw PosterError(
      .unsupportedFormat,
      line.hasPrefix(formatPrefix)
        ? "the cache directory \(path) was written by another version of postercache "
          + "(\"\(line)\"): use that version or another directory"
        : "\(path) is no cache directory: its file `format` is not ours")
  }

  private static let formatPrefix = "postercache cache format "

  private static func formatText(_ version: Int) -> String {
    "\(formatPrefix)\(version)\n"
  }

  private static func lock(
    _ file: FileDescriptor, _ type: CInt, byte: Int64
  ) throws(SystemError) {
    let status = retryingOnInterrupt {
      postercache_ofd_lock_wait(file.number, Int16(type), byte, 1)
    }
    guard status == 0 else { throw SystemError(call: "lock") }
  }

  private static func read(_ file: FileDescriptor) throws(SystemError) -> String {
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = retryingOnInterrupt { pread(file.number, &bytes, bytes.count, 0) }
    guard count >= 0 else { throw SystemError(call: "read") }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  private static func write(_ text: String, to file: FileDescriptor) throws(SystemError) {
    let bytes = Array(text.utf8)
    let count = retryingOnInterrupt { pwrite(file.number, bytes, bytes.count, 0) }
    guard count == bytes.count else { throw SystemError(call: "write") }
  }
}
