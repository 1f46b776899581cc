import PosterCache

/// The feeds that the demo origin has besides APIs; they want no credential.
enum FeedRoutes {
  static let all: [DemoRoute] = [
    DemoRoute("/feeds/mixed.json", example: "/feeds/mixed.json") { call in
      feed(DemoFeeds(host: call.host).mixed.text, type: "application/json;charset=utf-8")
    },
    DemoRoute("/feeds/feed.json", example: "/feeds/feed.json") { call in
      let page = Int(call.query.parameter("page") ?? "1") ?? 0
      return DemoFeeds(host: call.host).jsonFeed(page: page)
        .map { feed($0.text, type: "application/feed+json") }
    },
    DemoRoute("/feeds/urls.txt", example: "/feeds/urls.txt") { call in
      feed(DemoFeeds(host: call.host).addresses, type: "text/plain; charset=utf-8")
    },
  ]

  private static func feed(_ text: String, type: String) -> Answer {
    let body = StableBytes(text)
    return Answer(
      status: 200,
      headers: [
        ("Content-Type", type), ("Cache-Control", "public, max-age=300"),
        ("ETag", "W/\(body.etag)"), ("Last-Modified", DemoSite.lastModified),
      ], body: body)
  }
}
