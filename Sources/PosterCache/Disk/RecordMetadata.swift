import FoundationEssentials

/// A record's metadata: fields of {tag: 1 byte, length: 2 bytes, value}, in ascending order of tag.
///
/// Unknown tags are skipped, so that a later version can add some without a new format.
enum RecordMetadata {
  enum Tag: UInt8 {
    case address = 1
    case contentType, entityTag, lastModified, storedAt, expiresAt, staleUse, variant
  }

  /// No metadata is longer: three texts of at most 65,535 bytes, an address of at most 16,384, and what
  /// is short.
  static let maximumLength = 1 << 18

  /// Bytes that ``append(_:to:)`` will append, or `nil` if a text is too long to be stored.
  static func length(of metadata: PosterMetadata) -> Int? {
    let texts = [
      metadata.address.canonical, metadata.type.contentType, metadata.etag, metadata.lastModified,
    ].compactMap { $0?.utf8.count }
    guard texts.allSatisfy({ $0 <= UInt16.max }) else { return nil }
    var length = texts.reduce(0) { $0 + 3 + $1 } + 2 * (3 + 8)
    if metadata.staleUse != StaleUse() { length += 3 + staleUseBytes }
    if let variant = metadata.variant {
      let bytes = variantHashBytes + variant.fields.utf8.count
      guard bytes <= UInt16.max else { return nil }
      length += 3 + bytes
    }
    return length
  }

  /// Appends the fields of `metadata`, whose ``length(of:)`` is not `nil`, to `bytes`.
  static func append(_ metadata: PosterMetadata, to bytes: inout [UInt8]) {
    append(.address, metadata.address.canonical, to: &bytes)
    append(.contentType, metadata.type.contentType, to: &bytes)
    if let etag = metadata.etag { append(.entityTag, etag, to: &bytes) }
    if let lastModified = metadata.lastModified {
      append(.lastModified, lastModified, to: &bytes)
    }
    append(.storedAt, metadata.storedAt.milliseconds, to: &bytes)
    append(.expiresAt, metadata.expiresAt.milliseconds, to: &bytes)
    if metadata.staleUse != StaleUse() { append(metadata.staleUse, to: &bytes) }
    if let variant = metadata.variant { append(variant, to: &bytes) }
  }

  /// Where the canonical address lies in `bytes`, or `nil` if they are no metadata.
  static func address(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    var address: UnsafeRawBufferPointer?
    let isWellFormed = forEachField(bytes) { tag, value in
      if tag == Tag.address.rawValue { address = value }
    }
    return isWellFormed ? address : nil
  }

  /// Reads `bytes`, or returns `nil` if a field that must be there is not.
  ///
  /// - Parameter address: the address, where the caller has compared it already; it is parsed from
  ///   `bytes` otherwise.
  static func decode(
    _ bytes: UnsafeRawBufferPointer, address known: PosterAddress? = nil
  ) -> PosterMetadata? {
    var address = known
    var type: ImageType?
    var etag: String?
    var lastModified: String?
    var storedAt: Int64?
    var expiresAt: Int64?
    var staleUse: StaleUse? = StaleUse()
    var variant: Variant??
    let isWellFormed = forEachField(bytes) { tag, value in
      switch Tag(rawValue: tag) {
      case .address:
        if address == nil { address = PosterAddress(canonicalBytes: value) }
      case .contentType: type = ImageType(contentTypeBytes: value)
      case .entityTag: etag = String(decoding: value, as: UTF8.self)
      case .lastModified: lastModified = String(decoding: value, as: UTF8.self)
      case .storedAt: storedAt = integer(value)
      case .expiresAt: expiresAt = integer(value)
      case .staleUse: staleUse = Self.staleUse(value)
      case .variant: variant = .some(Self.variant(value))
      case nil: break
      }
    }
    guard isWellFormed, let address, let type, let storedAt, let expiresAt, let staleUse else {
      return nil
    }
    var metadata = PosterMetadata(
      address: address, type: type, etag: etag, lastModified: lastModified,
      storedAt: Date(milliseconds: storedAt), expiresAt: Date(milliseconds: expiresAt))
    metadata.staleUse = staleUse
    if let variant {
      guard let variant else { return nil }
      metadata.variant = variant
    }
    return metadata
  }

