import FoundationEssentials

/// What TMDB answers instead of a page: `{"status_code":7,"status_message":"…","success":false}`.
struct TMDBErrorBody: Sendable, Hashable {
  /// TMDB's own code, such as 7 for a bad key; not the HTTP status.
  var code: Int
  /// TMDB's explanation; empty if there was none.
  var message: String

  /// Reads an error body, or returns `nil` if `json` is none.
  init?(json: PosterBody) {
    // Whatever is no error body is one of the answers that the caller handles anyway.
    guard let body = try? JSONDecoder().decode(TMDBErrorBody.self, from: json.data) else {
      return nil
    }
    self = body
  }

  init(code: Int, message: String) {
    self.code = code
    self.message = message
  }

  /// Whether TMDB refuses the credentials: 3 authentication failed, 7 invalid key, 10 suspended
  /// key, 14 authentication failed.
  ///
  /// Source: developer.themoviedb.org/docs/errors.
  var isRefusal: Bool { [3, 7, 10, 14].contains(code) }
}

extension TMDBErrorBody: Decodable {
  private enum Key: String, CodingKey {
    case code = "status_code"
    case message = "status_message"
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    code = try container.decode(Int.self, forKey: .code)
    // The code alone says enough.
    message = (try? container.decode(String.self, forKey: .message)) ?? ""
  }
}

extension TMDBErrorBody {
  /// The error that an answer without a page stands for.
  ///
  /// - Parameters:
  ///   - status: the HTTP status; 200 if the body alone says that it is an error.
  ///   - body: the error body, if the answer has one.
  ///   - credential: what authorised the request; its value is cut out of the server's words.
  ///   - subject: what was asked for.
  static func error(
    status: Int, body: TMDBErrorBody?, credential: Credential?, subject: String = "list"
  ) -> PosterError {
    var details = status == 200 ? "" : "HTTP \(status)"
    if let body {
      details += details.isEmpty ? "" : ", "
      details += "code \(body.code)"
      let words = ServerWords.oneLine(body.message, hiding: credential, longest: 200)
      if !words.isEmpty { details += ": \(words)" }
    }
    if status == 401 || status == 403 || body?.isRefusal == true {
      let refused = credential.map { "refused the \($0)" } ?? "wants a bearer token or an API key"
      return PosterError(.unauthorized, "the \(subject)'s server \(refused) (\(details))")
    }
    switch (status, body?.code) {
    case (404, _), (_, 34):
      return PosterError(
        .status(404), "the \(subject)'s server does not know this \(subject) (\(details))")
    case (429, _), (_, 25):
      return PosterError(
        .status(429),
        "the \(subject)'s server limits the rate of requests, try again later (\(details))")
    case (500..., _):
      return PosterError(.status(status), "the \(subject)'s server is in trouble (\(details))")
    default:
      return PosterError(
        .status(status), "the \(subject)'s server refused the request (\(details))")
    }
  }
}
