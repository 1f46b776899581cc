import PosterCache

/// The paths of Spotify's API that the demo origin answers.
///
/// Its lists may be kept, but not used again without asking.
enum SpotifyRoutes {
  static let all: [DemoRoute] = [
    DemoRoute(
      "/v1/browse/{featured-playlists|new-releases}", example: "/v1/browse/featured-playlists"
    ) { call in
      guard let section: DemoMusic.Section = call.value(0) else { return nil }
      guard let limit = number("limit", of: call, default: 20, in: 1...50),
        let offset = number("offset", of: call, default: 0, in: 0...10_000)
      else { return DemoErrors.answer(400, path: call.query.path) }
      return answer(DemoMusic(host: call.host).page(of: section, limit: limit, offset: offset))
    },
    DemoRoute("/v1/recommendations", example: "/v1/recommendations") { call in
      guard let limit = number("limit", of: call, default: 20, in: 1...100) else {
        return DemoErrors.answer(400, path: call.query.path)
      }
      return answer(DemoMusic(host: call.host).recommendations(limit: limit))
    },
  ]

  private static func answer(_ json: JSON) -> Answer {
    .json(json, cacheControl: "private, max-age=0")
  }

  /// The number that a parameter gives; `nil` if it is none, or outside `range`.
  private static func number(
    _ name: String, of call: DemoRoute.Call, default standard: Int, in range: ClosedRange<Int>
  ) -> Int? {
    guard let text = call.query.parameter(name) else { return standard }
    return Int(text).flatMap { range.contains($0) ? $0 : nil }
  }
}
