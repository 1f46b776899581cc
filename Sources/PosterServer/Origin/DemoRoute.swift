/// One kind of path that the demo origin answers.
struct DemoRoute: Sendable {
  /// What an answer depends on.
  struct Call {
    let query: DemoSite.Query
    /// Host and port by which the client knows this server, which need not be its address.
    let host: String
    /// What stands in the path in place of the parts in braces.
    let parts: [Substring]

    /// The language that results are to be in.
    var language: String? { query.parameter("language") }

    /// The value behind the part of the path at `index`, if it has one.
    func value<Value: RawRepresentable>(_ index: Int) -> Value? where Value.RawValue == String {
      Value(rawValue: String(parts[index]))
    }
  }

  /// The path, such as `/3/{movie|tv}/{id}/similar`: what stands in braces is one of several words, or,
  /// being one word, a name for any text without a slash.
  let path: String
  /// A path and query of this kind, for people to try.
  let example: String
  /// The answer; `nil` if there is nothing with this path after all.
  let answer: @Sendable (Call) -> Answer?
  private let segments: [Segment]

  private enum Segment {
    case word(Substring)
    case choice([Substring])
    case any
  }

  /// - Parameters:
  ///   - path: as it is documented.
  ///   - example: a path and query of this kind.
  ///   - answer: gives the answer.
  init(_ path: String, example: String, answer: @escaping @Sendable (Call) -> Answer?) {
    self.path = path
    self.example = example
    self.answer = answer
    segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map {
      guard $0.hasPrefix("{"), $0.hasSuffix("}") else { return .word($0) }
      let choices = $0.dropFirst().dropLast().split(separator: "|")
      return choices.count == 1 ? .any : .choice(choices)
    }
  }

  /// What stands in a path, split at its slashes, in place of the parts in braces; `nil` for a path of
  /// another kind.
  func parts(of path: [Substring]) -> [Substring]? {
    guard path.count == segments.count else { return nil }
    var parts: [Substring] = []
    for (segment, text) in zip(segments, path) {
      switch segment {
      case .word(let word):
        guard text == word else { return nil }
      case .choice(let choices):
        guard choices.contains(text) else { return nil }
        parts.append(text)
      case .any: parts.append(text)
      }
    }
    return parts
  }
}
