/// How a picture is wanted as pixels: how large, and what its alpha means.
public struct Rendition: Sendable, Hashable {
  /// How large.
  public enum Size: Sendable, Hashable {
    /// As large as it is.
    case full
    /// As large as fits into a size, its proportions kept.
    case fitting(PixelSize)
    /// As small as covers a size, its proportions kept; nothing is cut off.
    case filling(PixelSize)
  }

  /// What the colours of translucent pixels are.
  public enum Alpha: Sendable, Hashable {
    /// Multiplied by alpha, as compositors want them.
    case premultiplied
    /// As in the file.
    case straight
  }

  /// How large.
  public var size: Size
  /// What the colours of translucent pixels are; ``Alpha/premultiplied`` unless said otherwise.
  public var alpha: Alpha
  /// Whether a picture that is smaller is enlarged; `false` unless said otherwise.
  public var mayEnlarge: Bool

  public init(_ size: Size, alpha: Alpha = .premultiplied, mayEnlarge: Bool = false) {
    self.size = size
    self.alpha = alpha
    self.mayEnlarge = mayEnlarge
  }

  /// The size that a picture of `full` pixels, as displayed, comes out with: both sides scaled by the
  /// same factor, rounded to the nearest pixel, at least 1.
  public func size(of full: PixelSize) -> PixelSize {
    let scale: Double
    switch size {
    case .full: return full
    case .fitting(let box):
      scale = min(
        Double(box.width) / Double(full.width), Double(box.height) / Double(full.height))
    case .filling(let box):
      scale = max(
        Double(box.width) / Double(full.width), Double(box.height) / Double(full.height))
    }
    guard scale < 1 || mayEnlarge else { return full }
    func scaled(_ side: Int) -> Int {
      min(max(Int((Double(side) * scale).rounded()), 1), PixelSize.maximumSide)
    }
    return PixelSize(width: scaled(full.width), height: scaled(full.height))
  }
}
