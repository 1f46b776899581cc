/// What a picture's header says, before a pixel is decoded.
public struct ImageHeader: Sendable, Hashable {
  /// What kind of picture it is.
  public let type: ImageType
  /// The size as in the file.
  public let storedSize: PixelSize
  /// How to turn it upright: the EXIF orientation, 1 to 8; 1 if there is none or a wrong one.
  public let orientation: Int
  /// Whether it says that pixels may be translucent; of a lossless WebP a hint only (RFC 9649, section 3.4).
  public let hasAlpha: Bool

  /// The size as it is displayed.
  public var size: PixelSize { orientation >= 5 ? storedSize.transposed : storedSize }
}
