/// A row of an index table, or a key, of fixed size, as a sequence of little-endian integers.
protocol FixedSizeRow {
  static var size: Int { get }
  init(_ reader: inout RowReader)
  func write(to writer: inout RowWriter)
  /// Whether the values can be what this code wrote: nothing checksums a row, so that a damaged one
  /// has to be told by its contents, before anything is computed from them.
  var isPlausible: Bool { get }
}

extension FixedSizeRow {
  var isPlausible: Bool { true }

  /// Reads a row, or `nil` where the stored bytes have another size or cannot be one.
  init?(bytes: UnsafeRawBufferPointer) {
    guard bytes.count == Self.size else { return nil }
    var reader = RowReader(bytes: bytes)
    self.init(&reader)
    guard isPlausible else { return nil }
  }

  /// Calls `body` with the row's bytes.
  func withBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // Larger than every row; a value on the stack, so that reading the index allocates nothing.
    var buffer: InlineArray<16, UInt64> = .init(repeating: 0)
    precondition(Self.size <= 128, "\(Self.self) does not fit")
    var span = buffer.mutableSpan
    return try span.withUnsafeMutableBytes { bytes throws(Failure) in
      var writer = RowWriter(bytes: bytes)
      write(to: &writer)
      return try body(UnsafeRawBufferPointer(rebasing: bytes[..<Self.size]))
    }
  }
}

/// Takes little-endian integers out of bytes, one after the other.
struct RowReader {
  let bytes: UnsafeRawBufferPointer
  private var offset = 0

  init(bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  mutating func next<Value: FixedWidthInteger & BitwiseCopyable>(
    _: Value.Type = Value.self
  ) -> Value {
    defer { offset += MemoryLayout<Value>.size }
    return Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
  }
}

/// Puts little-endian integers into bytes, one after the other.
struct RowWriter {
  let bytes: UnsafeMutableRawBufferPointer
  private(set) var offset = 0

  init(bytes: UnsafeMutableRawBufferPointer) {
    self.bytes = bytes
  }

  mutating func append(_ value: some FixedWidthInteger & BitwiseCopyable) {
    bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: type(of: value))
    offset += MemoryLayout.size(ofValue: value)
  }
}

extension CacheKey: FixedSizeRow {
  static let size = 16

  init(_ reader: inout RowReader) {
    self.init(high: reader.next(), low: reader.next())
  }

  func write(to writer: inout RowWriter) {
    writer.append(high)
    writer.append(low)
  }
}

/// Where a poster lies, and what is needed to decide about it without reading it.
struct EntryRow: FixedSizeRow, Equatable {
  static let size = 56

  /// The segment and the offset in it at which the record's header begins.
  var segment: UInt32
  var offset: UInt64
  var isPinned: Bool
  /// Prefetched and not asked for since.
  var isUnseen: Bool
  var metadataLength: UInt32
  var bodyLength: UInt32
  /// The record's sequence number; the larger of two is the newer version.
  var sequence: UInt64
  /// When it was used last, in the index' logical time.
  var tick: UInt64
  /// Milliseconds since 1970; newer than the record's own where a server has confirmed it since.
  var storedAt: Int64
  var expiresAt: Int64

  var isPlausible: Bool {
    metadataLength <= RecordMetadata.maximumLength && bodyLength <= SegmentFormat.maximumBodyBytes
      && offset % UInt64(SegmentFormat.blockSize) == 0 && offset <= SegmentFormat.maximumOffset
      && tick <= RecencyKey.maximumTick
  }

  /// Bytes of header, metadata and body.
  var recordBytes: Int { RecordHeader.size + Int(metadataLength) + Int(bodyLength) }
  /// Bytes that the record occupies in its segment.
  var blockBytes: Int { SegmentFormat.blockBytes(recordBytes) }
  /// Its place in the order of eviction.
  var recency: RecencyKey {
    RecencyKey(rank: isPinned ? .pinned : isUnseen ? .unseen : .seen, tick: tick)
  }
}

extension EntryRow {
  init(_ reader: inout RowReader) {
    segment = reader.next()
    let flags: UInt32 = reader.next()
    isPinned = flags & 1 != 0
    isUnseen = flags & 2 != 0
    offset = reader.next()
    metadataLength = reader.next()
    bodyLength = reader.next()
    sequence = reader.next()
    tick = reader.next()
    storedAt = reader.next()
    expiresAt = reader.next()
  }

