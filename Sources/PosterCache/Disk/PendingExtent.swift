/// Part of a segment that nothing refers to any more and whose blocks are to be given back.
///
/// Key: segment and offset, big-endian so that byte order is number order. Value: the length, or
/// ``wholeFile`` for a segment that is to be deleted, or, once that was tried and somebody holds a
/// lease on it, the bytes that it goes on to occupy, with bits 62 (and 63 for a whole segment) set.
struct PendingExtent: Hashable {
  static let wholeFile = UInt64.max

  var segment: UInt32
  var offset: UInt64
  /// Bytes from there, or ``wholeFile``.
  var length: UInt64
  /// Bytes that could not be given back because of a lease, and count against the limit until they
  /// can be; 0 until that was tried.
  var heldBytes: UInt64 = 0

  var key: PendingKey { PendingKey(segment: segment, offset: offset) }

  private static let heldFlag = UInt64(1) << 62
  private static let wholeFlag = UInt64(1) << 63

  /// The value as it is stored.
  var value: NumberRow {
    guard heldBytes > 0 else { return NumberRow(length) }
    return NumberRow(
      heldBytes | Self.heldFlag | (length == Self.wholeFile ? Self.wholeFlag : 0))
  }
}

extension PendingExtent {
  /// - Returns: `nil` if the value can be none.
  init?(key: PendingKey, value: NumberRow) {
    let isHeld = value.value != Self.wholeFile && value.value & Self.heldFlag != 0
    let bytes = value.value & (Self.heldFlag - 1)
    let isWhole = isHeld ? value.value & Self.wholeFlag != 0 : value.value == Self.wholeFile
    guard isWhole && !isHeld || bytes <= SegmentFormat.maximumOffset else { return nil }
    self.init(
      segment: key.segment, offset: key.offset, length: isWhole ? Self.wholeFile : bytes,
      heldBytes: isHeld ? bytes : 0)
  }

  /// Whether this is about the same part of the same segment as `other`.
  func covers(_ other: PendingExtent) -> Bool {
    key == other.key && length == other.length
  }
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

  var isPlausible: Bool { offset <= SegmentFormat.maximumOffset }

  func write(to writer: inout RowWriter) {
    writer.append(segment.byteSwapped)
    writer.append(offset.byteSwapped)
  }
}
