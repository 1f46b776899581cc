/// The first 64 bytes of a record.
struct RecordHeader: Equatable {
  static let size = 64
  /// "PCR1".
  static let magic: UInt32 = 0x3152_4350
  static let version: UInt16 = 1
  /// Where the checksum stands; taken as zero while it is computed.
  static let checksumRange = 8..<16
  /// Where the pin's mark stands: one byte, so that it can be changed in place while others read;
  /// taken as zero for the checksum.
  static let pinOffset = 52
  /// Where the check of the header itself stands, and over what it is: so that a damaged record says
  /// how long it is, and a damaged length is noticed before it is believed.
  static let checkOffset = 56
  private static let checkedRange = 16..<52
  /// The mark of a pinned poster; others have zero there.
  static let pinMark = UInt8(ascii: "P")

  var sequence: UInt64
  var key: CacheKey
  var metadataLength: Int
  var bodyLength: Int
  /// Prefetched, not asked for when it was written.
  var isUnseen: Bool
  /// Never evicted.
  var isPinned: Bool

  /// The header in the first 64 of `bytes`, or `nil` if there is none of this version.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.size else { return nil }
    var reader = RowReader(bytes: bytes)
    guard reader.next(UInt32.self) == Self.magic, reader.next(UInt16.self) == Self.version,
      reader.next(UInt16.self) == UInt16(Self.size)
    else { return nil }
    _ = reader.next(UInt64.self)
    sequence = reader.next()
    key = CacheKey(&reader)
    metadataLength = Int(reader.next(UInt32.self))
    bodyLength = Int(reader.next(UInt32.self))
    isUnseen = reader.next(UInt32.self) & 2 != 0
    let mark = bytes[Self.pinOffset]
    guard mark == 0 || mark == Self.pinMark else { return nil }
    isPinned = mark == Self.pinMark
  }

  init(
    sequence: UInt64, key: CacheKey, metadataLength: Int, bodyLength: Int, isUnseen: Bool,
    isPinned: Bool
  ) {
    self.sequence = sequence
    self.key = key
    self.metadataLength = metadataLength
    self.bodyLength = bodyLength
    self.isUnseen = isUnseen
    self.isPinned = isPinned
  }

  /// Bytes of header, metadata and body.
  var recordBytes: Int { Self.size + metadataLength + bodyLength }

  /// Whether the lengths can be right.
  var isPlausible: Bool {
    metadataLength <= RecordMetadata.maximumLength && bodyLength <= SegmentFormat.maximumBodyBytes
  }

  /// Writes the header, with a checksum of zero and without the pin's mark, into the first 64 of
  /// `bytes`.
  func write(to bytes: UnsafeMutableRawBufferPointer) {
    bytes[..<Self.size].initializeMemory(as: UInt8.self, repeating: 0)
    var writer = RowWriter(bytes: bytes)
    writer.append(Self.magic)
    writer.append(Self.version)
    writer.append(UInt16(Self.size))
    writer.append(UInt64(0))
    writer.append(sequence)
    key.write(to: &writer)
    writer.append(UInt32(metadataLength))
    writer.append(UInt32(bodyLength))
    writer.append(UInt32(isUnseen ? 2 : 0))
  }

  /// Writes the header's own check into a record.
  static func storeCheck(in record: UnsafeMutableRawBufferPointer, seed: UInt64) {
    record.storeBytes(
      of: check(UnsafeRawBufferPointer(record), seed: seed).littleEndian,
      toByteOffset: checkOffset, as: UInt64.self)
  }

  /// Whether the header in the first 64 of `bytes` is what its own check says.
  static func hasRightCheck(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> Bool {
    bytes.count >= size
      && UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: checkOffset, as: UInt64.self))
        == check(bytes, seed: seed)
  }

  private static func check(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    xxh3(UnsafeRawBufferPointer(rebasing: bytes[checkedRange]), seed: seed)
  }

  /// Whether the whole record in `bytes` is what its checksum says. What the checksum takes as zero is
  /// zero afterwards.
  static func hasRightChecksum(_ bytes: UnsafeMutableRawBufferPointer, seed: UInt64) -> Bool {
    let expected = storedChecksum(UnsafeRawBufferPointer(bytes))
    clearUnchecked(in: bytes)
    return xxh3(UnsafeRawBufferPointer(bytes), seed: seed) == expected
  }

  /// Zeros what the checksum takes as zero.
  static func clearUnchecked(in record: UnsafeMutableRawBufferPointer) {
    storeChecksum(0, in: record)
    record[pinOffset] = 0
  }

  /// The checksum that stands in a record's header.
  static func storedChecksum(_ record: UnsafeRawBufferPointer) -> UInt64 {
    UInt64(
      littleEndian: record.loadUnaligned(
        fromByteOffset: checksumRange.lowerBound, as: UInt64.self))
  }

  /// Writes `checksum` into the record's header.
  static func storeChecksum(_ checksum: UInt64, in record: UnsafeMutableRawBufferPointer) {
    record.storeBytes(
      of: checksum.littleEndian, toByteOffset: checksumRange.lowerBound, as: UInt64.self)
  }
}
