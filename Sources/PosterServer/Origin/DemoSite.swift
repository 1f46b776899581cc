import PosterCache

/// What the demo origin answers, without faults, delays and connections.
struct DemoSite: Sendable {
  /// What an answer depends on.
  struct Query {
    let method: String
    let path: String
    /// Which other picture is shown in the place of the named one, from 1; `nil` for the named one.
    var otherPicture: Int?
    /// Looks up a decoded parameter of the query.
    let parameter: (String) -> String?
    /// Looks up a header of the request.
    let header: (String) -> String?
  }

  /// Host and port for addresses in answers to clients that name none.
  let authority: String
  /// Whether the APIs want a key or a token.
  let requiresCredential: Bool
  private let routes: [DemoRoute]

  /// The modification time of everything.
  static let lastModified = "Wed, 01 Jan 2025 00:00:00 GMT"

  /// - Parameters:
  ///   - authority: host and port for addresses in answers to clients that name none.
  ///   - requiresCredential: whether the APIs want a key or a token.
  init(authority: String, requiresCredential: Bool) {
    self.authority = authority
    self.requiresCredential = requiresCredential
    let documented =
      PictureRoutes(PictureCache()).all + TMDBRoutes.all + SpotifyRoutes.all + FeedRoutes.all
    let index = Self.index(of: documented)
    routes = documented + [DemoRoute("/", example: "/") { _ in .html(index) }]
  }

  /// The answer to a request that has no conditions and asks for no range.
  func answer(_ query: Query) -> Answer {
    guard ["GET", "HEAD"].contains(query.method) else {
      var answer = Answer.text(405, "Only GET and HEAD are possible here.")
      answer.headers.append(("Allow", "GET, HEAD"))
      return answer
    }
    guard !requiresCredential || isAuthorized(query) else {
      return DemoErrors.answer(401, path: query.path)
    }
    let path = query.path.split(separator: "/", omittingEmptySubsequences: false)
    let host = query.header("Host") ?? authority
    for route in routes {
      guard let parts = route.parts(of: Array(path.dropFirst())) else { continue }
      if let answer = route.answer(.init(query: query, host: host, parts: parts)) { return answer }
      break
    }
    return DemoErrors.answer(404, path: query.path, line: "There is nothing here.")
  }

  /// Any key and any token will do, but there must be one where an API wants it: a token for Spotify, a
  /// token or a key for TMDB.
  private func isAuthorized(_ query: Query) -> Bool {
    let api = query.path.split(separator: "/").first
    guard api == "3" || api == "v1" else { return true }
    if api == "3", let key = query.parameter("api_key"), !key.isEmpty { return true }
    guard let authorization = query.header("Authorization"),
      authorization.lowercased().hasPrefix("bearer ")
    else { return false }
    return authorization.dropFirst(7).contains { $0 != " " }
  }

  /// The front page, which lists `routes`.
  private static func index(of routes: [DemoRoute]) -> String {
    func escaped(_ text: String) -> String {
      text.split(separator: "&", omittingEmptySubsequences: false).joined(separator: "&amp;")
    }
    let lines = routes.map { route in
      let isKeyed = route.example.hasPrefix("/3/")
      let key = isKeyed ? (route.example.contains("?") ? "&api_key=demo" : "?api_key=demo") : ""
      return "<li><a href=\"\(escaped(route.example + key))\"><code>\(route.path)</code></a>"
    }
    return """
      <!doctype html><html lang="en"><meta charset="utf-8"><title>postercache demo origin</title>
      <h1>postercache demo origin</h1>
      <p>A stand-in for TMDB and others, with invented films and drawn posters. Any API key and any
      token is accepted.</p>
      <ul>
      \(lines.joined(separator: "\n"))
      </ul>
      <p><img src="/t/p/w185/one.jpg" alt=""> <img src="/t/p/w185/two.jpg" alt="">
      <img src="/t/p/w185/three.jpg" alt=""></p></html>
      """
  }
}