  /// Calls `body` with every field; returns whether the fields fill `bytes` exactly.
  @inline(__always)
  static func forEachField(
    _ bytes: UnsafeRawBufferPointer, _ body: (UInt8, UnsafeRawBufferPointer) -> Void
  ) -> Bool {
    var offset = 0
    while offset + 3 <= bytes.count {
      let length = Int(
        UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt16.self)))
      let start = offset + 3
      guard start + length <= bytes.count else { return false }
      body(bytes[offset], UnsafeRawBufferPointer(rebasing: bytes[start..<start + length]))
      offset = start + length
    }
    return offset == bytes.count
  }

  static func append(_ tag: Tag, _ text: String, to bytes: inout [UInt8]) {
    let length = text.utf8.count
    precondition(length <= UInt16.max, "a field of \(length) bytes")
    bytes.append(tag.rawValue)
    bytes.append(UInt8(truncatingIfNeeded: length))
    bytes.append(UInt8(truncatingIfNeeded: length >> 8))
    bytes.append(contentsOf: text.utf8)
  }

  static func append(_ tag: Tag, _ number: Int64, to bytes: inout [UInt8]) {
    bytes += [tag.rawValue, 8, 0]
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// One byte, 1 where use is forbidden, and the two times in seconds, 4 bytes each.
  private static let staleUseBytes = 9

  static func append(_ staleUse: StaleUse, to bytes: inout [UInt8]) {
    bytes += [Tag.staleUse.rawValue, UInt8(staleUseBytes), 0, staleUse.isForbidden ? 1 : 0]
    for seconds in [staleUse.whileRevalidatingSeconds, staleUse.ifErrorSeconds] {
      withUnsafeBytes(of: seconds.littleEndian) { bytes.append(contentsOf: $0) }
    }
  }

  static func staleUse(_ bytes: UnsafeRawBufferPointer) -> StaleUse? {
    guard bytes.count == staleUseBytes else { return nil }
    var reader = RowReader(bytes: bytes)
    var staleUse = StaleUse()
    staleUse.isForbidden = reader.next(UInt8.self) != 0
    staleUse.whileRevalidatingSeconds = reader.next()
    staleUse.ifErrorSeconds = reader.next()
    return staleUse
  }

  /// The hash of the values comes first, then the names.
  private static let variantHashBytes = 8

  static func append(_ variant: Variant, to bytes: inout [UInt8]) {
    let fields = variant.fields.utf8
    let length = variantHashBytes + fields.count
    bytes += [
      Tag.variant.rawValue, UInt8(truncatingIfNeeded: length),
      UInt8(truncatingIfNeeded: length >> 8),
    ]
    withUnsafeBytes(of: variant.hash.littleEndian) { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: fields)
  }

  static func variant(_ bytes: UnsafeRawBufferPointer) -> Variant? {
    guard bytes.count >= variantHashBytes else { return nil }
    var reader = RowReader(bytes: bytes)
    let hash: UInt64 = reader.next()
    let fields = UnsafeRawBufferPointer(rebasing: bytes[variantHashBytes...])
    return Variant(fields: String(decoding: fields, as: UTF8.self), hash: hash)
  }

  static func integer(_ bytes: UnsafeRawBufferPointer) -> Int64? {
    guard bytes.count == MemoryLayout<Int64>.size else { return nil }
    return Int64(littleEndian: bytes.loadUnaligned(as: Int64.self))
  }
}

extension ImageType {
  fileprivate init?(contentTypeBytes bytes: UnsafeRawBufferPointer) {
    // Fits into a string without an allocation, which compares faster than a sequence of bytes.
    guard bytes.count <= 15 else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let type = Self.allCases.first(where: { $0.contentType == text }) else { return nil }
    self = type
  }
}
