import FoundationEssentials
import TestSupport
import Testing

/// The main job against a real server, with answers of the real API and real photographs.
@Suite(.timeLimit(.minutes(2)), .enabled(if: Corpus.isAvailable && NginxServer.isAvailable))
struct RecordedListTests {
  @Test(arguments: [
    ("all", "ceg__trending_all.json"), ("tv", "moviebase__trending_tv.json"),
    ("movie", "ceg__trending_movie.json"), ("person", "ceg__trending_person.json"),
  ])
  func `a recorded list is warmed to exactly its posters`(media: String, file: String) async throws
  {
    let answers = try JSONDecoder().decode(
      [String: Answer].self, from: Corpus.bytes("tmdb/answers.json"))
    let posters = try #require(answers[file]?.posters)
    let paths = posters.compactMap { $0 }
    let photographs = try photographs()
    let directory = TemporaryDirectory()
    let root = "\(directory.path)/root"
    try link("\(root)/3/trending/\(media)/day", to: Corpus.filePath("tmdb/\(file)"))
    for (path, photograph) in zip(paths, photographs) {
      try link("\(root)/t/p/w342\(path)", to: photograph)
    }
    let server = try NginxServer(root: root, directory: directory.path)
    let base = "http://127.0.0.1:\(server.port)"
    let cache = "\(directory.path)/cache"
    let arguments = [
      "warm", "--list", "trending", "--media", media, "--pages", "all", "--json",
      "--api", "\(base)/3", "--images", "\(base)/t/p/", "--cache-dir", cache,
    ]
    for isFirst in [true, false] {
      let result = await PosterCacheBinary.run(arguments)
      #expect(result.status == 0, "\(result.errors)")
      let report = try result.warmReport
      // The list claims 1,000 pages, but its second one repeats the first.
      #expect(report.pages == 2 && report.items == 2 * posters.count)
      #expect(report.posters == paths.count)
      #expect(report.skipped.noPath == posters.count - paths.count)
      #expect(report.skipped.duplicate == posters.count)
      #expect((report.fetched, report.hits) == (isFirst ? (paths.count, 0) : (0, paths.count)))
    }
    let listing = await PosterCacheBinary.run(["ls", "--json", "--cache-dir", cache])
    let urls = try listing.decoded(as: [Entry].self).map(\.url)
    #expect(Set(urls) == Set(paths.map { "\(base)/t/p/w342\($0)" }))
    #expect(urls.count == paths.count)
    #expect(await server.stop() == [])
    // The server is gone: these come from the cache.
    for (path, photograph) in zip(paths, photographs) {
      let picture = await PosterCacheBinary.run([
        "get", path, "--images", "\(base)/t/p", "--cache-dir", cache,
      ])
      let expected = [UInt8](try Data(contentsOf: URL(filePath: photograph)))
      #expect(picture.standardOutput == expected, "\(path)")
    }
  }

  private struct Answer: Decodable {
    var posters: [String?]?
  }

  private struct Entry: Decodable {
    var url: String
  }

  private func photographs() throws -> [String] {
    let directory = try Corpus.filePath("posters")
    return try FileManager.default.contentsOfDirectory(atPath: directory)
      .filter { $0.hasSuffix(".jpg") }.sorted().map { "\(directory)/\($0)" }
  }

  private func link(_ path: String, to target: String) throws {
    let parent = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    try FileManager.default.createDirectory(
      atPath: parent, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
  }
}
