/// A complete answer to a GET request, before anything is sent.
struct Answer {
  /// The status code.
  var status: Int
  /// The headers in the order in which they are sent; length and date are added by the server.
  var headers: [(name: String, value: String)]
  /// What the body lies in.
  var body: StableBytes
  /// The part of ``body`` that is sent.
  var range: Range<Int>

  /// An answer with all of `body`.
  init(status: Int, headers: [(name: String, value: String)], body: StableBytes) {
    self.status = status
    self.headers = headers
    self.body = body
    range = 0..<body.count
  }

  /// The value of the header `name`, upper and lower case being the same.
  func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// Replaces the header `name`, or removes it where `value` is `nil`.
  mutating func setHeader(_ name: String, to value: String?) {
    headers.removeAll { $0.name.lowercased() == name.lowercased() }
    if let value { headers.append((name, value)) }
  }

  /// This answer as a client gets it whose request has conditions or asks for a range: 304, 206,
  /// 416, or unchanged.
  ///
  /// Order and comparisons as in RFC 9110, sections 13.1, 13.2.2 and 14.
  ///
  /// - Parameter requestHeader: looks up a header of the request.
  func satisfying(_ requestHeader: (String) -> String?) -> Answer {
    guard status == 200 else { return self }
    if isUnchanged(requestHeader) {
      var answer = self
      answer.status = 304
      answer.range = 0..<0
      answer.setHeader("Content-Type", to: nil)
      return answer
    }
    guard header("Accept-Ranges") == "bytes", let text = requestHeader("Range"),
      let wanted = ByteRange(text, count: range.count)
    else { return self }
    if let condition = requestHeader("If-Range") {
      // Only a strong validator proves that the parts belong together.
      let validator = condition.hasPrefix("\"") ? header("ETag") : header("Last-Modified")
      guard condition == validator else { return self }
    }
    return switch wanted {
    case .part(let part): partial(part)
    case .unsatisfiable: unsatisfiable()
    }
  }

  /// 206 with `part` of the body, which must not be empty.
  func partial(_ part: Range<Int>) -> Answer {
    var answer = self
    answer.status = 206
    answer.range = part
    answer.setHeader(
      "Content-Range",
      to: "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(body.count)")
    return answer
  }

  /// 416, which says how long the body is.
  func unsatisfiable() -> Answer {
    var answer = self
    answer.status = 416
    answer.range = 0..<0
    answer.setHeader("Content-Type", to: nil)
    answer.setHeader("Content-Range", to: "bytes */\(body.count)")
    return answer
  }

  private func isUnchanged(_ requestHeader: (String) -> String?) -> Bool {
    if let condition = requestHeader("If-None-Match") {
      guard let etag = header("ETag") else { return false }
      func opaque(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
      return condition == "*"
        || condition.split(separator: ",").contains { tag in
          opaque(tag.drop { $0 == " " }) == opaque(etag[...])
        }
    }
    guard let text = requestHeader("If-Modified-Since"), let since = HTTPDate(text),
      let modified = header("Last-Modified").flatMap({ HTTPDate($0) })
    else { return false }
    return modified <= since
  }
}
