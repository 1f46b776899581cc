import CLinux
import Glibc

/// The constants of a segment file; `docs/disk-format.md` describes it byte by byte.
enum SegmentFormat {
  /// Records begin at multiples of this, so that a hole punched for one gives back all its blocks.
  static let blockSize = 4096
  /// A segment takes no further record once it is this long. A larger record has one for itself.
  static let segmentBytes = 64 << 20
  /// How long that is in a directory with this limit, on a file system where blocks come back only
  /// with their segment: short enough that a few segments do not exceed it.
  static func segmentBytes(limit: UInt64, canPunch: Bool) -> Int {
    canPunch ? segmentBytes : min(segmentBytes, max(1 << 20, Int(limit / 16)))
  }
  /// The largest body that is stored.
  static let maximumBodyBytes = 1 << 30
  /// No record begins behind this offset: one larger than a segment has a segment for itself.
  static let maximumOffset = UInt64(segmentBytes + maximumBodyBytes + (1 << 20))
  /// A segment with less room than this takes no further record.
  static let leastRoomBytes = 256 << 10
  /// The byte whose lock makes a process the only one that appends; far behind any record.
  static let appenderLockOffset: Int64 = 1 << 62

  /// `bytes` rounded up to whole blocks.
  static func blockBytes(_ bytes: Int) -> Int {
    (bytes + blockSize - 1) / blockSize * blockSize
  }

  /// The name of a segment's file.
  static func fileName(_ number: UInt32) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 8 - digits.count)) + digits + ".seg"
  }

  /// The number of the segment whose file is called `name`, `nil` if that is no such name.
  static func number(of name: String) -> UInt32? {
    guard name.hasSuffix(".seg"), let number = UInt32(name.dropLast(4)), number < .max,
      fileName(number) == name
    else { return nil }
    return number
  }

  /// Takes the lock that makes its holder the only one who appends to `file`, for as long as the
  /// descriptor is open; `false` if another has it.
  static func lockAsAppender(_ file: FileDescriptor) -> Bool {
    postercache_ofd_lock(file.number, Int16(F_WRLCK), appenderLockOffset, 1) == 0
  }

  /// Whether somebody has that lock.
  static func isAppendedTo(_ file: FileDescriptor) -> Bool {
    var start: Int64 = 0
    var length: Int64 = 0
    return postercache_ofd_is_locked(file.number, appenderLockOffset, 1, &start, &length) == 1
  }
}
