import PosterCache
import Testing

@testable import PosterServer

@Suite(.timeLimit(.minutes(1)))
struct DemoListTests {
  private static let site = DemoSite(authority: "127.0.0.1:1", requiresCredential: true)

  @Test(arguments: [
    ("/3/trending/all/day", 1, [20, 0, 0, 1, 18, 18, 1]),
    ("/3/trending/all/day", 10, [200, 0, 3, 7, 187, 184, 3]),
    ("/3/movie/popular", 1, [20, 0, 0, 1, 19, 19, 0]),
    ("/3/movie/popular", 10, [200, 0, 3, 7, 190, 186, 0]),
    ("/3/movie/top_rated", 1, [20, 0, 0, 1, 19, 19, 0]),
    ("/3/movie/top_rated", 10, [200, 0, 3, 7, 190, 187, 0]),
    ("/3/movie/now_playing", 1, [20, 0, 0, 1, 19, 19, 0]),
    ("/3/movie/now_playing", 12, [240, 0, 3, 9, 228, 224, 0]),
    ("/3/movie/upcoming", 1, [20, 0, 0, 1, 19, 20, 0]),
    ("/3/movie/upcoming", 10, [200, 0, 3, 7, 190, 188, 0]),
    ("/3/tv/popular", 1, [20, 0, 0, 1, 19, 19, 0]),
    ("/3/tv/popular", 10, [200, 0, 3, 7, 190, 186, 0]),
    ("/3/tv/top_rated", 1, [20, 0, 0, 1, 19, 19, 0]),
    ("/3/tv/on_the_air", 1, [20, 0, 0, 1, 19, 19, 0]),
    ("/3/tv/airing_today", 1, [20, 0, 0, 1, 19, 20, 0]),
    ("/3/person/popular", 1, [20, 0, 0, 1, 0, 0, 19]),
    ("/3/person/popular", 10, [200, 0, 3, 7, 0, 0, 190]),
    ("/3/movie/1001/similar", 3, [60, 0, 0, 5, 55, 59, 0]),
    ("/3/movie/1001/recommendations", 3, [60, 0, 0, 4, 56, 53, 0]),
    ("/3/tv/1001/similar", 3, [60, 0, 0, 5, 55, 58, 0]),
    ("/3/tv/1001/recommendations", 3, [60, 0, 0, 8, 52, 52, 0]),
    ("/3/tv/1002/similar", 1, [20, 0, 0, 3, 17, 19, 0]),
    ("/3/tv/1002/recommendations", 1, [20, 0, 0, 1, 19, 20, 0]),
    ("/3/movie/1/similar", 1, [20, 0, 0, 1, 19, 20, 0]),
    ("/3/list/1", 1, [20, 0, 0, 2, 18, 20, 0]),
    ("/3/list/1", 2, [40, 1, 1, 4, 34, 36, 0]),
    ("/3/discover/movie", 1, [20, 0, 0, 1, 19, 19, 0]),
  ])
  func `lists have as many of everything as is said of them`(
    path: String, pages: Int, numbers: [Int]
  ) throws {
    let tally = try ListTally(Self.site, path, pages: pages)
    #expect(tally.numbers == numbers)
    let names = tally.posters.union(tally.backdrops).union(tally.people).union(tally.knownPosters)
    #expect(names.allSatisfy { DemoPoster.isName($0) })
    #expect(tally.backdrops.allSatisfy { DemoPoster.kind(ofName: $0) == .backdrop })
    #expect(tally.people.allSatisfy { DemoPoster.kind(ofName: $0) == .profile })
    #expect(tally.posters.allSatisfy { DemoPoster.kind(ofName: $0) == .poster })
    #expect(try Self.site.text(of: path) == Self.site.text(of: path))
  }

  @Test func `what is popular shares its posters with what is trending`() throws {
    let trending = try ListTally(Self.site, "/3/trending/all/day").posters
    let popular = try ListTally(Self.site, "/3/movie/popular").posters
      .union(ListTally(Self.site, "/3/tv/popular").posters)
    #expect(trending.count == 18 && popular.count == 38)
    #expect(trending.isSubset(of: popular))
  }

  @Test func `lists of one kind do not name it, and others do`() throws {
    func mediaTypes(_ path: String) throws -> Set<String?> {
      try ListTally(Self.site, path, ["query": "a"], pages: 2).mediaTypes
    }
    for path in [
      "movie/popular", "tv/airing_today", "person/popular", "search/movie", "search/person",
      "discover/tv", "movie/7/similar",
    ] {
      #expect(try mediaTypes("/3/" + path) == [nil], "\(path)")
    }
    #expect(try mediaTypes("/3/list/a9") == ["movie", "tv"])
    #expect(try mediaTypes("/3/movie/7/recommendations") == ["movie"])
    #expect(try mediaTypes("/3/search/multi") == ["movie", "tv", "person", "collection"])
    let dates = try Self.site.tree(of: "/3/movie/upcoming")["dates"]
    #expect(dates?["maximum"] == .text("2025-01-08"))
    #expect(try Self.site.tree(of: "/3/movie/popular")["dates"] == nil)
  }

