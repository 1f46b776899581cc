import CLinux
import Glibc

/// Finds the records in a segment file by looking for them, believing no index.
///
/// Needs the same memory however long a record claims to be.
struct SegmentScanner: ~Copyable {
  /// What was found.
  enum Finding {
    /// A record whose every byte is right.
    case record(RecordHeader, PosterMetadata)
    /// So many bytes that are no such record.
    case garbage(Int)
    /// So many bytes of zeros that occupy blocks.
    case zeros(Int)
  }

  private let file: FileDescriptor
  private let seed: UInt64
  private let end: Int
  private var hash: StreamingHash
  private let buffer: UnsafeMutableRawBufferPointer

  /// Holds header and metadata of any record.
  private static let bufferBytes = 512 << 10

  init(_ file: FileDescriptor, seed: UInt64) throws(PosterError) {
    self.file = file
    do throws(SystemError) {
      end = min(Int(try file.status().st_size), Int(SegmentFormat.maximumOffset))
    } catch {
      throw PosterError(.directoryUnavailable, "cannot look at a cache segment", underlying: error)
    }
    self.seed = seed
    hash = StreamingHash(seed: seed)
    buffer = .allocate(byteCount: Self.bufferBytes, alignment: 16)
  }

  deinit {
    buffer.deallocate()
  }

  /// Calls `body` with everything that the file holds besides holes, in order, and the
  /// offset at which it begins.
  mutating func forEachFinding(
    _ body: (Int, Finding) throws(PosterError) -> Void
  ) throws(PosterError) {
    var offset = 0
    // What is no record is reported run by run.
    var run: (start: Int, isZeros: Bool)?
    func end(at offset: Int) throws(PosterError) {
      guard let ended = run else { return }
      run = nil
      let bytes = offset - ended.start
      try body(ended.start, ended.isZeros ? .zeros(bytes) : .garbage(bytes))
    }
    while let next = nextData(offset) {
      if next > offset { try end(at: offset) }
      offset = next
      let block = try block(at: offset)
      switch block {
      case .record(let header, let metadata):
        try end(at: offset)
        try body(offset, .record(header, metadata))
        offset += SegmentFormat.blockBytes(header.recordBytes)
      case .damaged(let bytes):
        try end(at: offset)
        try body(offset, .garbage(bytes))
        offset += bytes
      case .none, .zeros:
        let isZeros = if case .zeros = block { true } else { false }
        if run?.isZeros != isZeros { try end(at: offset) }
        run = run ?? (offset, isZeros)
        offset += SegmentFormat.blockSize
      }
    }
    try end(at: offset)
  }

  private enum Block {
    case record(RecordHeader, PosterMetadata)
    /// A record that is so long, and damaged.
    case damaged(Int)
    case zeros
    /// The beginning of no record.
    case none
  }

  /// The first block at or behind `offset` that the file system has something for.
  private func nextData(_ offset: Int) -> Int? {
    guard offset < end else { return nil }
    let data = postercache_next_data(file.number, Int64(offset))
    if data == -1 { return errno == ENXIO ? nil : offset }
    let block = Int(data) / SegmentFormat.blockSize * SegmentFormat.blockSize
    return block < end ? max(offset, block) : nil
  }

  private mutating func block(at offset: Int) throws(PosterError) -> Block {
    let blockBytes = try read(SegmentFormat.blockSize, at: offset)
    guard blockBytes >= 0 else { return .none }
    let first = UnsafeRawBufferPointer(rebasing: buffer[..<blockBytes])
    guard let header = RecordHeader(first), header.isPlausible,
      RecordHeader.hasRightCheck(first, seed: seed), offset + header.recordBytes <= end
    else { return first.allSatisfy { $0 == 0 } ? .zeros : .none }
    let metadata = try metadata(of: header, at: offset)
    guard let metadata else { return .damaged(SegmentFormat.blockBytes(header.recordBytes)) }
    return .record(header, metadata)
  }

  /// The metadata of the record at `offset`, or `nil` if not every byte of it is right.
  private mutating func metadata(
    of header: RecordHeader, at offset: Int
  ) throws(PosterError) -> PosterMetadata? {
    var count = try read(min(Self.bufferBytes, header.recordBytes), at: offset)
    let metadataEnd = RecordHeader.size + header.metadataLength
    guard metadataEnd <= count,
      let metadata = RecordMetadata.decode(
        UnsafeRawBufferPointer(rebasing: buffer[RecordHeader.size..<metadataEnd])),
      CacheKey(metadata.address) == header.key
    else { return nil }
    let expected = RecordHeader.storedChecksum(UnsafeRawBufferPointer(buffer))
    RecordHeader.clearUnchecked(in: buffer)
    hash.reset()
    var hashed = 0
    while count > 0 {
      hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      hashed += count
      count = try read(min(Self.bufferBytes, header.recordBytes - hashed), at: offset + hashed)
    }
    return hashed == header.recordBytes && hash.digest() == expected ? metadata : nil
  }

  /// Reads up to `count` bytes into the buffer; returns how many, -1 where the disk cannot read them.
  private func read(_ count: Int, at offset: Int) throws(PosterError) -> Int {
    let count = retryingOnInterrupt {
      pread(file.number, buffer.baseAddress, count, off_t(offset))
    }
    guard count >= 0 || errno == EIO else {
      throw PosterError(
        .directoryUnavailable, "cannot read a cache segment",
        underlying: SystemError(call: "pread"))
    }
    return count
  }
}
