import FoundationEssentials

/// Where a poster lies, and what is needed to decide about it without reading it.
struct EntryRow: FixedSizeRow, Equatable {
  static let size = 64

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
  /// Likewise.
  var staleUse = StaleUse()
  /// The picture's average colour, once it has been decoded.
  var averageColor: PosterColor?

  var isPlausible: Bool {
    metadataLength <= RecordMetadata.maximumLength && bodyLength <= SegmentFormat.maximumBodyBytes
      && offset % UInt64(SegmentFormat.blockSize) == 0 && offset <= SegmentFormat.maximumOffset
      && tick <= RecencyKey.maximumTick && sequence <= RecencyKey.maximumTick
      && storedAt.magnitude <= Date.maximumMilliseconds.magnitude
      && expiresAt.magnitude <= Date.maximumMilliseconds.magnitude
  }

  /// Whether this and `other` point to the same record, whatever happened to its use meanwhile.
  func isSameRecord(as other: EntryRow) -> Bool {
    segment == other.segment && offset == other.offset && sequence == other.sequence
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
  /// A row for the record with `header` at `offset` of `segment`.
  init(
    _ header: RecordHeader, _ metadata: PosterMetadata, segment: UInt32, offset: UInt64,
    isPinned: Bool, isUnseen: Bool, tick: UInt64
  ) {
    self.segment = segment
    self.offset = offset
    self.isPinned = isPinned
    self.isUnseen = isUnseen
    metadataLength = UInt32(header.metadataLength)
    bodyLength = UInt32(header.bodyLength)
    sequence = header.sequence
    self.tick = tick
    storedAt = metadata.storedAt.milliseconds
    expiresAt = metadata.expiresAt.milliseconds
    staleUse = metadata.staleUse
  }

  /// Takes over what a server has confirmed.
  mutating func confirm(_ metadata: PosterMetadata) {
    storedAt = metadata.storedAt.milliseconds
    expiresAt = metadata.expiresAt.milliseconds
    staleUse = metadata.staleUse
  }

  /// `metadata`, which is the record's, with what a server has confirmed since.
  func refreshing(_ metadata: PosterMetadata) -> PosterMetadata {
    var metadata = metadata
    metadata.storedAt = Date(milliseconds: storedAt)
    metadata.expiresAt = Date(milliseconds: expiresAt)
    metadata.staleUse = staleUse
    metadata.averageColor = averageColor
    return metadata
  }
}

extension EntryRow {
  init(_ reader: inout RowReader) {
    segment = reader.next()
    let flags: UInt32 = reader.next()
    isPinned = flags & 1 != 0
    isUnseen = flags & 2 != 0
    staleUse.isForbidden = flags & 4 != 0
    averageColor = PosterColor(flags: flags)
    offset = reader.next()
    metadataLength = reader.next()
    bodyLength = reader.next()
    sequence = reader.next()
    tick = reader.next()
    storedAt = reader.next()
    expiresAt = reader.next()
    staleUse.whileRevalidatingSeconds = reader.next()
    staleUse.ifErrorSeconds = reader.next()
  }

  func write(to writer: inout RowWriter) {
    writer.append(segment)
    writer.append(
      UInt32(isPinned ? 1 : 0) | UInt32(isUnseen ? 2 : 0) | UInt32(staleUse.isForbidden ? 4 : 0)
        | (averageColor?.flags ?? 0))
    writer.append(offset)
    writer.append(metadataLength)
    writer.append(bodyLength)
    writer.append(sequence)
    writer.append(tick)
    writer.append(storedAt)
    writer.append(expiresAt)
    writer.append(staleUse.whileRevalidatingSeconds)
    writer.append(staleUse.ifErrorSeconds)
  }
}

extension PosterColor {
  /// The colour in a row's flags, if it has one.
  fileprivate init?(flags: UInt32) {
    guard flags & 8 != 0 else { return nil }
    self.init(
      red: UInt8(truncatingIfNeeded: flags >> 8), green: UInt8(truncatingIfNeeded: flags >> 16),
      blue: UInt8(truncatingIfNeeded: flags >> 24))
  }

  /// The colour as part of a row's flags.
  fileprivate var flags: UInt32 {
    8 | UInt32(red) << 8 | UInt32(green) << 16 | UInt32(blue) << 24
  }
}