  @Test func `people are known for titles with posters of their own`() throws {
    let tally = try ListTally(Self.site, "/3/person/popular")
    #expect(tally.known.count == 42 && Set(tally.known).count == 42)
    #expect(tally.knownPosters.count == 41)
    let people = try #require(try Self.site.tree(of: "/3/person/popular")["results"]).elements
    #expect(people.count { $0["known_for"] == .null } == 1)
    #expect(people.count { $0["known_for"] == nil } == 2)
    #expect(people.count { $0["known_for"] == .list([]) } == 3)
    let first = try ListTally(Self.site, "/3/trending/all/day")
    #expect(first.known.count == 3 && first.knownPosters.count == 3)
    let ten = try ListTally(Self.site, "/3/trending/all/day", pages: 10)
    #expect(ten.known.count == 6 && ten.knownPosters.count == 6)
  }

  @Test func `backdrops are null, empty, missing and the word null, like posters`() throws {
    let results = try (1...10).flatMap { page in
      try Self.site.tree(of: "/3/movie/popular", ["page": String(page)])["results"]?.elements ?? []
    }
    for name in ["poster_path", "backdrop_path"] {
      #expect(results.contains { $0[name] == .null })
      #expect(results.contains { $0[name] == nil })
      #expect(results.contains { $0[name] == .text("") })
      #expect(results.contains { $0[name] == .text("null") })
      #expect(results.contains { $0[name]?.text?.hasPrefix("//") == true })
    }
  }

  // MARK: Search and discover

  @Test(arguments: [
    ("multi", "lighthouse", 147, 20, 19), ("multi", "등대", 147, 20, 19),
    ("movie", "lighthouse", 74, 20, 20), ("movie", "LightHouse", 74, 20, 20),
    ("tv", "lighthouse", 73, 20, 18), ("multi", "golden lighthouse", 4, 4, 3),
    ("multi", "  lighthouse   Golden ", 4, 4, 3), ("person", "ada", 116, 20, 20),
    ("movie", "ada", 0, 0, 0), ("multi", "zzz", 0, 0, 0), ("multi", "", 0, 0, 0),
    ("multi", "lighthouse zzz", 0, 0, 0),
  ])
  func `a search finds what has all of its words`(
    kind: String, query: String, total: Int, count: Int, pictures: Int
  ) throws {
    let path = "/3/search/\(kind)"
    let answer = try Self.site.tree(of: path, ["query": query])
    #expect(answer["total_results"]?.number == total)
    #expect(answer["total_pages"]?.number == max(1, (total + 19) / 20))
    let tally = try ListTally(Self.site, path, ["query": query])
    #expect(tally.entries == count && tally.posters.count + tally.people.count == pictures)
    let english = query.contains("등대") ? "lighthouse" : query
    for result in answer["results"]?.elements ?? [] {
      let title = result["original_title"] ?? result["original_name"]
      let words = try #require(title?.text).lowercased()
      let isFound = english.lowercased().split(separator: " ").allSatisfy { words.contains($0) }
      #expect(isFound || result["media_type"] == .text("collection"))
    }
  }

  @Test func `without words a search finds nothing, and Korean answers are Korean`() throws {
    #expect(try Self.site.tree(of: "/3/search/tv")["results"] == .list([]))
    let answer = try Self.site.tree(
      of: "/3/search/movie", ["query": "lighthouse", "language": "ko-KR"])
    let titles = answer["results"]?.elements.compactMap { $0["title"]?.text } ?? []
    #expect(titles.count == 20 && titles.allSatisfy { $0.contains("등대") })
  }

  @Test(arguments: [
    ("movie", [:], 1_200), ("movie", ["with_genres": "878"], 317),
    ("movie", ["with_genres": "878", "sort_by": "popularity.desc", "year": "1999"], 317),
    ("movie", ["with_genres": "878|18"], 609), ("movie", ["with_genres": "878,18"], 0),
    ("movie", ["with_genres": "1"], 0), ("movie", ["with_genres": "x"], 0),
    ("movie", ["with_genres": ""], 1_200), ("tv", ["with_genres": "878"], 317),
  ])
  func `only genres narrow down what is discovered`(
    kind: String, parameters: [String: String], total: Int
  ) throws {
    let answer = try Self.site.tree(of: "/3/discover/\(kind)", parameters)
    #expect(answer["total_results"]?.number == total)
    let wanted = (parameters["with_genres"] ?? "").split(separator: "|").compactMap {
      Double($0).map { AnswerTree.list([.number($0)]) }
    }
    let genres = answer["results"]?.elements.compactMap { $0["genre_ids"] } ?? []
    #expect(genres.count == min(total, 20))
    #expect(wanted.isEmpty || genres.allSatisfy { wanted.contains($0) })
  }

  // MARK: Lists by somebody

  @Test func `a list by somebody has its entries in items, and is another one for each identifier`()
    throws
  {
    let list = try Self.site.tree(of: "/3/list/8a")
    #expect(list["results"] == nil && list["id"] == .text("8a"))
    #expect(list["item_count"]?.number == 40 && list["total_pages"]?.number == 2)
    let other = try Self.site.tree(of: "/3/list/8b")
    #expect(list["items"] != other["items"])
    #expect(try Self.site.tree(of: "/3/list/8a", ["page": "3"])["items"] == .list([]))
    for identifier in ["", "a-b", "a%2Fb", "é"] {
      #expect(Self.site.answer(to: "/3/list/\(identifier)").status == 404)
    }
  }

  @Test(arguments: ["1", "634", "8a", "zzz", "Abc123"])
  func `every list by somebody has the same numbers of everything`(identifier: String) throws {
    let tally = try ListTally(Self.site, "/3/list/\(identifier)", pages: 2)
    #expect(tally.numbers.prefix(5) == [40, 1, 1, 4, 34])
  }
}
