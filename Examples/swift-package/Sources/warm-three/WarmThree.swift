import PosterCache
import PosterServer

/// Warms three posters, then shows that nobody has to wait for them any more.
///
///     swift run warm-three [CACHE-DIRECTORY]
@main
enum WarmThree {
  static func main() async throws {
    var configuration = PosterPipeline.Configuration()
    configuration.cacheDirectory = CommandLine.arguments.dropFirst().first ?? "posters"

    // A stand-in for TMDB's image host, so that the example needs neither network nor key. With the
    // real one these three lines go, and so does `images:` below.
    let origin = try DemoOrigin()
    configuration.fetching.connectTo = ["demo.test:80:127.0.0.1:\(origin.port)"]
    let images = try PosterAddress("http://demo.test/t/p/")

    let pipeline = try PosterPipeline(configuration)
    let requests = try ["/first.jpg", "/second.jpg", "/third.png"].map { path in
      try PosterRequest(path: path, size: .w342, images: images)
    }
    for request in requests {
      switch try await pipeline.warm(request) {
      case .hit: print("cached   \(request.address)")
      case .revalidated: print("checked  \(request.address)")
      case .fetched(let bytes): print("fetched  \(request.address)  \(bytes) bytes")
      }
    }
    for request in requests {
      let poster = try await pipeline.poster(for: request)
      print("\(poster.metadata.type.contentType) from \(poster.source)")
    }
    print("\(origin.requestCount(of: "/t/p/*")) requests")

    // Stores what is still on its way to the disk.
    await pipeline.shutdown()
    origin.shutdown()
  }
}
