import FoundationEssentials

/// The bytes of a picture as they came: immutable, in one reference-counted allocation that the
/// network, the disk, the memory tier and the caller share. Copying this value copies no bytes.
public struct PosterBody: Sendable {
  /// What the bytes lie in; only `init(capacity:fill:)` and ``Builder`` write to it.
  nonisolated(unsafe) private let storage: Storage  // written before anybody else can see it
  /// Where in it they begin; what precedes them is a disk record's header and metadata.
  private let offset: Int
  /// The number of bytes.
  public let count: Int

  /// A body with a copy of `bytes`.
  public init(copying bytes: some Collection<UInt8>) {
    let count = bytes.count
    self.init(capacity: count) { buffer in
      buffer.copyBytes(from: bytes)
      return count
    }
  }

  /// A body that `fill` writes into `capacity` fresh bytes, returning how many it wrote.
  init<Failure: Error>(
    capacity: Int, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) {
    let storage = Storage.allocate(capacity: capacity)
    let written = try fill(UnsafeMutableRawBufferPointer(start: storage.start, count: capacity))
    precondition((0...capacity).contains(written), "\(written) bytes written into \(capacity)")
    self.init(storage: storage, offset: 0, count: written)
  }

  private init(storage: Storage, offset: Int, count: Int) {
    self.storage = storage
    self.offset = offset
    self.count = count
  }

  /// Calls `body` with the bytes; the pointer must not leave it.
  public func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(storage) {} }
    return try body(UnsafeRawBufferPointer(start: storage.start + offset, count: count))
  }

  /// The part of this body between two offsets, sharing its bytes.
  func slice(_ range: Range<Int>) -> PosterBody {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "\(range) of \(count) bytes")
    return PosterBody(storage: storage, offset: offset + range.lowerBound, count: range.count)
  }

  /// Object header and bytes in one block.
  private final class Storage: ManagedBuffer<Void, UInt8> {
    static func allocate(capacity: Int) -> Storage {
      // `create` is declared to return the base class, but makes an instance of this one.
      unsafeDowncast(Storage.create(minimumCapacity: capacity) { _ in () }, to: Storage.self)
    }

    var start: UnsafeMutableRawPointer {
      withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
    }
  }
}

extension PosterBody {
  /// A copy of the bytes.
  public var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

  /// A copy of the bytes for Foundation.
  public var data: Data { withUnsafeBytes { Data($0) } }
}

extension PosterBody: Equatable {
  /// Whether both hold the same bytes.
  public static func == (left: PosterBody, right: PosterBody) -> Bool {
    left.withUnsafeBytes { left in right.withUnsafeBytes { left.elementsEqual($0) } }
  }
}

extension PosterBody {
  /// Collects a body that arrives in pieces: in one allocation where its length was announced and
  /// is at most ``longestTrusted``, else in one that grows with what has really come.
  struct Builder: ~Copyable {
    /// Bytes allocated at most because somebody says that they will come.
    static let longestTrusted = 8 << 20

    private var storage: Storage
    private let announced: Int
    /// Bytes allocated.
    private(set) var capacity: Int
    /// The bytes collected so far.
    private(set) var count = 0

    /// - Parameter announced: the announced length in bytes, 0 if nobody announced one.
    init(announced: Int) {
      self.announced = announced
      capacity = min(announced, Self.longestTrusted)
      storage = Storage.allocate(capacity: capacity)
    }

    /// Copies `bytes` to the end.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
      guard let source = bytes.baseAddress else { return }
      let needed = count + bytes.count
      if needed > capacity {
        let doubled = max(capacity * 2, 16 * 1024)
        grow(to: max(needed, announced >= needed ? min(doubled, announced) : doubled))
      }
      (storage.start + count).copyMemory(from: source, byteCount: bytes.count)
      count += bytes.count
    }

    /// The finished body. A guessed allocation that is more than an eighth too large is replaced
    /// by one that fits: bodies live for hours in the memory tier, whose limit counts their bytes.
    consuming func finish() -> PosterBody {
      if capacity - count > count / 8 { grow(to: count) }
      return PosterBody(storage: storage, offset: 0, count: count)
    }

    private mutating func grow(to newCapacity: Int) {
      let larger = Storage.allocate(capacity: newCapacity)
      larger.start.copyMemory(from: storage.start, byteCount: count)
      storage = larger
      capacity = newCapacity
    }
  }
}
