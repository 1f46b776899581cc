import PosterCache
import PosterServer

/// The servers that a command talks to, and the embedded origin if it is one of them.
struct Servers: Sendable {
  let tmdb: Settings.Servers.API
  let spotify: Settings.Servers.API
  /// Where paths lead to, as far as it is known without asking the API.
  let images: ImageHost
  /// The embedded origin, kept running as long as this value lives.
  let demo: DemoOrigin?
}

extension Settings.Source {
  /// Starts the embedded origin if it is wanted.
  ///
  /// - Parameter link: how slow the embedded origin is; as fast as it can be unless given.
  func open(link: Settings.Scroll.Link? = nil) throws(PosterError) -> Servers {
    var demo: DemoOrigin?
    if self == .demo {
      var configuration = DemoOrigin.Configuration()
      if let link {
        configuration.latencyMilliseconds = link.latencyMilliseconds
        configuration.bytesPerSecond = link.bytesPerSecond
      }
      demo = try DemoOrigin(configuration)
    }
    return Servers(
      tmdb: servers.tmdb, spotify: servers.spotify,
      images: ImageHost(servers.images ?? .tmdbImages), demo: demo)
  }

  /// `error` about a page of `list`, with what a message about it lacks: a likely cause, as an API without a
  /// path is hardly TMDB's or Spotify's; and where a page without an address lies.
  func explaining(
    _ error: PosterError, about list: ListSelection, at address: PosterAddress?
  ) -> PosterError {
    let (api, path): (Settings.Servers.API, String)
    switch list.origin {
    case .tmdb: (api, path) = (servers.tmdb, "/3")
    case .spotify: (api, path) = (servers.spotify, "/v1")
    case .anywhere: return address == nil ? list.naming(error) : error
    }
    guard error.code == .status(404),
      // Scheme and authority only.
      api.address.canonical.split(separator: "/").count == 2
    else { return error }
    return PosterError(
      error.code, "\(error.message); does --api lack its path, such as \(path)?",
      underlying: error.underlying)
  }
}
