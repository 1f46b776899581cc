import FoundationEssentials

extension ImageHost {
  /// For how long a configuration counts as fresh at least, in seconds: 3 days. TMDB asks its users
  /// to keep it and to check for updates every few days.
  ///
  /// Source: developer.themoviedb.org/reference/configuration-details.
  static let leastLifetimeSeconds = 3 * 86_400.0

  /// Reads the answer of TMDB's `/configuration`.
  ///
  /// The base is `secure_base_url`, or else `base_url`. The sizes are those of `poster_sizes`,
  /// `backdrop_sizes` and `profile_sizes` in their order; what is no name of a size is left out, and a kind
  /// without any has the sizes that TMDB's own host has.
  ///
  /// - Throws: ``PosterError/Code/malformedPage`` if `body` is no configuration or gives no usable base.
  public init(tmdbConfiguration body: PosterBody) throws(PosterError) {
    // Whatever fails to decode here is no configuration; its parts never fail.
    guard
      let answer = try? JSONDecoder().decode(
        TMDBConfiguration.self, from: body.data.withoutByteOrderMark)
    else {
      throw PosterError(.malformedPage, "the answer is no configuration of an image host")
    }
    // The second base is for the case that the first is not usable.
    let bases = answer.bases.lazy.compactMap { try? PosterAddress($0) }
    guard let base = bases.first else {
      throw PosterError(
        .malformedPage, "the image host's configuration gives no usable base address")
    }
    self.init(base, sizes: answer.sizes)
  }

  /// Asks TMDB's `/configuration` for the image host.
  ///
  /// - Parameters:
  ///   - api: the API's base address, its path included. Default ``PosterAddress/tmdbAPI``.
  ///   - credential: what authorises the request, a token or a key; sent to the API's host only.
  ///   - load: loads the answer, usually ``PosterPipeline/page(_:)``, which keeps it for 3 days at least.
  /// - Throws: ``PosterError/Code/unauthorized`` if the server refused the credential,
  ///   ``PosterError/Code/malformedPage`` if it answered something else than a configuration,
  ///   ``PosterError/Code/status(_:)`` for other refusals, and what `load` throws. Whoever can do without
  ///   takes ``tmdb`` then.
  public static func loaded(
    api: PosterAddress = .tmdbAPI, credential: Credential?, load: FeedPage.Load
  ) async throws(PosterError) -> ImageHost {
    var request = PageRequest(
      address: try api.appending("configuration"), credential: credential)
    request.leastLifetimeSeconds = leastLifetimeSeconds
    return try await FeedPage.read(request, load) { response throws(PosterError) in
      try host(from: response, asked: credential)
    }
  }

  private static func host(
    from response: PageResponse, asked credential: Credential?
  ) throws(PosterError) -> ImageHost {
    func refusal(_ body: TMDBErrorBody?) -> PosterError {
      TMDBErrorBody.error(
        status: response.status, body: body, credential: credential, subject: "configuration")
    }
    guard response.status == 200 else { throw refusal(TMDBErrorBody(json: response.body)) }
    do {
      return try ImageHost(tmdbConfiguration: response.body)
    } catch {
      guard let body = TMDBErrorBody(json: response.body) else { throw error }
      throw refusal(body)
    }
  }
}
