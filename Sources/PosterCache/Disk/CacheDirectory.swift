import CLinux
import Glibc

/// The files of a cache directory: creates them, checks that they are ours, and holds the shared
/// lock that says that somebody uses the directory.
///
/// Everything is opened relative to descriptors of the directory and of `segments/`, and never
/// through a symbolic link: only the way to the directory itself may lead through some.
final class CacheDirectory: Sendable {
  /// The directory's path as given.
  let path: String
  /// What its checksums begin with.
  let seed: UInt64
  /// The directory of the index.
  let index: FileDescriptor
  /// The directory of the segment files.
  let segments: FileDescriptor
  /// Holds the shared lock for as long as this object lives.
  private let format: FileDescriptor
  private let stateFile: FileDescriptor

  /// Opens the cache directory at `path`. Safe however many threads and processes do so at once.
  ///
  /// - Parameters:
  ///   - creating: make it and its parents if missing.
  ///   - newSeed: what the checksums of a new directory begin with.
  ///   - prepare: called while nobody else can open the directory, before it counts as used.
  /// - Throws: ``PosterError/Code/directoryUnavailable``, ``PosterError/Code/unsupportedFormat`` or
  ///   what `prepare` throws.
  init(
    _ path: String, creating: Bool, newSeed: UInt64 = .random(in: 1 ... .max),
    prepare: (CacheDirectory) throws(PosterError) -> Void
  ) throws(PosterError) {
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
      // The lock for looking at and writing it is another one than the shared lock, and brief: whoever
      // waited for an exclusive turn on that would wait until the last user of the directory is gone.
      try Self.lock(format, F_WRLCK, byte: Self.creationLockOffset)
      var text = try Self.read(format)
      if text.isEmpty {
        text = DirectoryFormat(seed: newSeed).text
        do throws(SystemError) {
          try Self.write(text, to: format)
        } catch {
          // On a full disk: half a text would be taken for another format's.
          _ = ftruncate(format.number, 0)
          throw error
        }
      }
      formatText = text
    } catch {
      guard creating || error.errorNumber != ENOENT else {
        throw PosterError(.directoryUnavailable, "there is no cache in \(path)")
      }
      throw Self.unusable(path, error)
    }
    seed = try DirectoryFormat(text: formatText, of: path).seed
    do throws(SystemError) {
      try Self.tag(directory)
      try Self.makeDirectory("index", in: directory)
      try Self.makeDirectory("segments", in: directory)
      index = try Self.openFile("index", in: directory, flags: O_RDONLY | O_DIRECTORY)
      segments = try Self.openFile("segments", in: directory, flags: O_RDONLY | O_DIRECTORY)
      stateFile = try Self.openFile("state", in: directory, flags: O_RDWR | O_CREAT)
      try Self.refuseLinks(["data.mdb", "lock.mdb"], in: index)
    } catch {
      throw Self.unusable(path, error)
    }
    // From here on an error leaves with `format` closed, which gives its locks up.
    try prepare(self)
    do throws(SystemError) {
      try Self.lock(format, F_RDLCK, byte: Self.usageLockOffset)
      try Self.lock(format, F_UNLCK, byte: Self.creationLockOffset)
    } catch {
      throw Self.unusable(path, error)
    }
  }

  /// The byte of `format` whose lock is held, shared, by everybody who uses the directory.
  private static let usageLockOffset: Int64 = 0
  /// The byte whose lock is held, exclusively, by who opens the directory.
  private static let creationLockOffset: Int64 = 1

  // MARK: - The whole

  /// Whether the directory still is what stands at its path: it may have been deleted or replaced.
  var isInPlace: Bool {
    var there = stat()
    guard let own = try? format.status(), stat("\(path)/format", &there) == 0 else { return false }
    return there.st_dev == own.st_dev && there.st_ino == own.st_ino
  }

  /// Runs `body` if nobody else uses the directory, and keeps everybody else out meanwhile.
  ///
  /// - Parameter isUser: the caller counts as using the directory itself, and goes on to do so;
  ///   otherwise it is just opening it.
  /// - Returns: `nil` if somebody else uses or opens it.
  func ifUnused<Result>(
    isUser: Bool, _ body: () throws(PosterError) -> Result
  ) throws(PosterError) -> Result? {
    // Who opens the directory has this lock already. It waits for the other one while it holds this:
    // neither may be waited for here.
    guard !isUser || tryLock(F_WRLCK, Self.creationLockOffset) else { return nil }
    defer { if isUser { _ = tryLock(F_UNLCK, Self.creationLockOffset) } }
    guard tryLock(F_WRLCK, Self.usageLockOffset) else { return nil }
    // Giving up an exclusive lock cannot fail: the range is locked already.
    defer { _ = tryLock(isUser ? F_RDLCK : F_UNLCK, Self.usageLockOffset) }
    return try body()
  }

  private func tryLock(_ type: CInt, _ byte: Int64) -> Bool {
    postercache_ofd_lock(format.number, Int16(type), byte, 1) == 0
  }

  /// What the file `state` says; nothing where it cannot be read.
  var state: DirectoryState {
    // What is not known is only missed after the index has been lost as well.
    DirectoryState(text: (try? Self.read(stateFile)) ?? "")
  }

  /// Replaces what the file `state` says.
  ///
  /// - Parameter syncing: return only when it would survive a power cut.
  func setState(_ state: DirectoryState, syncing: Bool) throws(PosterError) {
    do throws(SystemError) {
      try Self.write(state.text, to: stateFile)
      guard !syncing || fdatasync(stateFile.number) == 0 else {
        throw SystemError(call: "fdatasync", path: "state")
      }
    } catch {
      throw PosterError(.notStored, "cannot write to the cache", underlying: error)
    }
  }

  // MARK: - Segments

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

  /// Takes the name of segment `number` out of the directory.
  func unlinkSegment(_ number: UInt32) {
    // Fails only if it is gone already, or if nothing at all can be changed here.
    unlinkat(segments.number, SegmentFormat.fileName(number), 0)
  }

  /// The numbers of all segment files, in ascending order: regular files whose name is one that
  /// ``SegmentFormat/fileName(_:)`` gives. What else lies there is not ours.
  func segmentNumbers() throws(PosterError) -> [UInt32] {
    let number = retryingOnInterrupt {
      postercache_openat(segments.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
    }
    guard number >= 0, let stream = fdopendir(number) else {
      if number >= 0 { close(number) }
      throw Self.unusable(path, SystemError(call: "opendir", path: "segments"))
    }
    defer { closedir(stream) }
    var numbers: [UInt32] = []
    while let entry = readdir(stream) {
      guard let number = SegmentFormat.number(of: Self.name(of: entry)) else { continue }
      var status = stat()
      let name = SegmentFormat.fileName(number)
      guard fstatat(segments.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
        status.st_mode & S_IFMT == S_IFREG
      else { continue }
      numbers.append(number)
    }
    return numbers.sorted()
  }
}
