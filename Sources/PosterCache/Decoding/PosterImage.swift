/// A poster as pixels.
public struct PosterImage: Sendable {
  /// The pixels, upright: the orientation that the file asks for has been applied.
  public let bitmap: Bitmap
  /// The size of the whole picture as it is displayed, before shrinking.
  public let fullSize: PixelSize
  /// What kind of picture it came from.
  public let type: ImageType
  /// The ICC profile that the file embeds, if any. The pixels are as in the file: whoever does not look
  /// at this takes them for sRGB.
  public let colorProfile: [UInt8]?
  /// Whether all of the picture was there; always `true` unless incomplete ones were asked for.
  public let isComplete: Bool
  /// The average of the picture's pixels, weighted by alpha.
  public let averageColor: PosterColor
}
