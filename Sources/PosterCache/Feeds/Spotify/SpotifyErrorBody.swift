import FoundationEssentials

/// What Spotify answers instead of a page: `{"error":{"status":401,"message":"…"}}`, or as OAuth has it
/// (RFC 6749, section 5.2) `{"error":"invalid_client","error_description":"…"}`.
struct SpotifyErrorBody: Sendable, Hashable {
  /// The status that the body names, which is the answer's own unless something between changed that.
  var status: Int?
  /// OAuth's word for it.
  var name: String?
  /// Spotify's explanation; empty if there was none.
  var message: String

  /// Reads an error body, or returns `nil` if `json` is none.
  init?(json: PosterBody) {
    // Whatever is no error body is one of the answers that the caller handles anyway.
    guard let body = try? JSONDecoder().decode(SpotifyErrorBody.self, from: json.data) else {
      return nil
    }
    self = body
  }

  /// Whether Spotify refuses the token, whatever the status.
  var isRefusal: Bool {
    status == 401 || status == 403
      || [
        "invalid_client", "invalid_grant", "invalid_token", "unauthorized_client",
        "access_denied", "insufficient_scope",
      ].contains(name)
  }
}

extension SpotifyErrorBody: Decodable {
  init(from decoder: any Decoder) throws {
    guard let fields = LenientFields(decoder), fields.contains("error") else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: [], debugDescription: "no error"))
    }
    name = fields.text("error")
    let details = fields.value("error", as: Details.self)
    status = details?.status
    message = fields.text("error_description") ?? details?.message ?? ""
  }

  private struct Details: Decodable {
    let status: Int?
    let message: String?

    init(from decoder: any Decoder) {
      let fields = LenientFields(decoder)
      status = fields?.value("status")
      message = fields?.text("message")
    }
  }
}

extension SpotifyErrorBody {
  /// The error that an answer without a page stands for.
  ///
  /// - Parameters:
  ///   - status: the HTTP status; 200 if the body alone says that it is an error.
  ///   - body: the error body, if the answer has one.
  ///   - credential: what authorised the request; its value is cut out of the server's words.
  ///   - list: what was asked for.
  ///   - isSeeded: whether the request named what recommendations should go with.
  static func error(
    status: Int, body: SpotifyErrorBody?, credential: Credential?, list: SpotifyList,
    isSeeded: Bool
  ) -> PosterError {
    // An error with the status of a page is what its body says.
    let status = status == 200 ? body?.status ?? 200 : status
    let words = [body?.name ?? "", body?.message ?? ""]
      .map { ServerWords.oneLine($0, hiding: credential) }.filter { !$0.isEmpty }
    let details = "(HTTP \(([String(status)] + words).joined(separator: ": ")))"
    if status == 401 || status == 403 || body?.isRefusal == true {
      let refused = credential.map { "refused the \($0)" } ?? "wants an access token"
      return PosterError(.unauthorized, "the list's server \(refused) \(details)")
    }
    switch status {
    case 404:
      return PosterError(
        .status(404),
        "the list's server does not offer this list; Spotify's \(list) is closed to new applications"
          + " \(details)")
    case 429:
      return PosterError(
        .status(429), "the list's server limits the rate of requests, try again later \(details)")
    case 500...:
      return PosterError(.status(status), "the list's server is in trouble \(details)")
    case 400 where list == .recommendations && !isSeeded:
      return PosterError(
        .status(400),
        "recommendations want a filter seed_artists, seed_genres or seed_tracks \(details)")
    default:
      return PosterError(.status(status), "the list's server refused the page \(details)")
    }
  }
}
