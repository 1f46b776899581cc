import PosterCache

/// Reads which lists are wanted and how much of them.
extension FlagValues {
  /// The lists that are named, each once; `nil` without `--list`.
  func listNames() throws(PosterError) -> [ListName]? {
    guard let text = flags.list else { return nil }
    var names: [ListName] = []
    for part in try separated("list", text, example: "trending,popular") {
      // `choice` returns nothing only for nothing.
      guard let name: ListName = try choice("list", part) else { continue }
      guard !names.contains(name) else { throw FlagParser.usage("--list names \(part) twice") }
      names.append(name)
    }
    return names
  }

  /// The lists that are named, and how and where they are asked for; `nil` without `--list`.
  func listing(environment: (String) -> String?) throws(PosterError) -> Settings.Listing? {
    guard let names = try listNames() else { return nil }
    return try listing(
      of: selections(of: names), names: names, pageLimit: 1, environment: environment)
  }

  /// How much of `lists` is wanted, and where from.
  ///
  /// - Parameters:
  ///   - names: what they were called, which decides on the options that they take.
  ///   - pageLimit: pages unless `--pages` says how many.
  func listing(
    of lists: [ListSelection], names: [ListName], pageLimit: Int?,
    environment: (String) -> String?
  ) throws(PosterError) -> Settings.Listing {
    try checkOptions(of: names)
    let pages =
      flags.pages == "all" ? nil : try integer("pages", flags.pages, 1...500, or: "all")
    var listing = Settings.Listing(
      lists: lists, pageLimit: flags.pages == nil ? pageLimit : pages,
      posterLimit: try integer("limit", flags.limit, 1...Int.max), language: flags.language,
      region: flags.region,
      pictures: TMDBFeed.Pictures(
        titles: flags.backdrops ? .backdrop : .poster, includesPeople: flags.profiles),
      isStrict: flags.strict, source: .servers(Settings.Servers(images: try givenImageHost())))
    if let size = flags.size {
      guard let size = PosterSize(rawValue: size) else {
        let kinds = listing.sizedKinds
        guard !kinds.isEmpty else { throw FlagParser.noSize(size) }
        throw FlagParser.notOffered(size, among: ImageHost.tmdb.allSizes(of: kinds))
      }
      listing.size = size
      listing.isSizeChosen = true
    }
    let refusal = listing.refusal(on: .tmdb)
    do {
      listing.source = try source(for: names, environment: environment)
    } catch {
      // Nobody can be asked whether there is such a size without what the API wants.
      throw error.code == .unauthorized ? refusal ?? error : error
    }
    if let refusal, !listing.wantsConfiguration { throw refusal }
    return listing
  }

  /// What the names stand for, with the options that they take; each list once.
  func selections(of names: [ListName]) throws(PosterError) -> [ListSelection] {
    var lists: [ListSelection] = []
    for name in names {
      // `related` stands for two that may be named as well; one of which there are two waits for itself.
      for list in try selections(of: name) where !lists.contains(list) { lists.append(list) }
    }
    guard lists.count(where: \.readsStandardInput) <= 1 else {
      throw FlagParser.usage("--from - is read once, and so by one list only")
    }
    return lists
  }

  private func selections(of name: ListName) throws(PosterError) -> [ListSelection] {
    let lists: [TMDBList]
    switch name {
    case .trending:
      let window: TMDBList.Window = try choice("window", flags.window) ?? .day
      lists = [.trending(media: try media(of: name), window: window)]
    case .popular: lists = try eachMedia(of: name).map { .popular($0) }
    case .topRated: lists = try eachMedia(of: name).map { .topRated($0) }
    case .nowPlaying:
      _ = try media(of: name)
      lists = [.nowPlaying]
    case .upcoming:
      _ = try media(of: name)
      lists = [.upcoming]
    case .onTheAir:
      _ = try media(of: name)
      lists = [.onTheAir]
    case .airingToday:
      _ = try media(of: name)
      lists = [.airingToday]
    case .similar: lists = [.similar(media: try media(of: name), id: try title(of: name))]
    case .recommendations:
      lists = [.recommendations(media: try media(of: name), id: try title(of: name))]
    case .related:
      let (media, id) = (try media(of: name), try title(of: name))
      lists = [.similar(media: media, id: id), .recommendations(media: media, id: id)]
    case .search:
      guard let query = flags.query, !query.isEmpty else {
        throw FlagParser.usage("search needs words to look for: --query WORDS")
      }
      lists = [.search(media: try media(of: name), query: query)]
    case .discover:
      let filters = try filters()
      lists = try eachMedia(of: name).map { .discover(media: $0, filters: filters) }
    case .list:
      guard let id = flags.id, !id.isEmpty else {
        throw FlagParser.usage("list needs the list's number: --id N")
      }
      lists = [.list(id: id)]
    case .spotifyFeatured: return [.spotify(.featuredPlaylists, try filters())]
    case .spotifyNewReleases: return [.spotify(.newReleases, try filters())]
    case .spotifyRecommendations: return [.spotify(.recommendations, try filters())]
    case .feed: return [.feed(try document(of: name, demo: "http://demo.test/feeds/mixed.json"))]
    case .urls: return [.urls(try document(of: name, demo: "http://demo.test/feeds/urls.txt"))]
    }
    return lists.map(ListSelection.tmdb)
  }

