import CLinux
import Glibc
import PosterCache

/// The directory that pictures are exported into.
///
/// Everything is done relative to its descriptor and in it alone: whatever stands under a picture's
/// name is replaced, and never followed if it is a symbolic link. A file appears whole or not at all.
final class ExportDirectory {
  private let path: String
  private let descriptor: CInt

  /// Opens the directory at `path`, which is made if missing, and its parents with it.
  ///
  /// - Throws: ``PosterError/Code/notStored`` with the system's reason.
  init(_ path: String) throws(PosterError) {
    let creation = Self.makeDirectories(path)
    let opened = postercache_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    guard opened >= 0 else {
      let number = errno == ENOENT && creation != 0 ? creation : errno
      throw PosterError(.notStored, "cannot write to \(path): \(Self.reason(number))")
    }
    self.path = path
    descriptor = opened
    guard !["", "/.."].contains(where: { Self.isCache("/proc/self/fd/\(opened)\($0)") }) else {
      // Only if it has just been made: others are not empty.
      rmdir(path)
      throw PosterError(
        .invalidConfiguration, "\(path) belongs to a cache directory: export to another one")
    }
    removeLeftovers()
  }

  deinit {
    close(descriptor)
  }

  /// Puts `body` into the file `name`, by a temporary file and `renameat`.
  ///
  /// - Parameter name: one component, as ``ExportName`` makes them: it begins with no dot, so that it
  ///   cannot be a temporary file's.
  /// - Throws: ``PosterError/Code/notStored`` with the system's reason; nothing is left then.
  func write(_ body: PosterBody, as name: String) throws(PosterError) {
    func failure(_ number: CInt) -> PosterError {
      PosterError(.notStored, "cannot write \(path)/\(name): \(Self.reason(number))")
    }
    let temporary: String
    let file: CInt
    switch makeTemporaryFile() {
    case .success(let made): (temporary, file) = made
    case .failure(let error): throw failure(error.number)
    }
    var error: CInt = 0
    do {
      try body.withUnsafeBytes { bytes throws(WriteError) in try writeAll(bytes, to: file) }
    } catch {
      _ = close(file)
      unlinkat(descriptor, temporary, 0)
      throw failure(error.number)
    }
    // Some file systems tell only now that the disk is full.
    if close(file) != 0 { error = errno }
    if error == 0, renameat(descriptor, temporary, descriptor, name) != 0 { error = errno }
    guard error == 0 else {
      unlinkat(descriptor, temporary, 0)
      throw failure(error)
    }
  }

  /// A new file, open for writing, under a name that nobody has.
  private func makeTemporaryFile() -> Result<(name: String, file: CInt), WriteError> {
    // A process that was killed may have had our number, and left its file.
    for attempt in 0..<100 {
      let name = ".postercache-\(getpid())-\(attempt).tmp"
      let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
      let file = postercache_openat(descriptor, name, flags, 0o666)
      let number = errno
      if file >= 0 { return .success((name, file)) }
      guard number == EEXIST else { return .failure(WriteError(number: number)) }
    }
    return .failure(WriteError(number: EEXIST))
  }

  /// Whether the directory at `path` is a cache: it has the files that every cache has.
  private static func isCache(_ path: String) -> Bool {
    ["format", "segments", "index"].allSatisfy { access("\(path)/\($0)", F_OK) == 0 }
  }

  /// Removes the temporary files of exports that died. Processes in other containers have numbers of
  /// their own: what is young may be theirs.
  private func removeLeftovers() {
    guard let stream = opendir("/proc/self/fd/\(descriptor)") else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      let words = name.split(separator: "-", omittingEmptySubsequences: false)
      guard words.count == 3, words[0] == ".postercache", words[2].hasSuffix(".tmp"),
        let process = pid_t(words[1]), process > 0, kill(process, 0) == -1, errno == ESRCH,
        isOld(name)
      else { continue }
      unlinkat(descriptor, name, 0)
    }
  }

  private func isOld(_ name: String) -> Bool {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return false }
    return status.st_mtim.tv_sec < time(nil) - 3600
  }

  /// Makes the directory and its parents where they are missing; returns `errno` of the last that
  /// could not be made, else 0.
  private static func makeDirectories(_ path: String) -> CInt {
    var error: CInt = 0
    var made = path.hasPrefix("/") ? "/" : ""
    for component in path.split(separator: "/") {
      made += component
      error = mkdir(made, 0o777) == 0 || errno == EEXIST ? 0 : errno
      made += "/"
    }
    return error
  }

  private static func reason(_ number: CInt) -> String { String(cString: strerror(number)) }
}
