import FoundationEssentials
import TestSupport
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)), .enabled(if: Corpus.isAvailable))
struct TMDBCorpusTests {
  @Test func `every recorded answer decodes to its right answer`() throws {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let answers = try decoder.decode(
      [String: Answer].self, from: Corpus.bytes("tmdb/answers.json"))
    #expect(answers.count >= 57)
    for (name, answer) in answers.sorted(by: { $0.key < $1.key }) {
      let body = PosterBody(copying: try Corpus.bytes("tmdb/\(name)"))
      if answer.kind == "page" {
        let page = try TMDBPage(json: body)
        #expect(page.number == answer.page, "\(name)")
        #expect(page.totalPages == answer.totalPages, "\(name)")
        #expect(page.totalResults == answer.totalResults, "\(name)")
        #expect(page.items.map { $0?.id } == answer.ids?.map(\.text), "\(name)")
        #expect(page.items.map { $0?.posterPath } == answer.normalizedPosters, "\(name)")
      } else {
        let error = #expect(throws: PosterError.self, "\(name)") { try TMDBPage(json: body) }
        #expect(error?.code == .malformedPage, "\(name)")
        #expect(TMDBErrorBody(json: body)?.code == answer.statusCode, "\(name)")
        #expect(TMDBErrorBody(json: body)?.message == answer.statusMessage, "\(name)")
      }
    }
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
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let answers = try decoder.decode(
      [String: Answer].self, from: Corpus.bytes("tmdb/answers.json"))
    let answer = try #require(answers[name])
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
