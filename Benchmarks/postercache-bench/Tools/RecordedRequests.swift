import FoundationEssentials

/// A trace of requests that were really made, from a directory of such, with right answers.
struct RecordedRequests {
  let name: String
  /// What was asked for, in order: numbers below ``names``.
  let numbers: [Int32]
  /// How many different names were asked for.
  let names: Int
  /// The hits of an exact LRU.
  let answers: [Answer]

  struct Answer: Decodable {
    /// In names.
    let capacity: Int
    let hits: Int
  }

  /// What the file of answers has for each trace.
  private struct Answers: Decodable {
    let requests: Int
    let unique: Int
    let lru: [Answer]
  }

  /// The traces below `corpus`, by name.
  ///
  /// - Throws: where there are none, as a few words for a report.
  static func all(in corpus: String?) throws(BenchError) -> [RecordedRequests] {
    guard let corpus, let bytes = try? TextFile.read("\(corpus)/traces/lru_answers.json") else {
      throw BenchError("no corpus")
    }
    guard let xz = Command.find("xz") else { throw BenchError("xz is not installed") }
    guard let answers = try? JSONDecoder().decode([String: Answers].self, from: Data(bytes)) else {
      throw BenchError("the corpus' answers cannot be read")
    }
    var traces: [RecordedRequests] = []
    for (path, answers) in answers.sorted(by: { $0.key < $1.key }) {
      let file = "\(corpus)/traces/\(path).trace.xz"
      guard let bytes = try? Command(xz, ["-dc", file]).output() else {
        throw BenchError("\(path) cannot be unpacked")
      }
      var numbersByName: [UInt32: Int32] = [:]
      // Names are four bytes each, the most significant first.
      let numbers = stride(from: 0, to: bytes.count - 3, by: 4).map { start -> Int32 in
        let name = bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
        if let number = numbersByName[name] { return number }
        let number = Int32(numbersByName.count)
        numbersByName[name] = number
        return number
      }
      guard numbers.count == answers.requests, numbersByName.count == answers.unique else {
        throw BenchError("\(path) is not what its answers are for")
      }
      traces.append(
        RecordedRequests(
          name: String(path.split(separator: "/").last ?? ""), numbers: numbers,
          names: numbersByName.count, answers: answers.lru))
    }
    return traces
  }
}
