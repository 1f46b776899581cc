import PosterCache
import TestSupport
import Testing

@testable import postercache

@Suite(.timeLimit(.minutes(1)))
struct ListSettingsTests {
  @Test(arguments: [
    ("trending,popular --media tv", "trending/tv/day tv/popular"),
    ("popular", "movie/popular tv/popular"), ("popular --media person", "person/popular"),
    ("top_rated", "movie/top_rated tv/top_rated"), ("top_rated --media movie", "movie/top_rated"),
    ("now_playing,upcoming --media movie", "movie/now_playing movie/upcoming"),
    ("on_the_air,airing_today", "tv/on_the_air tv/airing_today"),
    ("on_the_air --media tv", "tv/on_the_air"), ("similar --id 7", "movie/7/similar"),
    ("recommendations --media tv --id 7", "tv/7/recommendations"),
    ("related --media tv --id 7", "tv/7/similar tv/7/recommendations"),
    ("recommendations,related --id 7", "movie/7/recommendations movie/7/similar"),
    ("search --query x", "search/multi"), ("search --query x --media person", "search/person"),
    ("discover --filter with_genres=18", "discover/movie discover/tv"),
    ("discover --media movie", "discover/movie"), ("list --id 8136", "list/8136"),
    ("spotify-featured", "spotify-featured"), ("spotify-new-releases", "spotify-new-releases"),
    ("spotify-recommendations --filter seed_genres=pop", "spotify-recommendations"),
    ("feed", "feed"), ("urls --from x.txt", "urls"),
    (
      "related,feed,spotify-featured --id 1",
      "movie/1/similar movie/1/recommendations feed spotify-featured"
    ),
  ])
  func `every name stands for its lists`(options: String, labels: String) throws {
    let listing = try listing("\(options) --demo")
    #expect(listing.lists.map(\.label).joined(separator: " ") == labels)
    #expect(listing.source == .demo && listing.pageLimit == 1)
  }

