import Glibc
import PosterCache

/// One list that is to be expanded.
enum ListSelection: Sendable, Hashable {
  case tmdb(TMDBList)
  case spotify(SpotifyList, [QueryFilter])
  /// A mixed feed or a JSON Feed.
  case feed(DocumentSource)
  case urls(DocumentSource)

  /// What reports call it: `trending/all/day`.
  var label: String {
    switch self {
    case .tmdb(let list): list.path
    case .spotify(.featuredPlaylists, _): ListName.spotifyFeatured.rawValue
    case .spotify(.newReleases, _): ListName.spotifyNewReleases.rawValue
    case .spotify(.recommendations, _): ListName.spotifyRecommendations.rawValue
    case .feed: ListName.feed.rawValue
    case .urls: ListName.urls.rawValue
    }
  }

  /// What messages about its entries begin with: where they stand.
  var sourceName: String {
    switch self {
    case .tmdb, .spotify: label
    case .feed(let source), .urls(let source): source.description
    }
  }

  /// `error` with where the list lies, if its message does not say it.
  func naming(_ error: PosterError) -> PosterError {
    let (message, name) = (error.message, sourceName)
    guard
      !message.hasPrefix("\(name): "), !message.hasPrefix("cannot read \(name)"),
      !message.hasSuffix(": \(name)"), !message.hasPrefix("not a feed: \(name) ")
    else { return error }
    return PosterError(error.code, "\(name): \(message)", underlying: error.underlying)
  }

  /// Who answers for it.
  var origin: ListName.Origin {
    switch self {
    case .tmdb: .tmdb
    case .spotify: .spotify
    case .feed, .urls: .anywhere
    }
  }

  /// Whether it is a search, whose result is told.
  var isSearch: Bool {
    if case .tmdb(.search) = self { true } else { false }
  }
}

extension DocumentSource {
  /// The same for every way to write it.
  fileprivate var identity: String {
    switch self {
    case .address(let address): address.canonical
    case .file(let path): Self.absolute(path)
    case .standardInput: "-"
    }
  }

  /// `path` from the root, links followed where that leads somewhere.
  private static func absolute(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else { return path }
    defer { free(resolved) }
    return String(cString: resolved)
  }
}

extension Settings.Listing {
  /// What tells `list` apart from others in records and locks: everything that decides what is in it and
  /// which pictures are asked for, but not how much of it is read.
  func identity(of list: ListSelection) -> String {
    var parts: [String]
    switch list {
    case .tmdb(let tmdb):
      parts = [source.servers.tmdb.address.baseText, tmdb.path]
      switch tmdb {
      case .search(media: _, let query): parts.append("query=\(query)")
      case .discover(media: _, let filters): parts += Self.identity(of: filters)
      default: break
      }
      parts += ["language=\(language ?? "")", "region=\(region ?? "")"]
      parts.append("\(pictures.titles.rawValue)\(pictures.includesPeople ? "+people" : "")")
    case .spotify(_, let filters):
      parts = [source.servers.spotify.address.baseText, list.label] + Self.identity(of: filters)
    case .feed(let document), .urls(let document): parts = [list.label, document.identity]
    }
    parts.append("size=\(size.rawValue)")
    if let images = source.servers.images { parts.append("images=\(images.baseText)") }
    return parts.joined(separator: "\n")
  }

  /// The order in which conditions are given changes nothing.
  private static func identity(of filters: [QueryFilter]) -> [String] {
    filters.map { "filter=\($0)" }.sorted()
  }
}
