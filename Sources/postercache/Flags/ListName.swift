import PosterCache

/// The lists that `--list` knows, and what may be said about each.
enum ListName: String, CaseIterable, Sendable {
  case trending, popular
  case topRated = "top_rated"
  case nowPlaying = "now_playing"
  case upcoming
  case onTheAir = "on_the_air"
  case airingToday = "airing_today"
  case similar, recommendations, related, search, discover, list
  case spotifyFeatured = "spotify-featured"
  case spotifyNewReleases = "spotify-new-releases"
  case spotifyRecommendations = "spotify-recommendations"
  case feed, urls

  /// Who answers for a list.
  enum Origin: Sendable {
    case tmdb, spotify
    /// A file, standard input, or an address of anybody's.
    case anywhere
  }

  /// Who answers for it.
  var origin: Origin {
    switch self {
    case .spotifyFeatured, .spotifyNewReleases, .spotifyRecommendations: .spotify
    case .feed, .urls: .anywhere
    default: .tmdb
    }
  }

  /// The kinds of titles that it has or is about, the default first; none where it is not asked.
  var media: [TMDBList.Media] {
    switch self {
    case .trending, .popular, .search: [.all, .movie, .tv, .person]
    case .topRated, .discover: [.all, .movie, .tv]
    case .nowPlaying, .upcoming: [.all, .movie]
    case .onTheAir, .airingToday: [.all, .tv]
    case .similar, .recommendations, .related: [.movie, .tv]
    case .list, .spotifyFeatured, .spotifyNewReleases, .spotifyRecommendations, .feed, .urls: []
    }
  }

  /// The options that mean something to it, of those that not every list takes.
  var options: Set<ListOption> {
    var options: Set<ListOption> =
      switch origin {
      case .tmdb: [.language, .backdrops, .profiles, .images, .api, .tokenFile, .pages]
      case .spotify: [.filter, .api, .tokenFile, .pages]
      case .anywhere: [.from, .images]
      }
    if !media.isEmpty { options.insert(.media) }
    switch self {
    case .trending: options.insert(.window)
    case .popular, .topRated, .nowPlaying, .upcoming: options.insert(.region)
    case .similar, .recommendations, .related, .list: options.insert(.id)
    case .search: options.formUnion([.query, .region])
    case .discover: options.formUnion([.filter, .region])
    case .feed: options.insert(.pages)
    default: break
    }
    return options
  }
}

/// Options about lists that not every list takes, by their names.
enum ListOption: String, CaseIterable, Sendable {
  case media, window, id, query, filter, language, region, backdrops, profiles, from, pages, images
  case api
  case tokenFile = "token-file"
}
