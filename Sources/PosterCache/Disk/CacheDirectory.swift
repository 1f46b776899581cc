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
  /// The same from the root: the program may change its working directory.
  private let absolutePath: String
  /// What its checksums begin with.
  let seed: UInt64
  /// Whether the file system takes blocks behind a file's end in advance, unless those that are needed
  /// are there already: they would count against nobody's limit.
  let hasEagerAllocation: Bool
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
    absolutePath = Self.absolute(path)
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
      let text = try Self.read(format)
      formatText =
        text.isEmpty
        ? try Self.makeFormat(format, in: directory, newSeed: newSeed) : text
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
      let type = try Self.fileSystemType(of: directory)
      hasEagerAllocation = type == Self.xfs
      index = try Self.openFile("index", in: directory, flags: O_RDONLY | O_DIRECTORY)
      segments = try Self.openFile("segments", in: directory, flags: O_RDONLY | O_DIRECTORY)
      stateFile = try Self.openFile("state", in: directory, flags: O_RDWR | O_CREAT)
      try Self.refuseLinks(["data.mdb", "lock.mdb"], in: index)
      // There, what LMDB maps would need new blocks when it is overwritten, and end the process where a
      // full disk has none. Where this fails, it is so.
      if type == Self.btrfs { _ = postercache_disable_copy_on_write(index.number) }
    } catch {
      throw Self.unusable(path, error)
    }
    // From here on an error leaves with `format` closed, which gives its locks up.
    try prepare(self)
    do throws(SystemError) {
      try Self.lock(format, F_RDLCK, byte: Self.usageLockOffset)
      try Self.lock(format, F_RDLCK, byte: Self.writingLockOffset)
      try Self.lock(format, F_UNLCK, byte: Self.creationLockOffset)
    } catch {
      throw Self.unusable(path, error)
    }
  }

  /// The byte of `format` whose lock is held, shared, by everybody who uses the directory.
  private static let usageLockOffset: Int64 = 0
  /// The byte whose lock is held, exclusively, by who opens the directory.
  private static let creationLockOffset: Int64 = 1
  /// The byte whose lock is held, shared, by everybody who may still change something, and the one
  /// whose lock is held, exclusively and briefly, by who ceases to.
  private static let writingLockOffset: Int64 = 2
  private static let ceasingLockOffset: Int64 = 3

  // MARK: - The whole

  /// Whether the directory still is what stands at its path: it may have been deleted or replaced.
  var isInPlace: Bool {
    var there = stat()
    guard let own = try? format.status(), stat("\(absolutePath)/format", &there) == 0 else {
      return false
    }
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
    guard !isUser || Self.tryLock(format, F_WRLCK, byte: Self.creationLockOffset) else {
      return nil
    }
    defer { if isUser { _ = Self.tryLock(format, F_UNLCK, byte: Self.creationLockOffset) } }
    guard Self.tryLock(format, F_WRLCK, byte: Self.usageLockOffset) else { return nil }
    // Giving up an exclusive lock cannot fail: the range is locked already.
    defer {
      _ = Self.tryLock(format, isUser ? F_RDLCK : F_UNLCK, byte: Self.usageLockOffset)
    }
    return try body()
  }

  /// Says that this user changes nothing any more. `sync` is called, to make everything safe that was
  /// ever committed, if nobody else does either; that is noted then.
  func ceaseWriting(_ sync: () throws(PosterError) -> Void) {
    // One after the other: of two that cease at once, the second one finds itself alone. Where a lock
    // fails or something cannot be written, a power cut before the next use costs the time of
    // rebuilding the index.
    try? Self.lock(format, F_WRLCK, byte: Self.ceasingLockOffset)
    defer {
      _ = Self.tryLock(format, F_UNLCK, byte: Self.writingLockOffset)
      _ = Self.tryLock(format, F_UNLCK, byte: Self.ceasingLockOffset)
    }
    guard Self.tryLock(format, F_WRLCK, byte: Self.writingLockOffset) else { return }
    var state = state
    guard state.unsyncedIn != nil else { return }
    do throws(PosterError) {
      try sync()
      state.unsyncedIn = nil
      try setState(state, syncing: false)
    } catch {
      return
    }
  }

  /// Notes, before a change is committed, that the index is about to be ahead of what is synced, and
  /// which limit an index that has to be rebuilt is to get. To be called inside a write transaction, so
  /// that no other process does the same meanwhile.
  func noteUnsynced(limit: UInt64) throws(PosterError) -> DirectoryState {
    let wanted = DirectoryState(limit: limit, seed: seed, unsyncedIn: Boot.current)
    if state != wanted { try setState(wanted, syncing: true) }
    return wanted
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
  ///
  /// - Throws: `ELOOP` if something that is not ours has its name.
  func createSegment(_ number: UInt32) throws(SystemError) -> FileDescriptor {
    let name = SegmentFormat.fileName(number)
    let file = try Self.openFile(name, in: segments, flags: O_RDWR | O_CREAT)
    guard try file.status().st_mode & S_IFMT == S_IFREG else {
      throw SystemError(call: "open", path: name, errorNumber: ELOOP)
    }
    return file
  }

  /// Opens the segment file `number`; `nil` if there is none. A link, directory or pipe of that name is
  /// not ours.
  func openSegment(_ number: UInt32, writable: Bool) throws(SystemError) -> FileDescriptor? {
    do throws(SystemError) {
      let file = try Self.openFile(
        SegmentFormat.fileName(number), in: segments, flags: writable ? O_RDWR : O_RDONLY)
      return try file.status().st_mode & S_IFMT == S_IFREG ? file : nil
    } catch {
      guard [ENOENT, ELOOP, EISDIR, ENXIO].contains(error.errorNumber) else { throw error }
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
