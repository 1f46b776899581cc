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
