import CLinux
import Glibc
import Synchronization

/// The segment files of a directory: open descriptors for reading, and giving blocks back.
///
/// Safe to use from any thread. Since numbers are never used twice, an open descriptor can become
/// useless but never wrong.
final class SegmentFiles: Sendable {
  /// Descriptors kept open, at most; 256 segments are 16 GiB.
  static let maximumOpen = 256

  private let directory: CacheDirectory
  private let open = Lock<[UInt32: FileDescriptor]>([:])
  private let punches: Atomic<Bool>

  /// - Parameter canPunch: `false` to go without holes, as on file systems that have none.
  init(directory: CacheDirectory, canPunch: Bool = true) {
    self.directory = directory
    punches = Atomic(canPunch)
  }

  /// Whether blocks can be given back from the middle of a file: so it is taken to be until the file
  /// system refuses it.
  var canPunch: Bool { punches.load(ordering: .relaxed) }

  /// The file of segment `number` for reading, or `nil` if it does not exist.
  func file(_ number: UInt32) throws(SystemError) -> FileDescriptor? {
    if let file = open.withLock({ $0[number] }) { return file }
    guard let file = try directory.openSegment(number, writable: false) else { return nil }
    open.withLock { open in
      // Whoever still reads from a descriptor that is dropped here keeps it alive.
      if open.count >= Self.maximumOpen { open.removeAll() }
      open[number] = file
    }
    return file
  }

  /// The same without keeping it open: for a look inside a transaction that may have begun the segment.
  /// If that is undone, the number is used again, perhaps for another file.
  func uncommittedFile(_ number: UInt32) throws(SystemError) -> FileDescriptor? {
    try directory.openSegment(number, writable: false)
  }

  // MARK: - Leases

  /// Opens segment `number` anew and locks `range` of it against being given back, until the
  /// descriptor is closed. A descriptor of its own, because locks belong to it: two leases on one
  /// record must end separately.
  func leased(_ number: UInt32, _ range: Range<UInt64>) throws(SystemError) -> FileDescriptor? {
    guard let file = try directory.openSegment(number, writable: false) else { return nil }
    let status = retryingOnInterrupt {
      postercache_ofd_lock(
        file.number, Int16(F_RDLCK), Int64(range.lowerBound), Int64(range.count))
    }
    guard status == 0 else { throw SystemError(call: "lock") }
    return file
  }

  // MARK: - Pins

  /// Writes the mark of a pinned poster, or takes it away, in the record at `offset` of segment
  /// `number`; nothing where there is no such segment.
  func markPin(_ isPinned: Bool, _ number: UInt32, at offset: UInt64) throws(SystemError) {
    guard let file = try directory.openSegment(number, writable: true) else { return }
    var mark = isPinned ? RecordHeader.pinMark : 0
    let place = off_t(offset) + off_t(RecordHeader.pinOffset)
    guard retryingOnInterrupt({ pwrite(file.number, &mark, 1, place) }) == 1 else {
      throw SystemError(call: "write", path: SegmentFormat.fileName(number))
    }
  }

  // MARK: - Giving back

  /// What became of extents that were to be given back.
  struct Release {
    /// Those that need no further attempt.
    var done: [PendingExtent] = []
    /// Those that somebody holds a lease on, or that failed; to be tried again.
    var held: [PendingExtent] = []

    var isEmpty: Bool { done.isEmpty && held.isEmpty }
  }

  /// Gives back the blocks of `extents`, and deletes the files of retired segments.
  func release(_ extents: [PendingExtent]) -> Release {
    var release = Release()
    var rest = extents.sorted { ($0.segment, $0.offset) < ($1.segment, $1.offset) }[...]
    while let number = rest.first?.segment {
      let ofSegment = rest.prefix { $0.segment == number }
      rest = rest.dropFirst(ofSegment.count)
      do throws(SystemError) {
        if let file = try directory.openSegment(number, writable: true) {
          self.release(ofSegment, in: file, &release)
        } else {
          // The file is gone, and its blocks with it.
          release.done += ofSegment
        }
      } catch {
        for extent in ofSegment { release.hold(extent, bytes: extent.length) }
      }
    }
    return release
  }

