/// What a segment holds.
struct SegmentRow: FixedSizeRow, Equatable {
  static let size = 24

  /// Offset behind the last committed record; a multiple of the block size.
  var committedEnd: UInt64 = 0
  /// Bytes in blocks of the records that the index refers to, and their number.
  var liveBytes: UInt64 = 0
  var liveCount: UInt32 = 0
  /// Records may still be appended, by whoever holds the segment's lock.
  var isOpen = true

  var isPlausible: Bool {
    committedEnd <= SegmentFormat.maximumOffset && liveBytes <= committedEnd
      && UInt64(liveCount) * UInt64(SegmentFormat.blockSize) <= liveBytes
  }
}

extension SegmentRow {
  init(_ reader: inout RowReader) {
    committedEnd = reader.next()
    liveBytes = reader.next()
    liveCount = reader.next()
    isOpen = reader.next(UInt32.self) & 1 != 0
  }

  func write(to writer: inout RowWriter) {
    writer.append(committedEnd)
    writer.append(liveBytes)
    writer.append(liveCount)
    writer.append(UInt32(isOpen ? 1 : 0))
  }
}

/// A segment's number as a key.
struct SegmentKey: FixedSizeRow, Hashable {
  static let size = 4
  let number: UInt32

  init(_ number: UInt32) {
    self.number = number
  }

  init(_ reader: inout RowReader) {
    number = reader.next()
  }

  func write(to writer: inout RowWriter) {
    writer.append(number)
  }
}
