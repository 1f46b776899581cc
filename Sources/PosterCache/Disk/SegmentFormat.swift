/// The constants of a segment file; `docs/disk-format.md` describes it byte by byte.
enum SegmentFormat {
  /// Records begin at multiples of this, so that a hole punched for one gives back all its blocks.
  static let blockSize = 4096
  /// A segment takes no further record once it is this long. A larger record has one for itself.
  static let segmentBytes = 64 << 20
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
}

/// The first 64 bytes of a record.
struct RecordHeader: Equatable {
  static let size = 64
  /// "PCR1".
  static let magic: UInt32 = 0x3152_4350
  static let version: UInt16 = 1
  /// Where the checksum stands; taken as zero while it is computed.
  static let checksumRange = 8..<16

  var sequence: UInt64
  var key: CacheKey
  var metadataLength: Int
  var bodyLength: Int
  /// Prefetched, not asked for when it was written.
  var isUnseen: Bool

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
  }

  init(
    sequence: UInt64, key: CacheKey, metadataLength: Int, bodyLength: Int, isUnseen: Bool
  ) {
    self.sequence = sequence
    self.key = key
    self.metadataLength = metadataLength
    self.bodyLength = bodyLength
    self.isUnseen = isUnseen
  }

  /// Writes the header, with a checksum of zero, into the first 64 of `bytes`.
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
