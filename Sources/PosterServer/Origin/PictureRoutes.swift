import PosterCache

/// The pictures that the demo origin has.
struct PictureRoutes: Sendable {
  private let cache: PictureCache

  /// - Parameter cache: what keeps drawn pictures.
  init(_ cache: PictureCache) {
    self.cache = cache
  }

  /// The routes, those of posters and the like first.
  var all: [DemoRoute] {
    [
      DemoRoute("/t/p/{size}/{name}", example: "/t/p/w342/one.jpg") { [cache] call in
        let name = call.parts[1]
        guard let size: PosterSize = call.value(0), DemoPoster.isName(name),
          Self.isOffered(size, of: DemoPoster.kind(ofName: name))
        else { return nil }
        return Self.answer(
          String(name), frame: PictureFrame(DemoPoster.kind(ofName: name), size: size), call, cache)
      },
      DemoRoute(
        "/image/{hex}", example: "/image/\(DemoCover.name(for: "playlist 0", size: .large))"
      ) { [cache] call in
        DemoCover.parts(of: call.parts[0]).map { cover in
          Self.answer(cover.stem, frame: PictureFrame(side: cover.size.width), call, cache)
        }
      },
    ]
  }

  /// Whether a size is to be had of a kind: TMDB's sizes, and those of posters for people, too.
  private static func isOffered(_ size: PosterSize, of kind: ImageKind) -> Bool {
    ImageHost.tmdb.sizes(of: kind).contains(size)
      || kind == .profile && ImageHost.tmdb.sizes(of: .poster).contains(size)
  }

  private static func answer(
    _ name: String, frame: PictureFrame, _ call: DemoRoute.Call, _ cache: PictureCache
  ) -> Answer {
    let shown = call.query.otherPicture.map { "other\($0)-\(name)" } ?? name
    let picture = cache.picture(name: shown, frame: frame)
    return Answer(
      status: 200,
      headers: [
        ("Content-Type", (name.hasSuffix(".png") ? ImageType.png : .jpeg).contentType),
        ("Cache-Control", "public, max-age=31536000"), ("ETag", picture.etag),
        ("Last-Modified", DemoSite.lastModified), ("Accept-Ranges", "bytes"),
      ], body: picture.bytes)
  }
}
