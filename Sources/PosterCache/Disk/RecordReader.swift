import FoundationEssentials
import Glibc

/// Reads records from segments, believing nothing that the checksum does not confirm.
struct RecordReader: Sendable {
  let files: SegmentFiles
  /// What the directory's checksums begin with.
  let seed: UInt64

  /// What reading a record came to.
  enum Outcome<Value> {
    case found(Value)
    /// The record belongs to another address with the same key.
    case otherAddress
    /// Not what the entry says: damaged, or given up to an eviction meanwhile.
    case mismatch

    func map<Other>(_ transform: (Value) -> Other) -> Outcome<Other> {
      switch self {
      case .found(let value): .found(transform(value))
      case .otherAddress: .otherAddress
      case .mismatch: .mismatch
      }
    }
  }

  /// Above this, a record has to fit into its segment before memory is taken for it: what the index
  /// says about its length may be damaged.
  private static let trustedBytes = 16 << 20

  /// Reads the record that `entry` points to, with one system call into one allocation that the
  /// poster's body then shares.
  func read(
    _ key: CacheKey, _ entry: EntryRow, address: PosterAddress
  ) throws(SystemError) -> Outcome<StoredPoster> {
    guard let file = try files.file(entry.segment) else { return .mismatch }
    if entry.recordBytes > Self.trustedBytes, try !Self.fits(entry, into: file) { return .mismatch }
    var isRight = false
    let record = try PosterBody(capacity: entry.recordBytes) { bytes throws(SystemError) in
      let count = retryingOnInterrupt {
        pread(file.number, bytes.baseAddress, bytes.count, off_t(entry.offset))
      }
      guard count >= 0 else { throw SystemError(call: "pread") }
      isRight = count == bytes.count && isIntact(bytes, key, entry)
      return count
    }
    guard isRight else { return .mismatch }
    let bodyStart = RecordHeader.size + Int(entry.metadataLength)
    let metadata = record.withUnsafeBytes { bytes -> PosterMetadata?? in
      let fields = UnsafeRawBufferPointer(rebasing: bytes[RecordHeader.size..<bodyStart])
      guard let stored = RecordMetadata.address(in: fields) else { return .some(nil) }
      guard address.hasCanonicalBytes(stored) else { return nil }
      return RecordMetadata.decode(fields, address: address)
    }
    guard let metadata else { return .otherAddress }
    guard let metadata else { return .mismatch }
    return .found(
      StoredPoster(
        key: key, metadata: entry.refreshing(metadata),
        body: record.slice(bodyStart..<record.count), sequence: entry.sequence))
  }

  /// Reads the metadata alone, without the checksum over the whole record: for listings.
  func readMetadata(_ key: CacheKey, _ entry: EntryRow) throws(SystemError) -> PosterMetadata? {
    guard let file = try files.file(entry.segment) else { return nil }
    let length = RecordHeader.size + Int(entry.metadataLength)
    let prefix = try PosterBody(capacity: length) { bytes throws(SystemError) in
      let count = retryingOnInterrupt {
        pread(file.number, bytes.baseAddress, bytes.count, off_t(entry.offset))
      }
      guard count >= 0 else { throw SystemError(call: "pread") }
      return count
    }
    return prefix.withUnsafeBytes { bytes in
      guard bytes.count == length, Self.header(bytes, matches: key, entry) else { return nil }
      return RecordMetadata.decode(UnsafeRawBufferPointer(rebasing: bytes[RecordHeader.size...]))
        .map(entry.refreshing)
    }
  }

  /// The metadata of the record that `entry` points to, as it was written, if the record is intact with
  /// the body of `version`, which is not read: the checksum says so. Also inside a transaction.
  func metadata(
    _ entry: EntryRow, of version: StoredPoster
  ) throws(SystemError) -> PosterMetadata? {
    guard version.body.count == Int(entry.bodyLength),
      let file = try files.uncommittedFile(entry.segment)
    else { return nil }
    let length = RecordHeader.size + Int(entry.metadataLength)
    var expected: UInt64 = 0
    let prefix = try PosterBody(capacity: length) { bytes throws(SystemError) in
      let count = retryingOnInterrupt {
        pread(file.number, bytes.baseAddress, bytes.count, off_t(entry.offset))
      }
      guard count >= 0 else { throw SystemError(call: "pread") }
      guard count == length else { return 0 }
      expected = RecordHeader.storedChecksum(UnsafeRawBufferPointer(bytes))
      RecordHeader.clearUnchecked(in: bytes)
      return count
    }
    return prefix.withUnsafeBytes { bytes in
      guard bytes.count == length, Self.header(bytes, matches: version.key, entry) else {
        return nil
      }
      var hash = StreamingHash(seed: seed)
      hash.update(bytes)
      version.body.withUnsafeBytes { hash.update($0) }
      guard hash.digest() == expected else { return nil }
      return RecordMetadata.decode(UnsafeRawBufferPointer(rebasing: bytes[RecordHeader.size...]))
    }
  }

  /// What checking a record came to.
  enum Finding {
    case ok
    /// The segment is gone or too short.
    case missing
    case corrupt
  }

  /// Checks every byte of the record that `entry` points to.
  func check(_ key: CacheKey, _ entry: EntryRow) throws(SystemError) -> Finding {
    do throws(SystemError) {
      guard let file = try files.file(entry.segment), try Self.fits(entry, into: file) else {
        return .missing
      }
      var isRight = false
      _ = try PosterBody(capacity: entry.recordBytes) { bytes throws(SystemError) in
        let count = retryingOnInterrupt {
          pread(file.number, bytes.baseAddress, bytes.count, off_t(entry.offset))
        }
        guard count >= 0 else { throw SystemError(call: "pread") }
        guard count == bytes.count, isIntact(bytes, key, entry) else { return 0 }
        let metadataEnd = RecordHeader.size + Int(entry.metadataLength)
        let fields = UnsafeRawBufferPointer(rebasing: bytes[RecordHeader.size..<metadataEnd])
        isRight = RecordMetadata.decode(fields).map { CacheKey($0.address) == key } ?? false
        return count
      }
      return isRight ? .ok : .corrupt
    } catch {
      // What the disk cannot read is as good as damaged; that descriptors run out is no damage.
      guard error.errorNumber == EIO else { throw error }
      return .corrupt
    }
  }

  private static func fits(
    _ entry: EntryRow, into file: FileDescriptor
  ) throws(SystemError) -> Bool {
    Int(try file.status().st_size) >= Int(entry.offset) + entry.recordBytes
  }

  private static func header(
    _ bytes: UnsafeRawBufferPointer, matches key: CacheKey, _ entry: EntryRow
  ) -> Bool {
    guard let header = RecordHeader(bytes) else { return false }
    return header.key == key && header.sequence == entry.sequence
      && header.metadataLength == Int(entry.metadataLength)
      && header.bodyLength == Int(entry.bodyLength)
  }

  /// Whether header and checksum are right.
  private func isIntact(
    _ bytes: UnsafeMutableRawBufferPointer, _ key: CacheKey, _ entry: EntryRow
  ) -> Bool {
    Self.header(UnsafeRawBufferPointer(bytes), matches: key, entry)
      && RecordHeader.hasRightChecksum(bytes, seed: seed)
  }
}
