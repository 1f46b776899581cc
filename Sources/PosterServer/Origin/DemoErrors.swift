import PosterCache

/// How the demo origin says that something is wrong: as the API does whose place it takes.
enum DemoErrors {
  /// The answer with `status` to a request for `path`: below `/3/` with TMDB's error body, below `/v1/`
  /// with Spotify's, elsewhere a line of text.
  ///
  /// - Parameter line: what a line of text says; by default that the status was ordered.
  static func answer(_ status: Int, path: String, line: String? = nil) -> Answer {
    if path == "/3" || path.hasPrefix("/3/") { return tmdb(status) }
    if path == "/v1" || path.hasPrefix("/v1/") { return spotify(status) }
    return .text(status, line ?? "Status \(status), as ordered.")
  }

  private static func tmdb(_ status: Int) -> Answer {
    let error: (Int, JSON) =
      switch status {
      case 400:
        (22, "Invalid page: Pages start at 1 and max at 500. They are expected to be an integer.")
      case 401: (7, "Invalid API key: You must be granted a valid key.")
      case 404: (34, "The resource you requested could not be found.")
      case 429: (25, "Your request count (41) is over the allowed limit of (40).")
      case 503: (9, "Service offline: This service is temporarily offline, try again later.")
      default: (11, "Internal error: Something went wrong, contact TMDb.")
      }
    return .json(
      status,
      .object([
        ("status_code", .integer(error.0)), ("status_message", error.1), ("success", false),
      ]))
  }

  private static func spotify(_ status: Int) -> Answer {
    let message: JSON =
      switch status {
      case 400: "Invalid limit or offset"
      case 401: "No token provided"
      case 403: "Forbidden"
      case 404: "Service not found"
      case 429: "API rate limit exceeded"
      case 503: "Service unavailable"
      default: "Server error"
      }
    return .json(
      status, .object([("error", .object([("status", .integer(status)), ("message", message)]))]))
  }
}
