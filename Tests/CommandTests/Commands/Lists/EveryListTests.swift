import TestSupport
import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(2)))
struct EveryListTests {
  /// A list of the embedded origin, and what is on its first page.
  struct List: CustomTestStringConvertible, Sendable {
    var options: String
    var pages = 1
    var items: Int
    var posters: Int
    var noPath = 0
    var duplicate = 0
    var unsupported = 0
    var testDescription: String { options }
  }

  static let lists = [
    List(options: "trending", items: 20, posters: 18, noPath: 2),
    // One person, who is known for three titles.
    List(options: "trending --profiles", items: 20, posters: 22, noPath: 1),
    List(options: "popular", pages: 2, items: 40, posters: 38, noPath: 2),
    List(options: "popular --media person --profiles", items: 20, posters: 60, noPath: 1),
    List(options: "top_rated", pages: 2, items: 40, posters: 38, noPath: 2),
    List(options: "now_playing", items: 20, posters: 19, noPath: 1),
    List(options: "upcoming --backdrops", items: 20, posters: 20),
    List(options: "on_the_air", items: 20, posters: 19, noPath: 1),
    List(options: "airing_today --media tv", items: 20, posters: 19, noPath: 1),
    List(options: "similar --media tv --id 1002", items: 20, posters: 17, noPath: 3),
    List(options: "recommendations --media tv --id 1002", items: 20, posters: 19, noPath: 1),
    List(options: "related --media tv --id 1002", pages: 2, items: 40, posters: 36, noPath: 4),
    List(options: "search --query lighthouse", items: 20, posters: 19, noPath: 1),
    List(
      options: "discover --filter with_genres=878", pages: 2, items: 40, posters: 39, noPath: 1),
    List(options: "list --id 8136", items: 20, posters: 18, noPath: 2),
    List(options: "spotify-featured", items: 50, posters: 45, noPath: 4, unsupported: 1),
    List(options: "spotify-new-releases", items: 50, posters: 47, noPath: 2, unsupported: 1),
    List(
      options: "spotify-recommendations --filter seed_genres=pop", items: 100, posters: 75,
      noPath: 15, duplicate: 5, unsupported: 5),
    List(options: "feed", items: 60, posters: 26, noPath: 24, duplicate: 1, unsupported: 9),
    List(
      options: "feed --pages all --from http://demo.test/feeds/feed.json", pages: 3, items: 36,
      posters: 29, noPath: 4, duplicate: 1, unsupported: 2),
    List(options: "urls", items: 46, posters: 40, duplicate: 1, unsupported: 5),
  ]

  @Test(arguments: lists)
  func `every list is warmed from the embedded origin`(list: List) async throws {
    let directory = TemporaryDirectory()
    let result = await PosterCacheBinary.run(
      ["warm", "--demo", "--json", "--cache-dir", directory.path, "--list"]
        + list.options.split(separator: " ").map(String.init))
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.warmReport
    #expect(report.pages == list.pages && report.items == list.items)
    #expect(report.posters == list.posters && report.fetched == list.posters)
    #expect(
      report.skipped
        == .init(
          noPath: list.noPath, duplicate: list.duplicate, unsupported: list.unsupported))
    #expect(report.failures.isEmpty)
    #expect(report.lists.map(\.list).joined(separator: ",") == report.list)
    #expect(report.lists.reduce(0) { $0 + $1.items } == list.items)
    // Each of them is named by its place: ten of them to people, all of them to programs.
    #expect(report.faults.count == list.unsupported)
    #expect(Set(report.faults.map(\.place)).count == list.unsupported)
    #expect(result.errorLines.count == list.unsupported, "\(result.errors)")
  }

  @Test func `every name is among them`() {
    let tried = Set(Self.lists.map { $0.options.prefix { $0 != " " } })
    #expect(tried == Set(ListName.allCases.map { Substring($0.rawValue) }))
  }

  @Test func `a search tells kinds and identifiers, for people and for programs`() async throws {
    let place = try Workplace()
    defer { place.origin.shutdown() }
    let arguments = [
      "warm", "--list", "search", "--query", "golden lighthouse", "--cache-dir", place.cache,
      "--api", place.origin.api.canonical, "--images", place.origin.images.canonical,
    ]
    let environment = ["TMDB_API_KEY": Workplace.key]
    let json = await PosterCacheBinary.run(
      arguments + ["--json", "--dry-run"], environment: environment)
    let report = try json.warmReport
    let found = try #require(report.results)
    #expect(found.count == 4 && found[3].kind == "collection" && report.wouldFetch == 3)
    #expect(place.imageRequests == 0)
    let lines = await PosterCacheBinary.run(arguments, environment: environment)
    #expect(
      lines.output.hasPrefix(
        found.map { "\($0.kind)\t\($0.id ?? "")\t\($0.title ?? "")\n" }.joined()
          + "search/multi: 1 page, 4 items, 3 posters\n"))
    #expect(place.imageRequests == 3)
    // Identifier and kind are what related rows are asked for by.
    let first = try #require(found.first { $0.kind == "tv" })
    let related = await place.warm(
      "--list", "related", "--media", "tv", "--id", try #require(first.id), "--dry-run")
    #expect(related.status == 0)
  }

  @Test func `a server's words neither break lines nor command the terminal`() async throws {
    let page = #"{"results":[{"id":1,"media_type":"mo\tvie","title":"a\nb\u001b[2Jc\td"}]}"#
    let server = ScriptedServer { _ in [.response(body: Array(page.utf8))] }
    defer { server.stop() }
    let result = await PosterCacheBinary.run([
      "warm", "--list", "search", "--query", "x", "--dry-run", "--api", server.address("/3"),
      "--images", server.address("/t/p/"),
    ])
    #expect(result.output == "mo?vie\t1\ta?b?[2Jc?d\n")
  }

  @Test func `with --strict the first fault ends its list, and not the others`() async throws {
    let directory = TemporaryDirectory()
    let result = await PosterCacheBinary.run([
      "warm", "--demo", "--json", "--cache-dir", directory.path, "--strict", "--list",
      "urls,feed,trending",
    ])
    #expect(result.status == 1)
    let report = try result.warmReport
    #expect(report.lists.map(\.failedPages) == [1, 1, 0] && report.fetched == 18)
    #expect(report.failures.count == 2 && report.faults.isEmpty)
    // In the words in which faults are told.
    let (urls, feed) = ("http://demo.test/feeds/urls.txt", "http://demo.test/feeds/mixed.json")
    #expect(Set(report.failures.map(\.url)) == [urls, feed])
    #expect(
      report.failures.map { "postercache: \($0.error)" }.sorted() == result.errorLines.sorted())
    #expect(result.errorLines.contains { $0.hasPrefix("postercache: \(urls): line 8: not a") })
    #expect(result.errorLines.contains { $0.hasPrefix("postercache: \(feed): item 10: unknown") })
    #expect(result.errorLines.allSatisfy { !$0.hasSuffix(urls) && !$0.hasSuffix(feed) })
  }
}