  @Test func `what is said about lists arrives`() throws {
    let some = try listing(
      "discover,search --query x --filter a=1 --filter b=2 --region KR --backdrops --profiles"
        + " --strict --pages 3 --limit 9 --size w1280 --language ko-KR --demo")
    let filters = try [QueryFilter("a=1"), QueryFilter("b=2")]
    #expect(
      some.lists == [
        .tmdb(.discover(media: .movie, filters: filters)),
        .tmdb(.discover(media: .tv, filters: filters)), .tmdb(.search(media: .all, query: "x")),
      ])
    #expect(some.region == "KR" && some.language == "ko-KR" && some.isStrict)
    #expect(some.pictures == .init(titles: .backdrop, includesPeople: true))
    #expect(some.pageLimit == 3 && some.posterLimit == 9)
    #expect(some.size.rawValue == "w1280" && some.isSizeChosen && !some.wantsConfiguration)
    #expect(try listing("urls --from -").lists == [.urls(.standardInput)])
    #expect(try listing("urls --from a/b").lists == [.urls(.file("a/b"))])
    let address = try PosterAddress("https://h.test/u")
    #expect(try listing("feed --from https://h.test/u").lists == [.feed(.address(address))])
    #expect(
      try listing("feed --demo").lists
        == [.feed(.address(try PosterAddress("http://demo.test/feeds/mixed.json")))])
  }

  @Test(arguments: [
    ("trending,trending", "names trending twice"),
    ("trending,", "--list has an empty name in trending,: write"),
    (",a", "--list has an empty name in ,a: write names with a comma between two of them"),
    ("trending,populer", "did you mean popular?"), ("now_playing --media tv", "all, movie, not tv"),
    ("upcoming --media tv", "upcoming takes --media all, movie"),
    ("airing_today --media movie", "all, tv, not movie"),
    ("top_rated --media person", "not person"),
    ("similar --media all --id 1", "movie, tv, not all"),
    ("similar", "--id N"), ("related --id x", "--id takes a number from 1"), ("list", "--id N"),
    ("search", "--query WORDS"), ("search --query=", "--query WORDS"),
    ("discover --filter nonsense", "--filter: "), ("discover --filter api_key=x", "--filter: "),
    ("trending --query x", "--query is an option of search, not of trending"),
    ("trending,popular --id 3", "not of trending, popular"),
    ("popular --window week", "--window is an option of trending, not of popular"),
    ("feed --from x --language ko", "--language is an option of"),
    ("urls --from x --api http://a.test", "--api is an option of"),
    ("urls --from x --token-file t", "--token-file is an option of"),
    ("urls --from x --pages 2", "--pages is an option of"),
    ("feed --from x --backdrops", "--backdrops is an option of"),
    ("spotify-featured --region KR", "--region is an option of"),
    ("spotify-featured --images http://h.test", "--images is an option of"),
    ("trending --from x", "--from is an option of feed, urls, not of trending"),
    ("feed", "feed needs a source: --from FILE|URL|-"), ("urls --from=", "--from"),
    ("urls --from ftp://h.test/x", "http"), ("feed,urls --from -", "by one list only"),
    ("discover,spotify-featured --filter a=1", "use two commands"),
    ("trending,spotify-featured --api http://a.test", "use two commands"),
    ("trending,spotify-featured --token-file t", "use two commands"),
    (
      "trending --size w1280 --images http://h.test",
      "w92, w154, w185, w342, w500, w780, original, not"
    ),
    ("trending --size w1280", "--size takes w92"),
    ("trending --size large --demo", "--size takes w92"),
    ("trending --backdrops --size w342", "w300, w780, w1280, original, not w342"),
    ("urls --from x --size w300", "--size takes w92"),
    ("spotify-featured --size banana --demo", "--size takes w or h and a number from 1 to 99999"),
    ("feed --from x --size=", "or original, not an empty word"),
    ("feed --from x --size orignal", "did you mean original?"),
    ("trending --size w999 --images http://h.test", "not w999; did you mean w780?"),
    ("trending --media=", "not an empty word"),
    ("trending --api http://h.test/ok?x=1", "--api takes an address that paths can be appended to"),
    ("trending --api http://h.test/ok?key=5ec2e7", "not http://h.test/ok?key=…"),
    ("trending --api http://h.test/ok#x", "without ? and #"),
    ("trending --api ftp://h.test/ok", "--api: "),
    ("urls --from x --images http://h.test/t/p/?", "--images takes an address"),
  ])
  func `what a list does not take is told`(options: String, expected: String) throws {
    let error = try #require(throws: PosterError.self) { try listing(options) }
    #expect(CommandStatus(error) == .usage, "\(error)")
    #expect(error.message.contains(expected), "\(error.message)")
    #expect(!error.message.contains("\n"))
  }

  @Test func `each API has a credential of its own, and other sources none`() throws {
    let key = "0123456789abcdef0123456789abcdef"
    let both = try listing(
      "trending,spotify-featured", ["TMDB_API_KEY": key, "SPOTIFY_TOKEN": "BQDa-_token"])
    #expect(
      both.source
        == .servers(
          Settings.Servers(
            tmdb: .init(address: .tmdbAPI, credential: .apiKey(key)),
            spotify: .init(address: .spotifyAPI, credential: .bearerToken("BQDa-_token")))))
    for (options, environment, expected) in [
      ("trending,spotify-featured", ["TMDB_API_KEY": key], "SPOTIFY_TOKEN"),
      ("spotify-featured", ["TMDB_API_KEY": key], "Spotify wants a credential"),
      ("trending", ["SPOTIFY_TOKEN": "x"], "TMDB_TOKEN or TMDB_API_KEY"),
    ] {
      let error = try #require(throws: PosterError.self) { try listing(options, environment) }
      #expect(CommandStatus(error) == .refused && error.message.contains(expected))
    }
    #expect(try listing("feed --from x").source == .servers(Settings.Servers()))
    let own = try PosterAddress("http://own.test/v1")
    #expect(
      try listing("spotify-featured --api http://own.test/v1").source
        == .servers(Settings.Servers(spotify: .init(address: own, credential: nil))))
    // Nobody is asked offline.
    #expect(
      try listing("trending --offline").source == .servers(Settings.Servers()))
  }

  @Test func `the API is asked for sizes only where the built-in ones will not do`() throws {
    let key = ["TMDB_API_KEY": "0123456789abcdef0123456789abcdef"]
    #expect(try !listing("trending", key).wantsConfiguration)
    #expect(try !listing("trending --size w780 --profiles", key).wantsConfiguration)
    #expect(try !listing("trending --size w45 --profiles", key).wantsConfiguration)
    #expect(try listing("trending --size w1000", key).wantsConfiguration)
    #expect(try listing("trending --size w1000 --demo").wantsConfiguration)
    #expect(try !listing("trending --demo").wantsConfiguration)
    #expect(try listing("trending --api http://a.test/3").wantsConfiguration)
    #expect(try !listing("trending --api https://api.themoviedb.org/3/", key).wantsConfiguration)
    #expect(
      try !listing("trending --api http://a.test/3 --images http://i.test").wantsConfiguration)
    // Of these any width is the least that is wanted.
    #expect(try !listing("spotify-featured --size w301 --demo").wantsConfiguration)
  }

  @Test func `a list's name in records is made of what decides on its contents`() throws {
    func identity(_ options: String) throws -> String {
      let listing = try listing("\(options) --demo")
      return listing.identity(of: listing.lists[0])
    }
    let plain = try identity("trending")
    #expect(try identity("trending,popular --pages 3 --limit 7 --strict") == plain)
    for other in [
      "trending --media tv", "trending --window week", "trending --size w92", "popular",
      "trending --language ko-KR", "trending --backdrops", "trending --profiles",
    ] { #expect(try identity(other) != plain) }
    #expect(
      try identity("discover --filter a=1 --filter b=2")
        == identity("discover --filter b=2 --filter a=1"))
    #expect(try identity("discover --filter a=1") != identity("discover --filter a=2"))
    #expect(try identity("search --query a") != identity("search --query b"))
    #expect(try identity("popular --region KR") != identity("popular"))
    #expect(try identity("urls --from a.txt") != identity("urls --from b.txt"))
    #expect(try identity("urls --from /dev/../dev/null") == identity("urls --from /dev/null"))
    func own(_ options: String) throws -> String {
      let listing = try listing(options)
      return listing.identity(of: listing.lists[0])
    }
    let other = try own("trending --api http://a.test/ok --images http://i.test/p")
    #expect(other != plain)
    #expect(try own("trending --api http://a.test/ok/ --images http://i.test/p") == other)
    #expect(try own("trending --api http://A.test:80/ok// --images http://i.test/p/") == other)
    #expect(try own("trending --api http://a.test/OK --images http://i.test/p") != other)
    #expect(try own("trending --api http://a.test/ok --images http://i.test/q") != other)
    #expect(
      try own("spotify-featured --api http://a.test/v1/")
        == own("spotify-featured --api http://a.test/v1"))
    #expect(try own("trending --api http://a.test") == own("trending --api http://a.test/"))
  }

  // MARK: -

  private struct Unexpected: Error {}

  private func listing(
    _ options: String, _ environment: [String: String] = [:]
  ) throws -> Settings.Listing {
    let line = "warm --list \(options)".split(separator: " ").map(String.init)
    let settings = try Settings(FlagParser.parse(line), environment: { environment[$0] })
    guard case .warm(let warm) = settings.action else { throw Unexpected() }
    return warm.listing
  }
}
