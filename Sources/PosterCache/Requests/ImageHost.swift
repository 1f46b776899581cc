/// What a picture of TMDB's shows, which decides in which sizes there is one.
public enum ImageKind: String, Sendable, Hashable, CaseIterable {
  /// Two wide, three high.
  case poster
  /// Sixteen wide, nine high.
  case backdrop
  /// A person, two wide, three high.
  case profile

  /// Width by height.
  var aspectRatio: Double {
    switch self {
    case .poster, .profile: 2.0 / 3.0
    case .backdrop: 16.0 / 9.0
    }
  }
}

/// A host that has pictures by path in several sizes, as TMDB's `/configuration` describes it.
public struct ImageHost: Sendable, Hashable {
  /// The address before size and path.
  public var base: PosterAddress
  private let offered: [ImageKind: [PosterSize]]

  /// TMDB's own, with the sizes of its `/configuration` as of 2025.
  public static let tmdb = ImageHost(.tmdbImages)

  /// A host with the sizes that TMDB's has.
  public init(_ base: PosterAddress) {
    self.init(base, sizes: [:])
  }

  /// - Parameters:
  ///   - base: the address before size and path.
  ///   - sizes: those offered of each kind; TMDB's where a kind is missing or has none.
  public init(_ base: PosterAddress, sizes: [ImageKind: [PosterSize]]) {
    self.base = base
    offered = Self.builtIn.merging(sizes.filter { !$0.value.isEmpty }) { $1 }
  }

  private static let builtIn: [ImageKind: [PosterSize]] = [
    .poster: [.w92, .w154, .w185, .w342, .w500, .w780, .original],
    .backdrop: ["w300", "w780", "w1280", "original"].compactMap(PosterSize.init(rawValue:)),
    .profile: ["w45", "w185", "h632", "original"].compactMap(PosterSize.init(rawValue:)),
  ]

  /// The sizes offered of a kind, in the host's order; never none.
  public func sizes(of kind: ImageKind) -> [PosterSize] {
    offered[kind] ?? [.original]
  }

  /// The size to ask for where `wanted` is wanted: that one if it is offered, else the smallest that is
  /// at least as wide, else ``PosterSize/original``, else the widest.
  public func size(_ wanted: PosterSize, of kind: ImageKind) -> PosterSize {
    let sizes = sizes(of: kind)
    guard !sizes.contains(wanted) else { return wanted }
    let wide = sizes.compactMap { size in width(of: size, kind).map { (size: size, width: $0) } }
    let least = width(of: wanted, kind) ?? .infinity
    if let next = wide.filter({ $0.width >= least }).min(by: { $0.width < $1.width }) {
      return next.size
    }
    return sizes.contains(.original)
      ? .original : wide.max { $0.width < $1.width }?.size ?? sizes[0]
  }

  /// The width in pixels, `nil` for what may have any.
  private func width(of size: PosterSize, _ kind: ImageKind) -> Double? {
    size.width.map(Double.init) ?? size.height.map { Double($0) * kind.aspectRatio }
  }
}
