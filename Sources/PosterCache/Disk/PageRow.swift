import CZlib
import FoundationEssentials

/// A row of table `pages`: a list page, or part of what was warmed of a list.
///
/// {XXH3-64 of the rest with the directory's seed, kind: 1 byte, time of noting: 8 bytes, payload}, numbers
/// in little-endian. The checksum makes a damaged row a miss: LMDB has none.
struct PageRow {
  /// What a row holds.
  enum Kind: UInt8 {
    /// {bytes of metadata: 4, bytes of the body: 4, metadata, the body deflated (RFC 1950)}.
    case page = 1
    /// {number of this part: 4, number of parts: 4, keys of 16 bytes}.
    case warmed = 2
  }

  let kind: Kind
  /// In milliseconds since 1970; those noted first go first.
  let notedAt: Int64
  let payload: UnsafeRawBufferPointer

  private static let headerBytes = 8 + 1 + 8
  private static let prefixBytes = 8

  /// Bytes of the longest body that is kept.
  static let maximumBodyBytes = 1 << 20

  /// Reads a row, whose bytes must outlive it; `nil` if it is damaged.
  init?(bytes: UnsafeRawBufferPointer, seed: UInt64) {
    guard Self.isWhole(bytes, seed: seed) else { return nil }
    var reader = RowReader(bytes: bytes)
    _ = reader.next(UInt64.self)
    guard let kind = Kind(rawValue: reader.next()) else { return nil }
    self.kind = kind
    notedAt = reader.next()
    payload = UnsafeRawBufferPointer(rebasing: bytes[Self.headerBytes...])
  }

  /// Whether a row's bytes are what was written.
  private static func isWhole(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> Bool {
    guard bytes.count >= headerBytes + prefixBytes else { return false }
    var reader = RowReader(bytes: bytes)
    return reader.next(UInt64.self)
      == xxh3(UnsafeRawBufferPointer(rebasing: bytes[8...]), seed: seed)
  }

  /// Which rows go first where there are too many.
  struct Rank: Comparable {
    private var kind: UInt8 = 0
    private var notedAt = Int64.min

    /// That of what is no row.
    init() {}

    /// That of a row, without a look at the rest of it.
    init(_ bytes: UnsafeRawBufferPointer) {
      guard bytes.count >= headerBytes else { return }
      kind = bytes[8]
      notedAt = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 9, as: Int64.self))
    }

    static func < (first: Rank, second: Rank) -> Bool {
      (first.kind, first.notedAt) < (second.kind, second.notedAt)
    }
  }

  /// A row's bytes.
  ///
  /// - Parameter numbers: the two that the payload begins with.
  fileprivate static func bytes(
    _ kind: Kind, notedAt: Int64, numbers: (Int, Int), seed: UInt64,
    payload: (inout [UInt8]) -> Void
  ) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 8)
    bytes.append(kind.rawValue)
    withUnsafeBytes(of: notedAt.littleEndian) { bytes.append(contentsOf: $0) }
    for number in [numbers.0, numbers.1] {
      withUnsafeBytes(of: UInt32(number).littleEndian) { bytes.append(contentsOf: $0) }
    }
    payload(&bytes)
    let check = bytes.withUnsafeBytes { bytes in
      xxh3(UnsafeRawBufferPointer(rebasing: bytes[8...]), seed: seed)
    }
    withUnsafeBytes(of: check.littleEndian) { bytes.replaceSubrange(0..<8, with: $0) }
    return bytes
  }

  private var numbers: (Int, Int) {
    var reader = RowReader(bytes: payload)
    return (Int(reader.next(UInt32.self)), Int(reader.next(UInt32.self)))
  }

  private var rest: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: payload[Self.prefixBytes...])
  }
}

// MARK: - List pages

extension PageRow {
  /// The row of `page`; `nil` if it is too long to be kept.
  static func bytes(of page: StoredPage, seed: UInt64) -> [UInt8]? {
    guard page.body.count <= maximumBodyBytes,
      let metadata = RecordMetadata.bytes(of: page.metadata),
      let body = page.body.withUnsafeBytes(deflated)
    else { return nil }
    return bytes(
      .page, notedAt: page.metadata.storedAt.milliseconds,
      numbers: (metadata.count, page.body.count), seed: seed
    ) { bytes in
      bytes += metadata
      bytes += body
    }
  }

  /// The list page, if that is what the row holds.
  var page: StoredPage? {
    let (metadataBytes, bodyBytes) = numbers
    guard kind == .page, metadataBytes <= rest.count, bodyBytes <= Self.maximumBodyBytes,
      let metadata = RecordMetadata.page(
        in: UnsafeRawBufferPointer(rebasing: rest[..<metadataBytes])),
      let body = Self.inflated(
        UnsafeRawBufferPointer(rebasing: rest[metadataBytes...]), count: bodyBytes)
    else { return nil }
    return StoredPage(metadata: metadata, body: body)
  }

  private static func deflated(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
    var count = compressBound(UInt(bytes.count))
    var status = Z_OK
    let deflated = [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, written in
      status = compress2(
        buffer.baseAddress, &count, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
        UInt(bytes.count), Z_BEST_SPEED)
      written = status == Z_OK ? Int(count) : 0
    }
    return status == Z_OK ? deflated : nil
  }

  private static func inflated(_ bytes: UnsafeRawBufferPointer, count: Int) -> PosterBody? {
    var status = Z_OK
    let body = PosterBody(capacity: count) { buffer in
      var written = UInt(buffer.count)
      status = uncompress(
        buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), &written,
        bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt(bytes.count))
      return status == Z_OK ? Int(written) : 0
    }
    return status == Z_OK && body.count == count ? body : nil
  }
}

// MARK: - What was warmed

extension PageRow {
  /// Keys in one row.
  static let keysPerRow = 2048

  /// The rows of what was warmed of a list, in their order; one at least.
  static func bytes(
    ofWarmed keys: [CacheKey], notedAt: Int64, seed: UInt64
  ) -> [[UInt8]] {
    let count = max(1, (keys.count + keysPerRow - 1) / keysPerRow)
    return (0..<count).map { part in
      let own = keys[part * keysPerRow..<min((part + 1) * keysPerRow, keys.count)]
      return bytes(.warmed, notedAt: notedAt, numbers: (part, count), seed: seed) { bytes in
        bytes.reserveCapacity(bytes.count + own.count * CacheKey.size)
        for key in own { key.withBytes { bytes.append(contentsOf: $0) } }
      }
    }
  }

  /// The number of this part, how many there are, and its keys, if that is what the row holds.
  var warmed: (part: Int, count: Int, keys: [CacheKey])? {
    guard kind == .warmed, rest.count % CacheKey.size == 0 else { return nil }
    let (part, count) = numbers
    var reader = RowReader(bytes: rest)
    let keys = (0..<rest.count / CacheKey.size).map { _ in CacheKey(&reader) }
    return (part, count, keys)
  }
}
