import FoundationEssentials
import Glibc

/// Reads records from segments, believing nothing that the checksum does not confirm.
struct RecordReader: Sendable {
  let files: SegmentFiles

  /// What reading a record came to.
  enum Outcome {
    case poster(StoredPoster)
    /// The record belongs to another address with the same key.
    case otherAddress
    /// Not what the entry says: damaged, or given up to an eviction meanwhile.
    case mismatch
  }

  /// Reads the record that `entry` points to, with one system call into one allocation that the
  /// poster's body then shares.
  func read(
    _ key: CacheKey, _ entry: EntryRow, address: PosterAddress
  ) throws(SystemError) -> Outcome {
    guard let file = try files.file(entry.segment) else { return .mismatch }
    var isIntact = false
    let record = try PosterBody(capacity: entry.recordBytes) { bytes throws(SystemError) in
      let count = retryingOnInterrupt {
        pread(file.number, bytes.baseAddress, bytes.count, off_t(entry.offset))
      }
      guard count >= 0 else { throw SystemError(call: "pread") }
      isIntact = count == bytes.count && Self.isIntact(bytes, key, entry)
      return count
    }
    guard isIntact else { return .mismatch }
    let bodyStart = RecordHeader.size + Int(entry.metadataLength)
    let metadata = record.withUnsafeBytes { bytes -> PosterMetadata?? in
      let fields = UnsafeRawBufferPointer(rebasing: bytes[RecordHeader.size..<bodyStart])
      guard let stored = RecordMetadata.address(in: fields) else { return .some(nil) }
      guard address.hasCanonicalBytes(stored) else { return nil }
      return RecordMetadata.decode(fields, address: address)
    }
    guard let metadata else { return .otherAddress }
    guard let metadata else { return .mismatch }
    return .poster(
      StoredPoster(
        key: key, metadata: entry.refreshing(metadata),
        body: record.slice(bodyStart..<record.count)))
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

  private static func header(
    _ bytes: UnsafeRawBufferPointer, matches key: CacheKey, _ entry: EntryRow
  ) -> Bool {
    guard let header = RecordHeader(bytes) else { return false }
    return header.key == key && header.sequence == entry.sequence
      && header.metadataLength == Int(entry.metadataLength)
      && header.bodyLength == Int(entry.bodyLength)
  }

  /// Whether header and checksum are right. The checksum is computed with its own field as zero,
  /// which is what the bytes are left with: nobody reads the field again.
  private static func isIntact(
    _ bytes: UnsafeMutableRawBufferPointer, _ key: CacheKey, _ entry: EntryRow
  ) -> Bool {
    guard header(UnsafeRawBufferPointer(bytes), matches: key, entry) else { return false }
    let expected = RecordHeader.storedChecksum(UnsafeRawBufferPointer(bytes))
    RecordHeader.storeChecksum(0, in: bytes)
    return xxh3(UnsafeRawBufferPointer(bytes)) == expected
  }
}

extension EntryRow {
  /// `metadata` with the freshness of the index, which a server may have confirmed since.
  fileprivate func refreshing(_ metadata: PosterMetadata) -> PosterMetadata {
    var metadata = metadata
    metadata.storedAt = Date(milliseconds: storedAt)
    metadata.expiresAt = Date(milliseconds: expiresAt)
    return metadata
  }
}
