import CLinux
import Glibc
import Synchronization

/// A directory of our own on some file system, removed with all it holds by ``remove()``.
///
/// Nothing in it is removed before that. For up to five minutes after a file has been removed, ext4
/// without a journal avoids its inode, and finding another one takes up to a millisecond for each new
/// file (`recently_deleted` in the kernel's `fs/ext4/ialloc.c`): whoever creates a file for each
/// poster would pay for the benchmark's tidiness.
struct WorkDirectory: Sendable {
  let path: String
  /// A descriptor of the directory with a lock on it: whoever finds the directory without that lock knows that
  /// nobody uses it any more.
  private let lock: CInt

  private static let prefix = "postercache-bench."

  /// Makes a new directory inside `parent`, and removes those of runs that a signal has ended.
  init(in parent: String) throws(BenchError) {
    // Servers have working directories of their own.
    guard let resolved = realpath(parent, nil) else {
      throw BenchError(call: "cannot make a directory in", parent)
    }
    defer { free(resolved) }
    let parent = String(cString: resolved)
    Self.removeAbandoned(in: parent)
    var template = Array("\(parent)/\(Self.prefix)XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw BenchError(call: "cannot make a directory in", parent)
    }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    // The server's workers may run as somebody else.
    chmod(path, 0o755)
    lock = postercache_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      throw BenchError(call: "cannot lock", path)
    }
  }

  private static func removeAbandoned(in parent: String) {
    forEachChild(of: parent) { child, type in
      guard type == DT_DIR, child.utf8.dropFirst(parent.utf8.count + 1).starts(with: prefix.utf8)
      else { return }
      let directory = postercache_open(child, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
      guard directory >= 0 else { return }
      defer { close(directory) }
      var status = stat()
      // One that was made just now may be about to be locked.
      guard fstat(directory, &status) == 0, status.st_uid == geteuid(),
        time(nil) - status.st_ctim.tv_sec > 60, flock(directory, LOCK_EX | LOCK_NB) == 0
      else { return }
      removeTree(child)
    }
  }

  /// The number of directories that have been put aside.
  private static let used = Atomic<Int>(0)

  /// Makes an empty directory `name` in it; what was there is put aside and gives its blocks back.
  func makeEmpty(_ name: String) throws(BenchError) -> String {
    let directory = "\(path)/\(name)"
    let number = Self.used.add(1, ordering: .relaxed).newValue
    let aside = "\(path)/used-\(number)"
    if rename(directory, aside) == 0 { Self.emptyFiles(aside) }
    guard mkdir(directory, 0o755) == 0 else { throw BenchError(call: "mkdir", directory) }
    return directory
  }

  /// Makes an empty directory of its own, whose name begins with `name`.
  func makeNew(_ name: String) throws(BenchError) -> String {
    try makeEmpty("\(name)-\(Self.used.add(1, ordering: .relaxed).newValue)")
  }

  /// Waits until no file system has anything left to write, so that nobody pays for the previous
  /// contestant's writes.
  static func settle() {
    sync()
  }

  /// Removes the directory.
  func remove() {
    Self.removeTree(path)
    close(lock)
  }

  /// What kind of file system it is on.
  var fileSystem: String {
    var status = statfs()
    guard statfs(path, &status) == 0 else { return "unknown file system" }
    let names: [Int: String] = [
      0xEF53: "ext4", 0x0102_1994: "tmpfs", 0x5846_5342: "xfs", 0x9123_683E: "btrfs",
      0x794C_7630: "overlay", 0xF2F5_2010: "f2fs", 0x2FC1_2FC1: "zfs",
    ]
    let type = Int(status.f_type)
    return names[type] ?? "file system 0x" + String(type, radix: 16)
  }

  /// The number of files directly in `directory`, and the sum of their bytes.
  static func contents(of directory: String) -> (files: Int, bytes: Int) {
    guard let stream = opendir(directory) else { return (0, 0) }
    defer { closedir(stream) }
    var result = (files: 0, bytes: 0)
    while let entry = readdir(stream) {
      guard entry.pointee.d_type == DT_REG else { continue }
      let path = "\(directory)/\(name(entry))"
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      result.files += 1
      result.bytes += Int(status.st_size)
    }
    return result
  }

  private static func removeTree(_ path: String) {
    forEachChild(of: path) { child, type in
      if type == DT_DIR { removeTree(child) } else { unlink(child) }
    }
    rmdir(path)
  }

  private static func emptyFiles(_ path: String) {
    forEachChild(of: path) { child, type in
      if type == DT_DIR { emptyFiles(child) } else if type == DT_REG { truncate(child, 0) }
    }
  }

  /// Calls `body` with the path and the type of each entry; a symbolic link has a type of its own.
  private static func forEachChild(of path: String, _ body: (String, Int) -> Void) {
    guard let stream = opendir(path) else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = name(entry)
      guard name != ".", name != ".." else { continue }
      body("\(path)/\(name)", Int(entry.pointee.d_type))
    }
  }

  private static func name(_ entry: UnsafeMutablePointer<dirent>) -> String {
    withUnsafePointer(to: &entry.pointee.d_name) { name in
      name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
  }
}
