import PosterCache

/// The paths of TMDB's API that the demo origin answers.
///
/// Its lists may be kept for five minutes and its configuration for an hour, as the real one's.
enum TMDBRoutes {
  private typealias Media = DemoCatalogue.Media

  static let all: [DemoRoute] = [
    DemoRoute("/3/configuration", example: "/3/configuration") { call in
      .json(
        configuration(images: "http://\(call.host)/t/p/"), cacheControl: "public, max-age=3600")
    },
    list("/3/trending/{all|movie|tv|person}/{day|week}", example: "/3/trending/all/day") {
      call, page in
      guard let media: Media = call.value(0), let window: DemoCatalogue.Window = call.value(1)
      else { return nil }
      return DemoCatalogue.page(page, of: media, window: window, language: call.language)
    },
    list(
      "/3/movie/{popular|top_rated|now_playing|upcoming}", example: "/3/movie/popular"
    ) { call, page in
      DemoCharts.page(page, of: .movie, chart: call.parts[0], language: call.language)
    },
    list("/3/tv/{popular|top_rated|on_the_air|airing_today}", example: "/3/tv/top_rated") {
      call, page in
      DemoCharts.page(page, of: .tv, chart: call.parts[0], language: call.language)
    },
    list("/3/person/popular", example: "/3/person/popular") { call, page in
      DemoCharts.page(page, of: .person, chart: "popular", language: call.language)
    },
    list("/3/{movie|tv}/{id}/{similar|recommendations}", example: "/3/tv/1002/similar") {
      call, page in
      guard let media: Media = call.value(0), let identifier = Int(call.parts[1]),
        let relation: DemoCatalogue.Relation = call.value(2)
      else { return nil }
      return DemoCatalogue.relatedPage(
        page, relation, to: identifier, of: media, language: call.language)
    },
    list(
      "/3/search/{multi|movie|tv|person}", example: "/3/search/multi?query=lighthouse"
    ) { call, page in
      DemoSearch.page(
        page, of: call.value(0) ?? .all, query: call.query.parameter("query") ?? "",
        language: call.language)
    },
    list("/3/discover/{movie|tv}", example: "/3/discover/movie?with_genres=878") { call, page in
      guard let media: Media = call.value(0) else { return nil }
      return DemoSearch.page(
        page, of: media, genres: call.query.parameter("with_genres"), language: call.language)
    },
    list("/3/list/{id}", example: "/3/list/1") { call, page in
      DemoUserList(String(call.parts[0]))?.page(page, language: call.language)
    },
  ]

  /// A list with pages from 1 to 500, as TMDB has them.
  private static func list(
    _ path: String, example: String,
    page: @escaping @Sendable (DemoRoute.Call, _ page: Int) -> JSON?
  ) -> DemoRoute {
    DemoRoute(path, example: example) { call in
      guard let number = Int(call.query.parameter("page") ?? "1"), (1...500).contains(number) else {
        return DemoErrors.answer(400, path: call.query.path)
      }
      return page(call, number).map { .json($0, cacheControl: "public, max-age=300") }
    }
  }

  /// TMDB's `/configuration`.
  ///
  /// - Parameter images: the base address of the pictures.
  private static func configuration(images: String) -> JSON {
    func sizes(_ names: [String]) -> JSON { .array(names.map { .string($0) }) }
    func sizes(of kind: ImageKind) -> JSON { sizes(ImageHost.tmdb.sizes(of: kind).map(\.rawValue)) }
    return .object([
      (
        "images",
        .object([
          ("base_url", .string(images)), ("secure_base_url", .string(images)),
          ("backdrop_sizes", sizes(of: .backdrop)),
          ("logo_sizes", sizes(["w45", "w92", "w154", "w185", "w300", "w500", "original"])),
          ("poster_sizes", sizes(of: .poster)), ("profile_sizes", sizes(of: .profile)),
          ("still_sizes", sizes(["w92", "w185", "w300", "original"])),
        ])
      ), ("change_keys", .array(["images", "overview", "title"])),
    ])
  }
}
