import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)), .enabled(if: Corpus.isAvailable))
struct TMDBCorpusTests {
  @Test func `every recorded answer decodes to its right answer`() throws {
    let answers = try Self.answers()
    #expect(answers.count >= 57)
    for (name, answer) in answers.sorted(by: { $0.key < $1.key }) {
      let body = PosterBody(copying: try Corpus.bytes("tmdb/\(name)"))
      if answer.kind == "page" {
        let page = try TMDBPage(json: body)
        #expect(page.number == answer.page, "\(name)")
        #expect(page.totalPages == answer.totalPages, "\(name)")
        #expect(page.totalResults == answer.totalResults, "\(name)")
        #expect(page.entries.map { $0.item?.id } == answer.ids?.map(\.text), "\(name)")
        #expect(page.entries.map { $0.item?.posterPath } == answer.normalizedPosters, "\(name)")
      } else {
        let error = #expect(throws: PosterError.self, "\(name)") { try TMDBPage(json: body) }
        #expect(error?.code == .malformedPage, "\(name)")
        #expect(TMDBErrorBody(json: body)?.code == answer.statusCode, "\(name)")
        #expect(TMDBErrorBody(json: body)?.message == answer.statusMessage, "\(name)")
      }
    }
  }

  /// The recorded pages are well-formed, so that a strict reading must find the same as the lenient one.
  @Test func `every recorded entry keeps its pictures, and people what they are known for`() throws
  {
    var figures = Figures()
    for (name, answer) in try Self.answers() where answer.kind == "page" {
      let bytes = try Corpus.bytes("tmdb/\(name)")
      let raw = try Self.decoder().decode(RecordedPage.self, from: bytes).entries
      let page = try TMDBPage(json: PosterBody(copying: bytes))
      #expect(page.entries.count == raw.count, "\(name)")
      for (entry, recorded) in zip(page.entries, raw) {
        #expect(entry == .item(recorded.item), "\(name)")
      }
      for pictures in [
        TMDBFeed.Pictures.posters, .init(titles: .backdrop), .init(includesPeople: true),
        .init(titles: .backdrop, includesPeople: true),
      ] {
        for kind in [FeedItem.Kind.person, .movie] {
          for (entry, recorded) in zip(page.entries.compactMap(\.item), raw) {
            let item = pictures.item(entry, listKind: kind)
            #expect(item == recorded.feedItem(pictures, kind), "\(name)")
          }
        }
      }
      figures.add(raw.map(\.item))
    }
    // Counted by another program.
    #expect(
      figures
        == Figures(
          entries: 592, posters: 415, backdrops: 382, profiles: 102, knownFor: 308,
          knownForPosters: 305, knownForBackdrops: 296))
  }

  @Test(arguments: [
    "adamayoung__api-configuration.json", "ceg__configuration.json",
    "moviebase__configuration.json",
    "vfalies__configurationOk.json",
  ])
  func `recorded configurations give TMDB's image host and its sizes`(name: String) throws {
    let host = try ImageHost(
      tmdbConfiguration: PosterBody(copying: try Corpus.bytes("tmdb/\(name)")))
    #expect(host.base.canonical == "https://image.tmdb.org/t/p/")
    #expect(
      host.sizes(of: .poster).map(\.rawValue)
        == ["w92", "w154", "w185", "w342", "w500", "w780", "original"])
    #expect(
      host.sizes(of: .backdrop).map(\.rawValue) == ["w300", "w780", "w1280", "original"])
    #expect(host.sizes(of: .profile).map(\.rawValue) == ["w45", "w185", "h632", "original"])
    // What is built in is what was recorded.
    #expect(host == .tmdb)
  }

  @Test func `no other recorded answer is a configuration`() throws {
    for name in try Self.answers().keys where !name.contains("onfiguration.") {
      guard !name.contains("configurationOk") else { continue }
      let body = PosterBody(copying: try Corpus.bytes("tmdb/\(name)"))
      let error = #expect(throws: PosterError.self, "\(name)") {
        try ImageHost(tmdbConfiguration: body)
      }
      #expect(error?.code == .malformedPage, "\(name)")
    }
  }

  @Test(arguments: [
    ("adamayoung__error-status-400.json", 400, PosterError.Code.status(400), "max at 500"),
    ("adamayoung__error-status-401.json", 401, .unauthorized, "Invalid API key"),
    ("adamayoung__error-status-422.json", 422, .status(422), "14 days"),
    ("adamayoung__error-status-response.json", 404, .status(404), "could not be found"),
    ("error_429.body.json", 429, .status(429), "limit of 40"),
  ])
  func `recorded errors are told as what they are`(
    name: String, status: Int, code: PosterError.Code, words: String
  ) async throws {
    let body = PosterBody(copying: try Corpus.bytes("tmdb/\(name)"))
    let load: FeedPage.Load = { _ throws(PosterError) in
      PageResponse(status: status, body: body)
    }
    var feed = try TMDBFeed(.nowPlaying, credential: .bearerToken("eyJ"), load: load)
    do {
      _ = try await feed.nextPage()
      Issue.record("an error was taken for a page")
    } catch {
      #expect(error.code == code)
      #expect(error.message.contains(words), "\(error.message)")
    }
    let error = await #expect(throws: PosterError.self) {
      _ = try await ImageHost.loaded(credential: .bearerToken("eyJ"), load: load)
    }
    #expect(error?.code == code)
  }

  /// What a feed makes of answers to the four requests, whoever recorded them.
  @Test(arguments: [
    ("ceg__movie_similar.json", TMDBList.similar(media: .movie, id: 550)),
    ("vfalies__movieSimilarOk.json", .similar(media: .movie, id: 550)),
    ("chiiya__movies_similar.json", .similar(media: .movie, id: 550)),
    ("ceg__movie_recommendations.json", .recommendations(media: .movie, id: 550)),
    ("chiiya__movies_recommendations.json", .recommendations(media: .movie, id: 550)),
    ("ceg__tv_similar.json", .similar(media: .tv, id: 1399)),
    ("vfalies__TVShowSimilarOK.json", .similar(media: .tv, id: 1399)),
    ("chiiya__shows_similar.json", .similar(media: .tv, id: 1399)),
    ("ceg__tv_recommendations.json", .recommendations(media: .tv, id: 1399)),
    ("chiiya__shows_recommendations.json", .recommendations(media: .tv, id: 1399)),
    ("moviebase__tv_recommendations.json", .recommendations(media: .tv, id: 1399)),
  ])
  func `recorded related titles become a page`(
    name: String, list: TMDBList
  ) async throws {
    let answer = try #require(try Self.answers()[name])
    let body = PosterBody(copying: try Corpus.bytes("tmdb/\(name)"))
    var feed = try TMDBFeed(list, credential: nil) { _ throws(PosterError) in
      PageResponse(status: 200, body: body)
    }
    let page = try #require(try await feed.nextPage())
    let posters = try #require(answer.normalizedPosters)
    #expect(page.items.map(\.posterPath) == posters)
    #expect(page.skipped.noPath == posters.count { $0 == nil })
    #expect(page.items.allSatisfy { $0.kind == list.kind })
    #expect(page.items.compactMap(\.id) == answer.ids?.map(\.text))
    #expect((feed.nextPageNumber == nil) == (answer.totalPages == 1))
  }

  private static func decoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
  }

  private static func answers() throws -> [String: Answer] {
    try decoder().decode([String: Answer].self, from: Corpus.bytes("tmdb/answers.json"))
  }

  /// How much the recorded pages hold.
  private struct Figures: Equatable {
    var entries = 0
    var posters = 0
    var backdrops = 0
    var profiles = 0
    var knownFor = 0
    var knownForPosters = 0
    var knownForBackdrops = 0

    mutating func add(_ items: [TMDBPage.Item]) {
      entries += items.count
      for item in items {
        if item.posterPath != nil { posters += 1 }
        if item.backdropPath != nil { backdrops += 1 }
        if item.profilePath != nil { profiles += 1 }
        knownFor += item.knownFor.count
        knownForPosters += item.knownFor.count { $0.posterPath != nil }
        knownForBackdrops += item.knownFor.count { $0.backdropPath != nil }
      }
    }
  }

  /// A recorded page by the letter: anything odd fails.
  private struct RecordedPage: Decodable {
    var results: [RecordedEntry]?
    var items: [RecordedEntry]?

    var entries: [RecordedEntry] { results ?? items ?? [] }
  }

  private struct RecordedEntry: Decodable {
    var id: Identifier
    var mediaType: String?
    var title: String?
    var name: String?
    var posterPath: String?
    var backdropPath: String?
    var profilePath: String?
    var knownFor: [RecordedEntry]?

    var item: TMDBPage.Item {
      TMDBPage.Item(
        id: id.text, mediaType: mediaType, title: title ?? name, posterPath: slashed(posterPath),
        backdropPath: slashed(backdropPath), profilePath: slashed(profilePath),
        knownFor: knownFor?.map(\.item) ?? [])
    }

    /// What a feed should make of it.
    func feedItem(_ pictures: TMDBFeed.Pictures, _ listKind: FeedItem.Kind) -> FeedItem {
      let kind = mediaType.map { FeedItem.Kind($0) } ?? listKind
      let artwork: Artwork? =
        if kind == .person, pictures.includesPeople {
          slashed(profilePath).map { .path($0, .profile) }
        } else if pictures.titles == .backdrop {
          slashed(backdropPath).map { .path($0, .backdrop) }
        } else {
          slashed(posterPath).map { .path($0, .poster) }
        }
      return FeedItem(
        id: id.text, kind: kind, title: title ?? name, artwork: artwork,
        knownFor: pictures.includesPeople
          ? knownFor?.map { $0.feedItem(pictures, .unknown("")) } ?? [] : [])
    }

    /// One of the recorded paths lacks its slash.
    private func slashed(_ path: String?) -> String? {
      path.map { $0.hasPrefix("/") ? $0 : "/\($0)" }
    }
  }

  private struct Answer: Decodable {
    var kind: String
    var page: Int?
    var totalPages: Int?
    var totalResults: Int?
    var ids: [Identifier]?
    var posters: [String?]?
    var statusCode: Int?
    var statusMessage: String?

    /// The paths as recorded, with the slash that one of them lacks.
    var normalizedPosters: [String?]? {
      posters?.map { path in path.map { $0.hasPrefix("/") ? $0 : "/\($0)" } }
    }
  }

  private struct Identifier: Decodable {
    var text: String

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      do {
        text = String(try container.decode(Int.self))
      } catch {
        text = try container.decode(String.self)
      }
    }
  }
}
