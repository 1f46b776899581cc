/// Where an entry's picture is to be had.
public enum Artwork: Sendable, Hashable {
  /// A file of an ``ImageHost``, which has it in several sizes; with exactly one leading slash.
  case path(String, ImageKind)
  /// Addresses of one picture in one or several widths; at least one.
  case addresses([Version])

  /// A picture in one of its widths.
  public struct Version: Sendable, Hashable {
    public var address: PosterAddress
    /// In pixels; `nil` where the source does not say it.
    public var width: Int?

    public init(_ address: PosterAddress, width: Int? = nil) {
      self.address = address
      self.width = width
    }
  }

  /// A picture with one address.
  public static func address(_ address: PosterAddress) -> Artwork {
    .addresses([Version(address)])
  }

  /// What to ask for; `nil` for a path that is none, as one that leaves the image host's directory.
  ///
  /// Of several addresses it is the smallest picture that is at least as wide as `size`, else the widest,
  /// else, where no width is known, the first. For ``PosterSize/original`` it is the widest. Of a path it
  /// is what ``ImageHost/size(_:of:)`` says.
  public func request(
    size: PosterSize = .w342, on host: ImageHost = .tmdb, priority: Priority = .visible
  ) -> PosterRequest? {
    switch self {
    case .path(let path, let kind):
      // What names no picture is for the caller to count.
      try? PosterRequest(
        path: path, size: host.size(size, of: kind), images: host.base, priority: priority)
    case .addresses(let versions):
      Self.best(of: versions, width: size.width ?? .max).map {
        PosterRequest($0.address, priority: priority)
      }
    }
  }

  private static func best(of versions: [Version], width: Int) -> Version? {
    let sized = versions.compactMap { version in version.width.map { (version, $0) } }
    let enough = sized.filter { $0.1 >= width }.min { $0.1 < $1.1 }
    return (enough ?? sized.max { $0.1 < $1.1 })?.0 ?? versions.first
  }
}