  private func release(
    _ extents: ArraySlice<PendingExtent>, in file: FileDescriptor, _ release: inout Release
  ) {
    var rest = extents
    while let first = rest.first {
      if first.length == PendingExtent.wholeFile {
        delete(first, file, &release)
        rest.removeFirst()
        continue
      }
      // Records that were stored one after the other tend to be evicted together: one hole for all.
      var end = first.offset
      let run = rest.prefix { extent in
        guard extent.offset == end, extent.length != PendingExtent.wholeFile else { return false }
        end += extent.length
        return true
      }
      rest = rest.dropFirst(run.count)
      if run.count > 1, punch(first.offset..<end, in: file) {
        release.done += run
      } else {
        for extent in run {
          if punch(extent.offset..<extent.offset + extent.length, in: file) {
            release.done.append(extent)
          } else {
            release.hold(extent, bytes: extent.length)
          }
        }
      }
    }
  }

  /// Gives back the blocks of a range that nobody holds a lease on.
  private func punch(_ range: Range<UInt64>, in file: FileDescriptor) -> Bool {
    let offset = Int64(range.lowerBound)
    let length = Int64(range.count)
    guard canPunch, lease(in: range, of: file) == nil else { return false }
    let status = retryingOnInterrupt { postercache_punch_hole(file.number, offset, length) }
    if status != 0, errno == EOPNOTSUPP || errno == ENOSYS {
      punches.store(false, ordering: .relaxed)
    }
    return status == 0
  }

  /// Truncates the file before it is unlinked: a reader in another process may hold it open, and its
  /// blocks are to be free now.
  private func delete(
    _ extent: PendingExtent, _ file: FileDescriptor, _ release: inout Release
  ) {
    _ = open.withLock { $0.removeValue(forKey: extent.segment) }
    // All of it but the byte by which appenders lock.
    let whole = UInt64(0)..<UInt64(SegmentFormat.appenderLockOffset)
    guard lease(in: whole, of: file) == nil else {
      punchAround(UInt64(0)..<SegmentFormat.maximumOffset, in: file)
      let blocks = (try? file.status().st_blocks) ?? 0  // a file that is open can be asked
      return release.hold(extent, bytes: UInt64(max(1, blocks * 512)))
    }
    // Where this fails, the last one to close the file frees its blocks.
    _ = ftruncate(file.number, 0)
    directory.unlinkSegment(extent.segment)
    release.done.append(extent)
  }

  /// Gives back what of a range nobody holds a lease on.
  private func punchAround(_ range: Range<UInt64>, in file: FileDescriptor) {
    guard !range.isEmpty, let lease = lease(in: range, of: file) else {
      if !range.isEmpty { _ = punch(range, in: file) }
      return
    }
    punchAround(range.lowerBound..<max(range.lowerBound, lease.lowerBound), in: file)
    punchAround(min(range.upperBound, lease.upperBound)..<range.upperBound, in: file)
  }

  /// Where somebody holds a lease on part of a range, if so. Asking is enough: the index does not refer
  /// to the range any more, so that whoever locks it from now on looks there and lets go.
  private func lease(in range: Range<UInt64>, of file: FileDescriptor) -> Range<UInt64>? {
    var start: Int64 = 0
    var length: Int64 = 0
    let status = retryingOnInterrupt {
      postercache_ofd_is_locked(
        file.number, Int64(range.lowerBound), Int64(range.count), &start, &length)
    }
    if status == 0 { return nil }
    // What cannot be known is taken for a lease.
    guard status == 1, start >= 0, length > 0 else { return range }
    return UInt64(start)..<UInt64(start) + UInt64(length)
  }
}

extension SegmentFiles.Release {
  fileprivate mutating func hold(_ extent: PendingExtent, bytes: UInt64) {
    var extent = extent
    // An extent that cannot be opened just now occupies what it did.
    extent.heldBytes = bytes == PendingExtent.wholeFile ? 1 : bytes
    held.append(extent)
  }
}
