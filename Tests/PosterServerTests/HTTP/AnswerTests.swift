import Testing

@testable import PosterServer

@Suite(.timeLimit(.minutes(1)))
struct AnswerTests {
  private static let answer = Answer(
    status: 200,
    headers: [
      ("Content-Type", "image/jpeg"), ("ETag", "\"abc\""), ("Accept-Ranges", "bytes"),
      ("Last-Modified", "Wed, 01 Jan 2025 00:00:00 GMT"),
    ], body: StableBytes(Array(repeating: 7, count: 100)))

  @Test(arguments: [
    (["If-None-Match": "\"abc\""], 304), (["If-None-Match": "\"x\", W/\"abc\""], 304),
    (["If-None-Match": "*"], 304), (["If-None-Match": "\"ab\""], 200),
    (["If-None-Match": ""], 200),
    (["If-Modified-Since": "Wed, 01 Jan 2025 00:00:00 GMT"], 304),
    (["If-Modified-Since": "Sun, 01 Mar 2026 10:00:00 GMT"], 304),
    (["If-Modified-Since": "Tue, 31 Dec 2024 23:59:59 GMT"], 200),
    (["If-Modified-Since": "yesterday"], 200),
    // The date counts only where no tag is given.
    (
      ["If-None-Match": "\"x\"", "If-Modified-Since": "Wed, 01 Jan 2025 00:00:00 GMT"], 200
    ),
    (["Range": "bytes=0-9", "If-None-Match": "\"abc\""], 304),
  ])
  func `conditions decide between 200 and 304`(headers: [String: String], status: Int) {
    let answer = Self.answer.satisfying { headers[$0] }
    #expect(answer.status == status)
    #expect(answer.range.count == (status == 304 ? 0 : 100))
    #expect(answer.header("etag") == "\"abc\"")
  }

  @Test(arguments: [
    ("bytes=0-9", 206, 0..<10, "bytes 0-9/100"), ("Bytes=5-5", 206, 5..<6, "bytes 5-5/100"),
    ("bytes=90-", 206, 90..<100, "bytes 90-99/100"),
    ("bytes=-5", 206, 95..<100, "bytes 95-99/100"), ("bytes=-500", 206, 0..<100, "bytes 0-99/100"),
    ("bytes=10-1000", 206, 10..<100, "bytes 10-99/100"), ("bytes=100-", 416, 0..<0, "bytes */100"),
    ("bytes=-0", 416, 0..<0, "bytes */100"), ("bytes=5-4", 200, 0..<100, nil),
    ("bytes=a-b", 200, 0..<100, nil), ("bytes=0-1,3-4", 200, 0..<100, nil),
    ("items=0-1", 200, 0..<100, nil), ("bytes=-", 200, 0..<100, nil),
  ])
  func `a range selects bytes`(
    header: String, status: Int, range: Range<Int>, contentRange: String?
  ) {
    let answer = Self.answer.satisfying { $0 == "Range" ? header : nil }
    #expect(answer.status == status)
    #expect(answer.range == range)
    #expect(answer.header("Content-Range") == contentRange)
  }

  @Test(arguments: [
    ("\"abc\"", 206), ("\"x\"", 200), ("W/\"abc\"", 200),
    ("Wed, 01 Jan 2025 00:00:00 GMT", 206), ("Tue, 31 Dec 2024 00:00:00 GMT", 200),
  ])
  func `a range with a condition needs the same strong validator`(condition: String, status: Int) {
    let headers = ["Range": "bytes=1-2", "If-Range": condition]
    #expect(Self.answer.satisfying { headers[$0] }.status == status)
  }

  @Test func `dates are compared by their moments`() throws {
    let texts = [
      "Sun, 31 Dec 1995 23:59:59 GMT", "Mon, 01 Jan 1996 00:00:00 GMT",
      "Thu, 01 Feb 1996 00:00:00 GMT", "Thu, 01 Feb 1996 00:00:01 GMT",
    ]
    let dates = try texts.map { try #require(HTTPDate($0)) }
    #expect(dates == dates.sorted())
    #expect(HTTPDate("Sunday, 06-Nov-94 08:49:37 GMT") == nil)
    #expect(HTTPDate("Sun, 06 Nov 1994 08:49:37 CET") == nil)
    #expect(HTTPDate("Sun, 06 Nov 1994 25:49:37 GMT") == nil)
  }
}
