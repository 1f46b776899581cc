import CLinux
import Glibc

/// What processes that died have left in a directory's segments: bytes behind the committed end, and
/// files that were begun and never entered.
struct Leftovers {
  let index: Index
  let directory: CacheDirectory

  /// Takes them away. Costs a few calls for each segment that may take further records, of which there
  /// is one for each process that writes, however many entries there are.
  func reclaim() throws(PosterError) {
    let isClean = try index.read { transaction throws(PosterError) in
      try isTidy(Segments(transaction))
    }
    guard !isClean else { return }
    // Appending happens in write transactions: inside one, what is not committed is nobody's.
    try index.write { transaction throws(PosterError) in
      try tidy(Segments(transaction))
    }
  }

  /// The segments that a process may have been writing to when it died.
  private struct Segments {
    var open: [(number: UInt32, committedEnd: Int)] = []
    /// The number of the first segment that was never entered.
    let next: UInt32

    init(_ transaction: IndexTransaction) throws(PosterError) {
      next = UInt32(try transaction.totals().nextSegment)
      for (number, row) in try transaction.segments() {
        // What was never entered is deleted: that must not be believed of one that was.
        guard number < next else { throw .damagedIndex("numbers of segments") }
        if row.isOpen { open.append((number, Int(row.committedEnd))) }
      }
    }
  }

  /// What a living process appends to is no leftover: it may be at it just now.
  private func isTidy(_ segments: Segments) throws(PosterError) -> Bool {
    do throws(SystemError) {
      let next = try directory.openSegment(segments.next, writable: false)
      if let next, !SegmentFormat.isAppendedTo(next) { return false }
      for (number, committedEnd) in segments.open {
        let file = try directory.openSegment(number, writable: false)
        if let file, try file.status().st_size > committedEnd,
          !SegmentFormat.isAppendedTo(file)
        {
          return false
        }
      }
      return true
    } catch {
      throw PosterError(.notStored, "cannot look at the cache's segments", underlying: error)
    }
  }

  private func tidy(_ segments: Segments) throws(PosterError) {
    do throws(SystemError) {
      for (number, committedEnd) in segments.open {
        // Who has the lock is alive, and has cut off itself what it could not commit.
        guard let file = try directory.openSegment(number, writable: true),
          SegmentFormat.lockAsAppender(file), try file.status().st_size > committedEnd
        else { continue }
        guard ftruncate(file.number, off_t(committedEnd)) == 0 else {
          throw SystemError(call: "ftruncate", path: SegmentFormat.fileName(number))
        }
      }
      var number = segments.next
      while let file = try directory.openSegment(number, writable: true) {
        _ = ftruncate(file.number, 0)
        directory.unlinkSegment(number)
        number += 1
      }
    } catch {
      throw PosterError(.notStored, "cannot tidy the cache's segments", underlying: error)
    }
  }
}
