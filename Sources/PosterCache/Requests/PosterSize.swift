/// The widths in which TMDB's image host offers posters.
///
/// Source: TMDB's `/configuration`, `poster_sizes`.
public enum PosterSize: String, Sendable, Hashable, CaseIterable {
  case w92, w154, w185, w342, w500, w780
  /// As uploaded, usually 2,000 pixels wide.
  case original

  /// The width in pixels, or `nil` for ``original``.
  public var width: Int? { Int(rawValue.dropFirst()) }
}
