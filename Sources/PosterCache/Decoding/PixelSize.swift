/// A width and a height in pixels.
public struct PixelSize: Sendable, Hashable {
  /// The width in pixels, at least 1.
  public let width: Int
  /// The height in pixels, at least 1.
  public let height: Int

  /// A size of at least one pixel and at most 2^30 pixels each way; another one is a programming error.
  public init(width: Int, height: Int) {
    precondition(
      (1...Self.maximumSide).contains(width) && (1...Self.maximumSide).contains(height),
      "no size of a picture: \(width)x\(height)")
    self.width = width
    self.height = height
  }

  /// The longest side that a size may have.
  public static let maximumSide = 1 << 30

  /// Width times height.
  public var pixels: Int { width * height }

  /// The same with width and height exchanged.
  public var transposed: PixelSize { PixelSize(width: height, height: width) }
}

extension PixelSize: CustomStringConvertible {
  /// `154x231`.
  public var description: String { "\(width)x\(height)" }
}
