import Testing

@testable import PosterServer

@Suite(.timeLimit(.minutes(1)))
struct DemoMusicTests {
  private static let site = DemoSite(authority: "127.0.0.1:1", requiresCredential: true)

  /// What entries of Spotify's lists hold, counted as a client counts.
  private struct Tally {
    var entries = 0
    var faults = 0
    var repeats = 0
    var absent = 0
    var present = 0
    var pictures: Set<String> = []
    private var seen: Set<String> = []

    init(_ list: [AnswerTree]) throws {
      for entry in list {
        entries += 1
        guard case .members = entry else {
          faults += 1
          continue
        }
        guard seen.insert(try #require(entry["id"]?.text)).inserted else {
          repeats += 1
          continue
        }
        let images = entry["images"] ?? entry["album"]?["images"]
        guard let address = images?.elements.first?["url"]?.text else {
          absent += 1
          continue
        }
        present += 1
        pictures.insert(address)
      }
    }

    var numbers: [Int] { [entries, faults, repeats, absent, present, pictures.count] }
  }

  private static func entries(
    _ name: String, in section: String, limit: Int
  ) throws -> [AnswerTree] {
    var entries: [AnswerTree] = []
    var query: [String: String]? = ["limit": String(limit)]
    while let parameters = query {
      let answer = try site.tree(of: "/v1/browse/\(name)", parameters)
      let page = try #require(answer[section])
      entries += page["items"]?.elements ?? []
      query = page["next"]?.text.map { next in
        #expect(
          next == "http://demo.test/v1/browse/\(name)?offset=\(entries.count)&limit=\(limit)")
        return ["limit": String(limit), "offset": String(entries.count)]
      }
    }
    return entries
  }

  @Test(arguments: [17, 50])
  func `playlists and albums are as many as is said of them, in pages of any size`(
    limit: Int
  ) throws {
    let playlists = try Self.entries("featured-playlists", in: "playlists", limit: limit)
    #expect(try Tally(playlists).numbers == [120, 3, 2, 9, 106, 106])
    #expect(try Tally(Array(playlists.prefix(50))).numbers == [50, 1, 0, 4, 45, 45])
    let albums = try Self.entries("new-releases", in: "albums", limit: limit)
    #expect(try Tally(albums).numbers == [100, 2, 1, 4, 93, 93])
    #expect(try Tally(Array(albums.prefix(50))).numbers == [50, 1, 0, 2, 47, 47])
  }

  @Test func `tracks have the pictures of their albums, two of them the same one`() throws {
    func tracks(_ limit: String?) throws -> [AnswerTree] {
      let parameters = limit.map { ["limit": $0] } ?? [:]
      return try Self.site.tree(of: "/v1/recommendations", parameters)["tracks"]?.elements ?? []
    }
    #expect(try Tally(tracks(nil)).numbers == [20, 1, 0, 3, 16, 15])
    #expect(try Tally(tracks("100")).numbers == [100, 5, 0, 15, 80, 75])
    #expect(try tracks("100")[17]["album"] == tracks("100")[18]["album"])
  }

  @Test func `pictures are absent in every way there is`() throws {
    let playlists = try Self.entries("featured-playlists", in: "playlists", limit: 50)
    for absence: AnswerTree? in [.list([]), .null, nil] {
      #expect(playlists.count { $0 != .null && $0["images"] == absence } == 3)
    }
    let tracks = try Self.site.tree(of: "/v1/recommendations")["tracks"]?.elements ?? []
    #expect(tracks[6]["album"] == .null && tracks[11]["album"] == nil)
    #expect(tracks[13]["album"]?["images"] == .list([]))
  }

  @Test func `widths are told, the widest first, or they are null`() throws {
    let playlists = try Self.entries("featured-playlists", in: "playlists", limit: 50)
    func widths(_ entry: AnswerTree) -> [AnswerTree] {
      entry["images"]?.elements.compactMap { $0["width"] } ?? []
    }
    #expect(widths(playlists[0]) == [.number(640), .number(300), .number(64)])
    #expect(widths(playlists[1]) == [.null])
  }

  @Test func `the pages of a section name each other`() throws {
    let page = try Self.site.tree(of: "/v1/browse/new-releases", ["offset": "50", "limit": "30"])
    let albums = try #require(page["albums"])
    #expect(albums["total"] == .number(100) && albums["offset"] == .number(50))
    #expect(albums["previous"]?.text?.hasSuffix("?offset=20&limit=30") == true)
    #expect(albums["next"]?.text?.hasSuffix("?offset=80&limit=30") == true)
    let behind = try Self.site.tree(of: "/v1/browse/new-releases", ["offset": "100"])["albums"]
    #expect(behind?["items"] == .list([]) && behind?["next"] == .null)
  }

  @Test(arguments: [
    ("browse/new-releases", ["limit": "0"]), ("browse/new-releases", ["limit": "51"]),
    ("browse/featured-playlists", ["offset": "-1"]), ("recommendations", ["limit": "101"]),
    ("recommendations", ["limit": "x"]),
  ])
  func `limits outside what is allowed are Spotify's 400`(
    path: String, parameters: [String: String]
  ) {
    let answer = Self.site.answer(to: "/v1/\(path)", parameters)
    #expect(answer.status == 400)
    #expect(
      String(decoding: answer.body.bytes, as: UTF8.self)
        == #"{"error":{"status":400,"message":"Invalid limit or offset"}}"#)
  }

  @Test func `a cover is square, in the size that its name tells`() throws {
    for (size, width) in [
      (DemoCover.Size.large, 640), (.medium, 300), (.small, 64), (.unsaid, 300),
    ] {
      let name = DemoCover.name(for: "album 3", size: size)
      let answer = Self.site.answer(to: "/image/\(name)", headers: [:])
      #expect(answer.status == 200 && answer.header("Content-Type") == "image/jpeg")
      let picture = try DecodedPicture(jpeg: answer.body.bytes)
      #expect(picture.width == width && picture.height == width)
    }
    let name = DemoCover.name(for: "album 3", size: .large)
    for other in ["", "0", String(name.dropLast()), name + "0", name.uppercased(), "x" + name] {
      #expect(Self.site.answer(to: "/image/\(other)").status == 404)
    }
    #expect(Self.site.answer(to: "/image/" + String(repeating: "0", count: 40)).status == 404)
  }
}
