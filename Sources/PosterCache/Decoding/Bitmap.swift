import Glibc

/// Pixels: `size.width` x `size.height`, RGBA8, rows of `bytesPerRow` from top to bottom, without gaps.
///
/// The pixels lie in one reference-counted buffer and never change once anybody else can see them:
/// copying this value copies none.
public struct Bitmap: Sendable {
  /// What the pixels lie in.
  nonisolated(unsafe) private let storage: Storage  // written before anybody else can see it
  /// Width and height in pixels.
  public let size: PixelSize
  /// Whether colours are multiplied by alpha.
  public let alpha: Rendition.Alpha
  /// Whether every pixel is opaque.
  public let isOpaque: Bool

  /// Bytes from one row to the next: four for each pixel.
  public var bytesPerRow: Int { size.width * 4 }
  /// Bytes of all pixels: `bytesPerRow` times the height.
  public var byteCount: Int { bytesPerRow * size.height }

  /// A bitmap whose pixels `fill` writes, all `size.pixels * 4` bytes of them; they are 0 before.
  package init<Failure: Error>(
    _ size: PixelSize, alpha: Rendition.Alpha, isOpaque: Bool,
    fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    let storage = Storage(byteCount: size.pixels * 4)
    try fill(storage.bytes)
    self.storage = storage
    self.size = size
    self.alpha = alpha
    self.isOpaque = isOpaque
  }

  private init(_ other: Bitmap, isOpaque: Bool) {
    storage = other.storage
    size = other.size
    alpha = other.alpha
    self.isOpaque = isOpaque
  }

  /// The same pixels, known to be opaque if they turn out to be.
  func notingOpacity() -> Bitmap {
    guard !isOpaque else { return self }
    let isOpaque = withUnsafeBytes { bytes in
      let pixels = bytes.bindMemory(to: UInt32.self)
      return (0..<size.height).allSatisfy { row in
        var common = UInt32.max
        for index in row * size.width..<(row + 1) * size.width { common &= pixels[index] }
        return UInt32(littleEndian: common) >> 24 == 255
      }
    }
    return isOpaque ? Bitmap(self, isOpaque: true) : self
  }

  /// Memory for pixels, of undefined content: for `init(_:alpha:isOpaque:taking:)`, or to be freed.
  static func allocate(byteCount: Int) -> UnsafeMutableRawBufferPointer {
    guard let start = malloc(byteCount) else {
      fatalError("no memory for a bitmap of \(byteCount) bytes")
    }
    return UnsafeMutableRawBufferPointer(start: start, count: byteCount)
  }

  /// A bitmap of pixels that are there already, `size.pixels * 4` bytes of them from
  /// `allocate(byteCount:)`: it frees them, and nobody else may use them any more.
  init(
    _ size: PixelSize, alpha: Rendition.Alpha, isOpaque: Bool,
    taking bytes: UnsafeMutableRawBufferPointer
  ) {
    precondition(bytes.count == size.pixels * 4, "no pixels of \(size): \(bytes.count) bytes")
    storage = Storage(bytes)
    self.size = size
    self.alpha = alpha
    self.isOpaque = isOpaque
  }

  /// Calls `body` with the pixels; the pointer must not leave it.
  public func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(storage) {} }
    return try body(UnsafeRawBufferPointer(storage.bytes))
  }

  /// Large pictures come from fresh pages of the system, which go back to it when they are freed.
  private final class Storage {
    let bytes: UnsafeMutableRawBufferPointer

    init(byteCount: Int) {
      // Fresh pages are 0 already: `calloc` knows which are.
      guard let start = calloc(1, byteCount) else {
        fatalError("no memory for a bitmap of \(byteCount) bytes")
      }
      bytes = UnsafeMutableRawBufferPointer(start: start, count: byteCount)
    }

    /// - Parameter bytes: from `allocate(byteCount:)`.
    init(_ bytes: UnsafeMutableRawBufferPointer) {
      self.bytes = bytes
    }

    deinit { free(bytes.baseAddress) }
  }
}
