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
      let block = block(at: offset)
      switch block {
      case .record(let header, let metadata):
        try end(at: offset)
        try body(offset, .record(header, metadata))
        offset += SegmentFormat.blockBytes(header.recordBytes)
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
    case zeros
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

  private mutating func block(at offset: Int) -> Block {
    let count = read(Self.bufferBytes, at: offset)
    let first = UnsafeRawBufferPointer(rebasing: buffer[..<count])
    guard let header = RecordHeader(first), header.isPlausible,
      offset + header.recordBytes <= end
    else {
      return first.prefix(SegmentFormat.blockSize).allSatisfy { $0 == 0 } ? .zeros : .none
    }
    let metadataEnd = RecordHeader.size + header.metadataLength
    guard metadataEnd <= count,
      let metadata = RecordMetadata.decode(
        UnsafeRawBufferPointer(rebasing: first[RecordHeader.size..<metadataEnd])),
      CacheKey(metadata.address) == header.key
    else { return .none }
    let expected = RecordHeader.storedChecksum(first)
    RecordHeader.clearUnchecked(in: buffer)
    hash.reset()
    var hashed = min(count, header.recordBytes)
    hash.update(UnsafeRawBufferPointer(rebasing: first[..<hashed]))
    while hashed < header.recordBytes {
      let count = read(min(Self.bufferBytes, header.recordBytes - hashed), at: offset + hashed)
      guard count > 0 else { return .none }
      hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      hashed += count
    }
    return hash.digest() == expected ? .record(header, metadata) : .none
  }

  /// Reads up to `count` bytes into the buffer; what cannot be read is none.
  private func read(_ count: Int, at offset: Int) -> Int {
    max(0, retryingOnInterrupt { pread(file.number, buffer.baseAddress, count, off_t(offset)) })
  }
}
