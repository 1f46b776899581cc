/// A list that TMDB's API offers.
public enum TMDBList: Sendable, Hashable {
  /// What is looked at most: `/trending/{media}/{window}`.
  case trending(media: Media, window: Window)
  /// What is popular these days: `/{media}/popular`, of films, series or people.
  case popular(Media)
  /// What has the best votes: `/{media}/top_rated`, of films or series.
  case topRated(Media)
  /// Films in cinemas: `/movie/now_playing`.
  case nowPlaying
  /// Films that are to come: `/movie/upcoming`.
  case upcoming
  /// Series with an episode in the next seven days: `/tv/on_the_air`.
  case onTheAir
  /// Series with an episode today: `/tv/airing_today`.
  case airingToday
  /// What resembles a film or a series by its keywords and genres: `/{media}/{id}/similar`.
  case similar(media: Media, id: Int)
  /// What those who look at a film or a series look at, too: `/{media}/{id}/recommendations`.
  case recommendations(media: Media, id: Int)
  /// What has these words in its title or name: `/search/{media}`, and `/search/multi` for
  /// ``Media/all``. The words must not all be white space.
  case search(media: Media, query: String)
  /// Films or series that meet conditions: `/discover/{media}`. The conditions are handed on as they are;
  /// TMDB's documentation lists them.
  case discover(media: Media, filters: [QueryFilter])
  /// What a user has put together: `/list/{id}`; the identifier is 1 to 64 letters, digits, `-` and `_`.
  case list(id: String)

  /// What kinds of entries a list has, or what kind of title it is about.
  public enum Media: String, Sendable, Hashable, CaseIterable {
    case all, movie, tv, person
  }

  /// Over which time trends are counted.
  public enum Window: String, Sendable, Hashable, CaseIterable {
    case day, week
  }

  /// The list's path below the API's base address, without a leading slash. Words and conditions are no
  /// part of it.
  public var path: String {
    switch self {
    case .trending(let media, let window): "trending/\(media.rawValue)/\(window.rawValue)"
    case .popular(let media): "\(media.rawValue)/popular"
    case .topRated(let media): "\(media.rawValue)/top_rated"
    case .nowPlaying: "movie/now_playing"
    case .upcoming: "movie/upcoming"
    case .onTheAir: "tv/on_the_air"
    case .airingToday: "tv/airing_today"
    case .similar(let media, let id): "\(media.rawValue)/\(id)/similar"
    case .recommendations(let media, let id): "\(media.rawValue)/\(id)/recommendations"
    case .search(.all, query: _): "search/multi"
    case .search(let media, query: _): "search/\(media.rawValue)"
    case .discover(let media, filters: _): "discover/\(media.rawValue)"
    case .list(let id): "list/\(id)"
    }
  }

  /// What entries of this list are that do not say it themselves.
  var kind: FeedItem.Kind {
    switch self {
    case .trending(let media, window: _), .popular(let media), .topRated(let media),
      .similar(let media, id: _), .recommendations(let media, id: _),
      .search(let media, query: _), .discover(let media, filters: _):
      media == .all ? .unknown("") : FeedItem.Kind(media.rawValue)
    case .nowPlaying, .upcoming: .movie
    case .onTheAir, .airingToday: .tv
    // The entries of old lists say nothing: they can only be films.
    case .list: .movie
    }
  }

  /// The list's own parameters, escaped; each as `name=value`.
  var parameters: [String] {
    switch self {
    case .search(media: _, let query): ["query=\(PercentEncoding.escapingAll(query))"]
    case .discover(media: _, let filters): filters.map(\.parameter)
    default: []
    }
  }

  /// Throws where TMDB can have no such list.
  func validate() throws(PosterError) {
    switch self {
    case .trending, .nowPlaying, .upcoming, .onTheAir, .airingToday: break
    case .popular(let media):
      guard media != .all else {
        throw PosterError(
          .invalidConfiguration, "no such list: \(path); films, series and people each have it")
      }
    case .topRated(let media), .discover(let media, filters: _):
      guard media == .movie || media == .tv else { throw onlyFilmsAndSeries }
    case .similar(let media, let id), .recommendations(let media, let id):
      guard media == .movie || media == .tv, id >= 0 else { throw onlyFilmsAndSeries }
    case .search(media: _, let query):
      guard !query.allSatisfy(\.isWhitespace) else {
        throw PosterError(.invalidConfiguration, "nothing to search for: the query is empty")
      }
    case .list(let id):
      // The identifier becomes a part of the path: nothing may lead out of it.
      guard (1...64).contains(id.utf8.count), id.utf8.allSatisfy(Self.isAllowedInIdentifier) else {
        throw PosterError(
          .invalidConfiguration,
          "a list's identifier is 1 to 64 letters, digits, - and _, such as 8136")
      }
    }
  }

  private var onlyFilmsAndSeries: PosterError {
    PosterError(.invalidConfiguration, "no such list: \(path); only films and series have it")
  }

  private static func isAllowedInIdentifier(_ byte: UInt8) -> Bool {
    PercentEncoding.isUnreserved(byte) && byte != UInt8(ascii: ".") && byte != UInt8(ascii: "~")
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
