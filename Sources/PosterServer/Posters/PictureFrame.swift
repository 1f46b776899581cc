import PosterCache

/// How large a drawn picture is, and which part of a scene it shows.
///
/// Scenes are one wide and 1.5 deep: posters show all of one, other shapes a piece out of it.
struct PictureFrame: Hashable, Sendable {
  /// In pixels.
  let width: Int
  /// In pixels.
  let height: Int
  /// Where the piece begins, in widths from the scene's top.
  let top: Double
  /// How deep the piece is, in widths.
  let depth: Double

  /// A picture of `kind` in `size`: posters and people are two wide and three high, backdrops sixteen
  /// wide and nine high. As uploaded, those are 1,000 pixels wide here and these 1,600.
  init(_ kind: ImageKind, size: PosterSize) {
    switch kind {
    case .poster, .profile:
      let width = size.width ?? size.height.map { $0 * 2 / 3 } ?? 1_000
      self.init(width: width, height: (width * 3 + 1) / 2, top: 0, depth: 1.5)
    case .backdrop:
      let width = size.width ?? size.height.map { $0 * 16 / 9 } ?? 1_600
      self.init(width: width, height: (width * 9 + 8) / 16, top: 0.45, depth: 0.5625)
    }
  }

  /// A square picture, as records have it.
  init(side: Int) {
    self.init(width: side, height: side, top: 0.3, depth: 1)
  }

  private init(width: Int, height: Int, top: Double, depth: Double) {
    self.width = width
    self.height = height
    self.top = top
    self.depth = depth
  }
}