  func write(to writer: inout RowWriter) {
    writer.append(segment)
    writer.append(UInt32(isPinned ? 1 : 0) | UInt32(isUnseen ? 2 : 0))
    writer.append(offset)
    writer.append(metadataLength)
    writer.append(bodyLength)
    writer.append(sequence)
    writer.append(tick)
    writer.append(storedAt)
    writer.append(expiresAt)
  }
}

/// A place in the order of eviction: the smallest goes first.
///
/// The rank stands in the two upper bits, so that one table in key order holds prefetched posters
/// nobody has looked at, then the others by their last use, then the pinned ones: finding the next
/// victim is reading the first row, and a pinned first row says that there is none.
struct RecencyKey: FixedSizeRow, Hashable {
  enum Rank: UInt64 {
    case unseen, seen, pinned
  }

  static let size = 8
  /// What fits below the rank: a billion uses a second for 146 years.
  static let maximumTick = UInt64(1) << 62 - 1
  let value: UInt64

  init(rank: Rank, tick: UInt64) {
    value = rank.rawValue << 62 | tick
  }

  init(_ reader: inout RowReader) {
    value = reader.next()
  }

  func write(to writer: inout RowWriter) {
    writer.append(value)
  }

  var isPinned: Bool { value >> 62 == Rank.pinned.rawValue }
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

  var isPlausible: Bool { committedEnd <= SegmentFormat.maximumOffset && liveBytes <= committedEnd }
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

/// One number as a value.
struct NumberRow: FixedSizeRow {
  static let size = 8
  let value: UInt64

  init(_ value: UInt64) {
    self.value = value
  }

  init(_ reader: inout RowReader) {
    value = reader.next()
  }

  func write(to writer: inout RowWriter) {
    writer.append(value)
  }
}

/// The directory's totals, counters and limit: the one row of table `totals`, under key 0.
struct TotalsRow: FixedSizeRow, Equatable {
  static let size = 112
  static let key = NumberRow(0)

  var entries: UInt64 = 0
  /// Bytes of the pictures themselves.
  var bodyBytes: UInt64 = 0
  /// Bytes in blocks of all records that the index refers to.
  var liveBytes: UInt64 = 0
  /// What ``liveBytes`` and the index beyond its first MiB together must not exceed.
  var limit: UInt64 = 1 << 30
  /// The next value of the logical clock that orders uses.
  var nextTick: UInt64 = 1
  /// The next record's sequence number.
  var nextSequence: UInt64 = 1
  /// The next segment's number; never goes back.
  var nextSegment: UInt64 = 1
  var hits: UInt64 = 0
  var misses: UInt64 = 0
  var evictions: UInt64 = 0
  var corrupt: UInt64 = 0
  /// Bytes in blocks of the pinned ones among ``liveBytes``.
  var pinnedBytes: UInt64 = 0
  /// Which boot of the machine the last change was made in (`/proc/sys/kernel/random/boot_id`, its
  /// 32 digits): what was committed in an earlier one need not have reached the disk.
  var boot: (high: UInt64, low: UInt64) = (0, 0)

  var isPlausible: Bool {
    // Every sum of two of them fits, and so does every one of them in a signed number.
    let bound = UInt64(1) << 61
    return [
      entries, bodyBytes, liveBytes, limit, nextTick, nextSequence, hits, misses, evictions,
      corrupt, pinnedBytes,
    ].allSatisfy { $0 < bound } && nextSegment <= UInt32.max
  }

  static func == (left: TotalsRow, right: TotalsRow) -> Bool {
    left.withBytes { left in right.withBytes { left.elementsEqual($0) } }
  }
}

extension TotalsRow {
  init(_ reader: inout RowReader) {
    entries = reader.next()
    bodyBytes = reader.next()
    liveBytes = reader.next()
    limit = reader.next()
    nextTick = reader.next()
    nextSequence = reader.next()
    nextSegment = reader.next()
    hits = reader.next()
    misses = reader.next()
    evictions = reader.next()
    corrupt = reader.next()
    pinnedBytes = reader.next()
    boot = (reader.next(), reader.next())
  }

  func write(to writer: inout RowWriter) {
    for field in [
      entries, bodyBytes, liveBytes, limit, nextTick, nextSequence, nextSegment, hits, misses,
      evictions, corrupt, pinnedBytes, boot.high, boot.low,
    ] {
      writer.append(field)
    }
  }
}
