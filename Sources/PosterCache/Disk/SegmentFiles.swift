import CLinux
import Glibc

/// Open segment files for reading, by number.
///
/// Safe to use from any thread. Since numbers are never used twice, an open descriptor can become
/// useless but never wrong.
final class SegmentFiles: Sendable {
  /// Descriptors kept open, at most; 256 segments are 16 GiB.
  static let maximumOpen = 256

  private let directory: CacheDirectory
  private let open = Lock<[UInt32: FileDescriptor]>([:])

  init(directory: CacheDirectory) {
    self.directory = directory
  }

  /// The file of segment `number`, or `nil` if it does not exist.
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

  /// Gives back the blocks of `extents`, and deletes the files of retired segments.
  ///
  /// - Returns: the extents that need no further attempt.
  func release(_ extents: [PendingExtent]) -> [PendingExtent] {
    extents.filter { extent in
      guard extent.length != PendingExtent.wholeFile else {
        _ = open.withLock { $0.removeValue(forKey: extent.segment) }
        directory.deleteSegment(extent.segment)
        return true
      }
      do throws(SystemError) {
        guard let file = try directory.openSegment(extent.segment, writable: true) else {
          return true
        }
        let status = retryingOnInterrupt {
          postercache_punch_hole(file.number, Int64(extent.offset), Int64(extent.length))
        }
        return status == 0
      } catch {
        return false
      }
    }
  }
}
