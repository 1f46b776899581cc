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
