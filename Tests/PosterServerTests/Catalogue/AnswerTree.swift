import FoundationEssentials
import Testing

@testable import PosterServer

/// Any JSON value, as a client decodes it.
enum AnswerTree: Decodable, Hashable {
  case null
  case bool(Bool)
  case number(Double)
  case text(String)
  case list([AnswerTree])
  case members([String: AnswerTree])

  init(_ bytes: [UInt8]) throws {
    self = try JSONDecoder().decode(AnswerTree.self, from: Data(bytes))
  }

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {  // one kind after the other
      self = .bool(bool)
    } else if let number = try? value.decode(Double.self) {  // one kind after the other
      self = .number(number)
    } else if let text = try? value.decode(String.self) {  // one kind after the other
      self = .text(text)
    } else if let list = try? value.decode([AnswerTree].self) {  // one kind after the other
      self = .list(list)
    } else {
      self = .members(try value.decode([String: AnswerTree].self))
    }
  }

  /// A member of an object; `nil` if there is none.
  subscript(name: String) -> AnswerTree? {
    if case .members(let members) = self { members[name] } else { nil }
  }

  /// The elements; none of what is no array.
  var elements: [AnswerTree] {
    if case .list(let elements) = self { elements } else { [] }
  }

  var text: String? {
    if case .text(let text) = self { text } else { nil }
  }

  var number: Int? {
    if case .number(let number) = self { Int(number) } else { nil }
  }
}

extension DemoSite {
  /// The answer to a GET request of a client that knows this server as `demo.test`.
  func answer(
    to path: String, _ parameters: [String: String] = [:],
    headers: [String: String] = ["Authorization": "Bearer x", "Host": "demo.test"]
  ) -> Answer {
    answer(
      Query(method: "GET", path: path, parameter: { parameters[$0] }, header: { headers[$0] }))
  }

  /// What it says, with status 200.
  func tree(of path: String, _ parameters: [String: String] = [:]) throws -> AnswerTree {
    let answer = answer(to: path, parameters)
    try #require(answer.status == 200, "\(path) \(parameters)")
    return try AnswerTree(answer.body.bytes)
  }

  /// The bytes of its text, with status 200.
  func text(of path: String) throws -> String {
    let answer = answer(to: path)
    try #require(answer.status == 200)
    return String(decoding: answer.body.bytes, as: UTF8.self)
  }
}

extension StableBytes {
  var bytes: [UInt8] { Array(pointer(to: 0..<count)) }
}
