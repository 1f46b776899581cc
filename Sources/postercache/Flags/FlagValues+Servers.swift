import PosterCache

/// Reads which servers are used, and what authorises requests to them.
extension FlagValues {
  /// The servers of lists.
  ///
  /// - Parameter names: the lists, which decide whose `--api` and credential are meant.
  func source(
    for names: [ListName], environment: (String) -> String?
  ) throws(PosterError) -> Settings.Source {
    if flags.demo {
      for (name, value) in [("api", flags.api), ("token-file", flags.tokenFile)]
      where value != nil {
        throw FlagParser.usage("--demo brings its own servers: leave out --\(name)")
      }
      return try source(Settings.Servers())
    }
    let origins = Set(names.map(\.origin))
    for (name, value) in [("api", flags.api), ("token-file", flags.tokenFile)]
    where value != nil && origins.isSuperset(of: [.tmdb, .spotify]) {
      throw FlagParser.usage(
        "--\(name) cannot be TMDB's and Spotify's at once: use two commands")
    }
    var servers = Settings.Servers()
    if origins.contains(.tmdb) {
      servers.tmdb = try api(.tmdb, standard: .tmdbAPI, environment: environment)
    }
    if origins.contains(.spotify) {
      servers.spotify = try api(.spotify, standard: .spotifyAPI, environment: environment)
    }
    return try source(servers)
  }

  /// The servers of single pictures, of which only the image host counts.
  func pictureSource() throws(PosterError) -> Settings.Source {
    try source(Settings.Servers())
  }

  /// The image host of paths.
  func imageHost() throws(PosterError) -> PosterAddress {
    try givenImageHost() ?? .tmdbImages
  }

  /// The image host that `--images` names.
  func givenImageHost() throws(PosterError) -> PosterAddress? {
    try base("images", flags.images)
  }

  /// The address below which an option says that something lies, `nil` if it was not given.
  private func base(_ name: String, _ text: String?) throws(PosterError) -> PosterAddress? {
    guard let text else { return nil }
    guard !text.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
      throw FlagParser.usage(
        "--\(name) takes an address that paths can be appended to, without ? and #, not"
          + " \(PosterAddress.redacted(text))")
    }
    do throws(PosterError) {
      return try PosterAddress(text)
    } catch {
      throw PosterError(error.code, "--\(name): \(error.message)")
    }
  }

  private func source(_ servers: Settings.Servers) throws(PosterError) -> Settings.Source {
    if flags.demo {
      guard flags.images == nil else {
        throw FlagParser.usage("--demo brings its own servers: leave out --images")
      }
      guard flags.proxy == nil else {
        throw FlagParser.usage("--demo needs no proxy: leave out --proxy")
      }
      return .demo
    }
    var servers = servers
    servers.images = try givenImageHost()
    return .servers(servers)
  }

  // MARK: - Credentials

  /// What tells the credentials of the APIs apart.
  private struct Kind {
    let name: String
    /// Variables that may hold one, the first that is set counts.
    let variables: [String]
    let parse: @Sendable (String) throws(PosterError) -> Credential

    static let tmdb = Kind(name: "TMDB", variables: ["TMDB_TOKEN", "TMDB_API_KEY"]) {
      (text) throws(PosterError) in try Credential(tmdb: text)
    }
    static let spotify = Kind(name: "Spotify", variables: ["SPOTIFY_TOKEN"]) {
      (text) throws(PosterError) in try Credential(spotify: text)
    }
  }

  private func api(
    _ kind: Kind, standard: PosterAddress, environment: (String) -> String?
  ) throws(PosterError) -> Settings.Servers.API {
    let address = try base("api", flags.api)
    let credential = try credential(kind, environment: environment)
    // A server of one's own may want none, and nobody is asked offline; these two answer nobody without.
    guard credential != nil || address != nil || flags.offline else {
      throw PosterError(
        .unauthorized,
        "\(kind.name) wants a credential: set \(kind.variables.joined(separator: " or ")), or try"
          + " --demo without one")
    }
    return Settings.Servers.API(address: address ?? standard, credential: credential)
  }

  private func credential(
    _ kind: Kind, environment: (String) -> String?
  ) throws(PosterError) -> Credential? {
    func parsed(_ text: String, from origin: String) throws(PosterError) -> Credential {
      do {
        return try kind.parse(text)
      } catch {
        throw PosterError(.unauthorized, "\(origin): \(error.message)")
      }
    }
    if let file = flags.tokenFile {
      guard let text = TokenFile.text(at: file) else {
        throw PosterError(.unauthorized, "the token file \(file) cannot be read")
      }
      return try parsed(text, from: file)
    }
    for name in kind.variables {
      if let text = environment(name), !text.isEmpty { return try parsed(text, from: name) }
    }
    return nil
  }
}
