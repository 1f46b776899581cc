/// A list that TMDB's API offers.
public enum TMDBList: Sendable, Hashable {
  /// What is being looked at most: `/trending/{media}/{window}`.
  case trending(media: Media, window: Window)

  /// What kinds of entries a trending list has.
  public enum Media: String, Sendable, Hashable, CaseIterable {
    case all, movie, tv, person
  }

  /// Over which time trends are counted.
  public enum Window: String, Sendable, Hashable, CaseIterable {
    case day, week
  }

  /// The list's path below the API's base address, without a leading slash.
  public var path: String {
    switch self {
    case .trending(let media, let window): "trending/\(media.rawValue)/\(window.rawValue)"
    }
  }

  /// What entries of this list are that do not say it themselves.
  var kind: FeedItem.Kind {
    switch self {
    case .trending(media: .all, window: _): .unknown("")
    case .trending(let media, window: _): FeedItem.Kind(media.rawValue)
    }
  }
}

extension TMDBList: CustomStringConvertible {
  /// The list's path: `trending/all/day`.
  public var description: String { path }
}

extension PosterAddress {
  /// The base address of TMDB's API: `https://api.themoviedb.org/3`.
  // A constant that TMDBFeedTests parses; it cannot fail.
  public static let tmdbAPI = try! PosterAddress("https://api.themoviedb.org/3")
}