  // MARK: - Options of lists

  /// Throws where an option means nothing to any of the lists, or cannot mean the same to all.
  private func checkOptions(of names: [ListName]) throws(PosterError) {
    for option in ListOption.allCases where isGiven(option) {
      guard !names.contains(where: { $0.options.contains(option) }) else { continue }
      let owners = ListName.allCases.filter { $0.options.contains(option) }
      throw FlagParser.usage(
        "--\(option.rawValue) is an option of \(owners.names), not of \(names.names)")
    }
    let origins = Set(names.filter { $0.options.contains(.filter) }.map(\.origin))
    guard flags.filters.isEmpty || origins.count == 1 else {
      throw FlagParser.usage(
        "--filter cannot be for TMDB's and Spotify's lists at once: use two commands")
    }
  }

  /// Whether the command line has it.
  func isGiven(_ option: ListOption) -> Bool {
    switch option {
    case .media: flags.media != nil
    case .window: flags.window != nil
    case .id: flags.id != nil
    case .query: flags.query != nil
    case .filter: !flags.filters.isEmpty
    case .language: flags.language != nil
    case .region: flags.region != nil
    case .backdrops: flags.backdrops
    case .profiles: flags.profiles
    case .from: flags.from != nil
    case .pages: flags.pages != nil
    case .images: flags.images != nil
    case .api: flags.api != nil
    case .tokenFile: flags.tokenFile != nil
    }
  }

  private func media(of name: ListName) throws(PosterError) -> TMDBList.Media {
    let media: TMDBList.Media? = try choice("media", flags.media)
    guard name.media.contains(media ?? name.media[0]) else {
      throw FlagParser.usage(
        "\(name.rawValue) takes --media \(name.media.names), not \(media?.rawValue ?? "")")
    }
    return media ?? name.media[0]
  }

  /// The kinds that have a list of this name each.
  private func eachMedia(of name: ListName) throws(PosterError) -> [TMDBList.Media] {
    let media = try media(of: name)
    return media == .all ? [.movie, .tv] : [media]
  }

  private func title(of name: ListName) throws(PosterError) -> Int {
    guard let id = try integer("id", flags.id, 1...Int.max) else {
      throw FlagParser.usage("\(name.rawValue) is about a title: name it with --id N")
    }
    return id
  }

  private func filters() throws(PosterError) -> [QueryFilter] {
    try flags.filters.map { text throws(PosterError) in
      do throws(PosterError) {
        return try QueryFilter(text)
      } catch {
        throw FlagParser.usage("--filter: \(error.message)")
      }
    }
  }

  private func document(
    of name: ListName, demo: String
  ) throws(PosterError) -> DocumentSource {
    guard let text = flags.from ?? (flags.demo ? demo : nil) else {
      throw FlagParser.usage("\(name.rawValue) needs a source: --from FILE|URL|-")
    }
    do throws(PosterError) {
      return try DocumentSource(text)
    } catch {
      throw PosterError(error.code, "--from: \(error.message)")
    }
  }
}

extension ListSelection {
  /// Whether it is read from standard input.
  fileprivate var readsStandardInput: Bool {
    switch self {
    case .feed(.standardInput), .urls(.standardInput): true
    default: false
    }
  }
}

extension ImageHost {
  /// The sizes offered of any of these kinds, or of any kind at all if there is none; each once.
  func allSizes(of kinds: [ImageKind]) -> [PosterSize] {
    (kinds.isEmpty ? ImageKind.allCases : kinds).flatMap(sizes(of:)).reduce(into: []) {
      if !$0.contains($1) { $0.append($1) }
    }
  }
}
