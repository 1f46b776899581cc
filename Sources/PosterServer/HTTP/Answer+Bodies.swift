import PosterCache

extension Answer {
  /// JSON that is no page to keep: an error.
  static func json(_ status: Int, _ value: JSON) -> Answer {
    Answer(
      status: status, headers: [("Content-Type", "application/json;charset=utf-8")],
      body: StableBytes(value.text))
  }

  /// JSON with status 200 and a validator that follows from its bytes.
  ///
  /// - Parameter cacheControl: how long it may be kept, and by whom.
  static func json(_ value: JSON, cacheControl: String) -> Answer {
    var answer = json(200, value)
    answer.headers += [("Cache-Control", cacheControl), ("ETag", "W/\(answer.body.etag)")]
    return answer
  }

  /// A page of HTML with status 200.
  static func html(_ text: String) -> Answer {
    Answer(
      status: 200, headers: [("Content-Type", "text/html; charset=utf-8")], body: StableBytes(text))
  }

  /// A line of text.
  static func text(_ status: Int, _ line: String) -> Answer {
    Answer(
      status: status, headers: [("Content-Type", "text/plain; charset=utf-8")],
      body: StableBytes(line + "\n"))
  }
}
