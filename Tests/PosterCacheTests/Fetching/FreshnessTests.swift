import FoundationEssentials
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct FreshnessTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110's examples.
  private let received = Date(timeIntervalSince1970: 784_111_777)
  private let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT"

  @Test func `max-age counts from the moment of receiving`() {
    #expect(lifetime([date, "Cache-Control: public, max-age=3600"]) == 3600)
  }

  @Test func `an age that the response already had is taken off`() {
    #expect(lifetime([date, "Age: 600", "Cache-Control: max-age=3600"]) == 3000)
    #expect(
      lifetime(["Date: Sun, 06 Nov 1994 08:39:37 GMT", "Cache-Control: max-age=3600"]) == 3000)
    #expect(lifetime([date, "Age: 7200", "Cache-Control: max-age=3600"]) == 0)
  }

  @Test func `Expires counts from the server's own date`() {
    #expect(
      lifetime([
        "Date: Sun, 06 Nov 1994 09:49:37 GMT", "Expires: Sun, 06 Nov 1994 10:49:37 GMT",
      ]) == 3600)
    #expect(lifetime(["Expires: Sun, 06 Nov 1994 10:49:37 GMT"]) == 7200)
  }

  @Test(arguments: [
    "Sun, 06 Nov 1994 09:49:37 GMT", "Sunday, 06-Nov-94 09:49:37 GMT", "Sun Nov  6 09:49:37 1994",
  ])
  func `all three date formats are read`(expires: String) {
    #expect(lifetime(["Expires: \(expires)"]) == 3600)
  }

  @Test(arguments: ["0", "-1", "never", "", "Sun, 99 Foo 1994 99:99:99 GMT"])
  func `an Expires that cannot be read has passed`(expires: String) {
    #expect(lifetime([date, "Expires: \(expires)"]) == 0)
  }

  @Test func `max-age outweighs Expires`() {
    #expect(
      lifetime([date, "Expires: Sun, 06 Nov 1994 08:49:37 GMT", "Cache-Control: max-age=60"]) == 60)
  }

  @Test func `without any information a picture is fresh for 7 days`() {
    #expect(lifetime([]) == 7 * 86_400)
    #expect(lifetime([date, "Cache-Control: public"]) == 7 * 86_400)
  }

  @Test func `nothing is fresh for more than 180 days`() {
    #expect(lifetime([date, "Cache-Control: public, max-age=31536000"]) == 180 * 86_400)
    #expect(lifetime([date, "Cache-Control: max-age=99999999999999999999"]) == 180 * 86_400)
  }

  @Test func `no-cache has expired already but may be stored`() {
    let freshness = freshness([date, "Cache-Control: no-cache, max-age=60"])
    #expect(freshness.expiresAt == received)
    #expect(freshness.isStorable)
  }

  @Test func `no-store must not be stored`() {
    #expect(!freshness(["cache-control: max-age=60", "CACHE-CONTROL: No-Store"]).isStorable)
    #expect(freshness(["Cache-Control: extension=\"a, no-store\""]).isStorable)
  }

  @Test func `a max-age is a number, perhaps in quotes, and the first one counts`() {
    #expect(lifetime(["Cache-Control: max-age=\"60\""]) == 60)
    #expect(lifetime(["Cache-Control:max-age = 60 , max-age=90"]) == 60)
    #expect(lifetime(["Cache-Control: max-age=1h"]) == 0)
    #expect(lifetime(["Cache-Control: max-age"]) == 0)
    #expect(lifetime(["Cache-Control: max-age=-60"]) == 0)
  }

  @Test func `the headers of the last response count`() {
    let headers = headers(
      ["ETag: \"old\"", "Retry-After: 7"], then: ["ETag: W/\"new\"", "Content-Length: 12 "])
    #expect(headers.status == 200)
    #expect(headers.etag == "W/\"new\"")
    #expect(headers.contentLength == 12)
    #expect(headers.retryAfterSeconds(now: received) == nil)
    #expect(headers.lastModified == nil)
  }

  @Test func `a length does not count where a transfer coding does`() {
    #expect(
      headers(["Content-Length: 12", "Transfer-Encoding: chunked"]).contentLength == nil)
    #expect(headers(["Content-Length: twelve"]).contentLength == nil)
  }

  @Test func `Retry-After is a number of seconds or a date by the server's clock`() {
    #expect(headers(["Retry-After: 120"]).retryAfterSeconds(now: received) == 120)
    let later = "Retry-After: Sun, 06 Nov 1994 08:50:37 GMT"
    #expect(headers([later]).retryAfterSeconds(now: received) == 60)
    #expect(
      headers([later, "Date: Sun, 06 Nov 1994 08:50:07 GMT"]).retryAfterSeconds(now: received) == 30
    )
    #expect(headers([later]).retryAfterSeconds(now: received.addingTimeInterval(90)) == 0)
    #expect(headers(["Retry-After: soon"]).retryAfterSeconds(now: received) == nil)
  }

  // MARK: -

  @Test func `a folded line goes on with the one before it, kept or not`() {
    #expect(freshness([date, "Cache-Control: max-age=60,", " no-store"]).isStorable == false)
    #expect(freshness([date, "Cache-Control: max-age=60,", "X: y", "\tno-store"]).isStorable)
    #expect(lifetime([date, "X: y", " Cache-Control: max-age=60"]) == 7 * 86_400)
    #expect(lifetime(["Expires: Sun, 06 Nov 1994", "\t 09:49:37 GMT"]) == 3600)
    // Of several, the first counts, with all of its lines.
    #expect(lifetime([date, "Age: 60", "Age: 6", " 0", "Cache-Control: max-age=600"]) == 540)
    #expect(
      headers(["Vary: Accept", " , Origin", "Vary: Cookie"]).vary == "Accept , Origin,Cookie")
    #expect(headers(["ETag: \"1", "  2\""]).etag == "\"1 2\"")
  }

  @Test func `a quote that does not end hides nothing`() {
    #expect(!freshness([date, "Cache-Control: max-age=60, x=\"y, no-store"]).isStorable)
    #expect(freshness([date, "Cache-Control: max-age=60, x=\"y, no-store\""]).isStorable)
    #expect(lifetime([date, "Cache-Control: x=\"y\\\", max-age=60"]) == 60)
  }

  @Test func `a header too long to be read promises nothing`() {
    let long = String(repeating: "a", count: 20_000)
    let control = freshness([date, "Cache-Control: max-age=60, x=\"\(long)\", no-store"])
    #expect(!control.isStorable)
    #expect(!freshness([date, "Cache-Control: \(long)", " max-age=60"]).isStorable)
    #expect(headers(["Vary: \(long)"]).vary == "*")
    #expect(headers(["Vary: Accept", "Vary: \(long)"]).vary == "*")
    #expect(headers(["ETag: \"1\"", "ETag: \"\(long)\""]).etag == "\"1\"")
    let many = [String](repeating: "Cache-Control: max-age=60", count: 2000)
    #expect(!freshness(many + ["Cache-Control: no-store"]).isStorable)
    let full = "ETag: \"\(String(repeating: "e", count: 16_370))\""
    let coded = headers([full, "Transfer-Encoding: chunked", "Content-Length: 5"])
    #expect(coded.hasTransferEncoding && coded.contentLength == nil)
  }

  private func lifetime(_ lines: [String]) -> Double {
    freshness(lines).expiresAt.timeIntervalSince(received)
  }

  private func freshness(_ lines: [String]) -> Freshness {
    Freshness(headers(lines), receivedAt: received)
  }

  private func headers(_ lines: [String], then more: [String]? = nil) -> ResponseHeaders {
    var headers = ResponseHeaders()
    for block in [lines, more].compactMap({ $0 }) {
      for line in ["HTTP/1.1 200 OK"] + block + [""] {
        Array("\(line)\r\n".utf8).withUnsafeBytes { headers.append(line: $0) }
      }
    }
    return headers
  }
}
