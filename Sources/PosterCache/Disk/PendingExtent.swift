/// Part of a segment that nothing refers to any more and whose blocks are to be given back.
///
/// Key: segment and offset, big-endian so that byte order is number order. Value: the length, or
/// ``wholeFile`` for a segment that is to be deleted.
struct PendingExtent: Hashable {
  static let wholeFile = UInt64.max

  var segment: UInt32
  var offset: UInt64
  var length: UInt64

  var key: PendingKey { PendingKey(segment: segment, offset: offset) }
}

/// The key of a ``PendingExtent``.
struct PendingKey: FixedSizeRow, Hashable {
  static let size = 12
  let segment: UInt32
  let offset: UInt64

  init(segment: UInt32, offset: UInt64) {
    self.segment = segment
    self.offset = offset
  }

  init(_ reader: inout RowReader) {
    segment = reader.next(UInt32.self).byteSwapped
    offset = reader.next(UInt64.self).byteSwapped
  }

  func write(to writer: inout RowWriter) {
    writer.append(segment.byteSwapped)
    writer.append(offset.byteSwapped)
  }
}
