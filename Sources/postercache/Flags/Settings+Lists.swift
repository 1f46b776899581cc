import PosterCache

extension Settings {
  /// The posters of lists.
  struct Listing: Sendable {
    /// The lists, at least one, in the order of the command line.
    var lists: [ListSelection]
    /// Pages to ask for of each, `nil` for all.
    var pageLimit: Int?
    /// Posters to ask for of each, `nil` for all.
    var posterLimit: Int?
    var language: String?
    var region: String?
    var pictures = TMDBFeed.Pictures.posters
    /// The first entry that cannot be understood ends its list.
    var isStrict = false
    var size = PosterSize.w342
    /// Whether somebody has asked for ``size``, which is then to be one that is offered.
    var isSizeChosen = false
    var source: Source
  }

  /// Which servers to use.
  enum Source: Sendable, Equatable {
    /// The embedded origin, started for this command.
    case demo
    case servers(Servers)

    /// The servers by name; those of ``demo`` are known before it is started.
    var servers: Servers {
      switch self {
      case .demo: .demo
      case .servers(let servers): servers
      }
    }
  }

  /// Servers, and what authorises requests to them.
  struct Servers: Sendable, Equatable {
    /// An API and what it wants.
    struct API: Sendable, Equatable {
      /// Its base address, its path included.
      var address: PosterAddress
      var credential: Credential?
    }

    var tmdb = API(address: .tmdbAPI)
    var spotify = API(address: .spotifyAPI)
    /// The image host, `nil` where none is named.
    var images: PosterAddress?

    /// The embedded origin under the name that stands for it; any key and token will do.
    static let demo = Servers(
      tmdb: API(address: demoAddress("3"), credential: .apiKey("demo")),
      spotify: API(address: demoAddress("v1"), credential: .bearerToken("demo")),
      images: demoAddress("t/p/"))

    private static func demoAddress(_ path: String) -> PosterAddress {
      try! PosterAddress("http://demo.test/\(path)")  // three constants, all of which parse
    }
  }
}

extension Settings.Listing {
  /// The kinds of pictures among which ``size`` has to be offered; none where any size will do.
  var sizedKinds: [ImageKind] {
    var kinds: [ImageKind] = []
    for list in lists {
      switch list {
      case .tmdb:
        kinds.append(pictures.titles)
        if pictures.includesPeople { kinds.append(.profile) }
      case .urls: kinds.append(.poster)
      // Addresses in widths of their own, of which the next larger one is taken.
      case .spotify, .feed: break
      }
    }
    return ImageKind.allCases.filter(kinds.contains)
  }

  /// Why ``size`` cannot be had from `host`; `nil` if it can.
  func refusal(on host: ImageHost) -> PosterError? {
    let kinds = sizedKinds
    guard isSizeChosen, !kinds.isEmpty else { return nil }
    let offered = host.allSizes(of: kinds)
    return offered.contains(size) ? nil : FlagParser.notOffered(size.rawValue, among: offered)
  }

  /// Whether the API is to be asked where pictures are and in which sizes: where nobody has said it, and
  /// the answer that is built in will not do, as the API is somebody's own or another size is wanted.
  ///
  /// So the ordinary run asks for nothing but its list.
  var wantsConfiguration: Bool {
    let servers = source.servers
    guard lists.contains(where: { $0.origin == .tmdb }) else { return false }
    if case .servers(let named) = source, named.images != nil { return false }
    return servers.tmdb.address.baseText != PosterAddress.tmdbAPI.baseText && source != .demo
      || refusal(on: ImageHost(servers.images ?? .tmdbImages)) != nil
  }
}

extension PosterAddress {
  /// What paths are appended to: slashes at the end change nothing.
  var baseText: String {
    var text = Substring(canonical)
    while text.hasSuffix("/") { text = text.dropLast() }
    return String(text)
  }
}
