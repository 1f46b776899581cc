/// A list that TMDB's API offers.
public enum TMDBList: Sendable, Hashable {
  /// What is being looked at most: `/trending/{media}/{window}`.
  case trending(media: Media, window: Window)
  /// What resembles a film or a series by its keywords and genres: `/{media}/{id}/similar`.
  case similar(media: Media, id: Int)
  /// What those who look at a film or a series look at, too: `/{media}/{id}/recommendations`.
  case recommendations(media: Media, id: Int)

  /// What kinds of entries a list has, or what kind of title it is about.
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
    case .similar(let media, let id): "\(media.rawValue)/\(id)/similar"
    case .recommendations(let media, let id): "\(media.rawValue)/\(id)/recommendations"
    }
  }

  /// What entries of this list are that do not say it themselves.
  var kind: FeedItem.Kind {
    switch self {
    case .trending(media: .all, window: _): .unknown("")
    case .trending(let media, window: _): FeedItem.Kind(media.rawValue)
    case .similar(let media, id: _), .recommendations(let media, id: _):
      FeedItem.Kind(media.rawValue)
    }
  }

  /// Throws where TMDB can have no such list: only films and series have related ones.
  func validate() throws(PosterError) {
    switch self {
    case .trending: break
    case .similar(let media, let id), .recommendations(let media, let id):
      guard media == .movie || media == .tv, id >= 0 else {
        throw PosterError(
          .invalidConfiguration, "no such list: \(path); only films and series have it")
      }
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
