import PosterCache

/// What the demo origin answers, without faults, delays and connections.
struct DemoSite: Sendable {
  /// What an answer depends on.
  struct Query {
    let method: String
    let path: String
    /// Looks up a decoded parameter of the query.
    let parameter: (String) -> String?
    /// Looks up a header of the request.
    let header: (String) -> String?
  }

  /// Host and port for addresses in answers to clients that name none.
  let authority: String
  /// Whether the API wants a key or a token.
  let requiresCredential: Bool
  private let pictures = PictureCache()

  /// The modification time of everything.
  static let lastModified = "Wed, 01 Jan 2025 00:00:00 GMT"

  /// - Parameters:
  ///   - authority: host and port for addresses in answers to clients that name none.
  ///   - requiresCredential: whether the API wants a key or a token.
  init(authority: String, requiresCredential: Bool) {
    self.authority = authority
    self.requiresCredential = requiresCredential
  }

  /// The answer to a request that has no conditions and asks for no range.
  func answer(_ query: Query) -> Answer {
    guard ["GET", "HEAD"].contains(query.method) else {
      var answer = Self.text(405, "Only GET and HEAD are possible here.")
      answer.headers.append(("Allow", "GET, HEAD"))
      return answer
    }
    let parts = query.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    switch parts.first {
    case "3": return api(Array(parts.dropFirst()), query)
    case "t" where parts.count == 4 && parts[2] == "p": return picture(parts[3], parts[4])
    case "" where parts.count == 1: return index()
    default: return Self.text(404, "There is nothing here.")
    }
  }

  // MARK: API

  private func api(_ parts: [Substring], _ query: Query) -> Answer {
    guard !requiresCredential || isAuthorized(query) else { return Self.error(status: 401) }
    if parts == ["configuration"] {
      // The name under which the client knows this server, which need not be its address.
      let host = query.header("Host") ?? authority
      return Self.json(200, DemoCatalogue.configuration(images: "http://\(host)/t/p/"))
    }
    guard parts.count == 3, let list = DemoList(parts) else { return Self.error(status: 404) }
    guard let page = Int(query.parameter("page") ?? "1"), (1...500).contains(page) else {
      return Self.error(status: 400)
    }
    guard let answer = list.page(page, language: query.parameter("language")) else {
      return Self.error(status: 404)
    }
    return Self.json(200, answer)
  }

  /// Any key and any token will do, but there must be one.
  private func isAuthorized(_ query: Query) -> Bool {
    if let key = query.parameter("api_key"), !key.isEmpty { return true }
    guard let authorization = query.header("Authorization"),
      authorization.lowercased().hasPrefix("bearer ")
    else { return false }
    return authorization.dropFirst(7).contains { $0 != " " }
  }

  // MARK: Pictures

  private func picture(_ sizeName: Substring, _ name: Substring) -> Answer {
    guard let size = PosterSize(rawValue: String(sizeName)), DemoPoster.isName(name) else {
      return Self.text(404, "There is no such picture.")
    }
    let picture = pictures.picture(name: String(name), size: size)
    return Answer(
      status: 200,
      headers: [
        ("Content-Type", (name.hasSuffix(".png") ? ImageType.png : .jpeg).contentType),
        ("Cache-Control", "public, max-age=31536000"), ("ETag", picture.etag),
        ("Last-Modified", Self.lastModified), ("Accept-Ranges", "bytes"),
      ], body: picture.bytes)
  }

  // MARK: Others

  private func index() -> Answer {
    Self.html(
      """
      <!doctype html><html lang="en"><meta charset="utf-8"><title>postercache demo origin</title>
      <h1>postercache demo origin</h1>
      <p>A stand-in for TMDB with invented films and drawn posters. Any API key is accepted.</p>
      <ul><li><a href="/3/trending/all/day?api_key=demo">trending</a>
      <li><a href="/3/configuration?api_key=demo">configuration</a></ul>
      <p><img src="/t/p/w185/one.jpg" alt=""> <img src="/t/p/w185/two.jpg" alt="">
      <img src="/t/p/w185/three.jpg" alt=""></p></html>
      """)
  }

  /// A page of HTML with status 200.
  static func html(_ text: String) -> Answer {
    Answer(
      status: 200, headers: [("Content-Type", "text/html; charset=utf-8")], body: StableBytes(text))
  }

  /// The answer with TMDB's error body for `status`, as its API gives it.
  static func error(status: Int) -> Answer {
    let error =
      switch status {
      case 400:
        (22, "Invalid page: Pages start at 1 and max at 500. They are expected to be an integer.")
      case 401: (7, "Invalid API key: You must be granted a valid key.")
      case 404: (34, "The resource you requested could not be found.")
      case 429: (25, "Your request count (41) is over the allowed limit of (40).")
      case 503: (9, "Service offline: This service is temporarily offline, try again later.")
      default: (11, "Internal error: Something went wrong, contact TMDb.")
      }
    var answer = json(status, DemoCatalogue.error(error.0, error.1))
    answer.setHeader("Cache-Control", to: nil)
    return answer
  }

  /// A line of text.
  static func text(_ status: Int, _ line: String) -> Answer {
    Answer(
      status: status, headers: [("Content-Type", "text/plain; charset=utf-8")],
      body: StableBytes(line + "\n"))
  }

  private static func json(_ status: Int, _ value: JSON) -> Answer {
    Answer(
      status: status,
      headers: [
        ("Content-Type", "application/json;charset=utf-8"),
        ("Cache-Control", "public, max-age=300"),
      ], body: StableBytes(value.text))
  }
}
