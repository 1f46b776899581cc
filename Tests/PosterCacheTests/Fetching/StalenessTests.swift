import FoundationEssentials
import Testing

@testable import PosterCache

/// What ``Freshness`` says beyond lifetimes that a response states itself.
@Suite(.timeLimit(.minutes(1)))
struct StalenessTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110's examples.
  private let received = Date(timeIntervalSince1970: 784_111_777)

  /// A response, and what follows from it.
  struct Row: Sendable, CustomStringConvertible {
    var description: String
    var lines: [String]
    var delay = 0.0
    var lifetime: Double
    var whileRevalidating: UInt32 = 0
    var ifError: UInt32 = 30 * 86_400
    var isForbidden = false

    init(
      _ description: String, _ lines: [String], delay: Double = 0, lifetime: Double,
      whileRevalidating: UInt32 = 0, ifError: UInt32 = 30 * 86_400, isForbidden: Bool = false
    ) {
      self.description = description
      self.lines = lines
      self.delay = delay
      self.lifetime = lifetime
      self.whileRevalidating = whileRevalidating
      self.ifError = ifError
      self.isForbidden = isForbidden
    }
  }

  private static let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT"

  static let rows: [Row] = [
    Row(
      "RFC 5861, section 3.1", ["Cache-Control: max-age=600, stale-while-revalidate=30"],
      lifetime: 600, whileRevalidating: 30),
    Row(
      "RFC 5861, section 4.1", ["Cache-Control: max-age=600, stale-if-error=1200"], lifetime: 600,
      ifError: 1200),
    Row(
      "an explicit zero is no grace", ["Cache-Control: max-age=600, stale-if-error=0"],
      lifetime: 600, ifError: 0),
    Row(
      "both, quoted, in two headers",
      ["Cache-Control: stale-while-revalidate=\"60\"", "Cache-Control: max-age=\"5\""],
      lifetime: 5, whileRevalidating: 60),
    Row(
      "the first of two counts",
      [
        "Cache-Control: max-age=1, stale-while-revalidate=2, stale-while-revalidate=9, max-age=9",
        "Cache-Control: stale-if-error=3, stale-if-error=4",
      ], lifetime: 1, whileRevalidating: 2, ifError: 3),
    Row(
      "no number is zero", ["Cache-Control: max-age=9, stale-while-revalidate=soon"], lifetime: 9),
    Row(
      "a shared cache's lifetime is none of ours",
      ["Cache-Control: s-maxage=9, max-age=60, proxy-revalidate, public"], lifetime: 60),
    Row(
      "private is what we are", ["Cache-Control: private=\"set-cookie\", max-age=60"], lifetime: 60
    ),
    Row(
      "must-revalidate", ["Cache-Control: max-age=60, must-revalidate"], lifetime: 60,
      isForbidden: true),
    Row(
      "no-cache, whatever else", ["Cache-Control: max-age=60, no-cache"], lifetime: 0,
      isForbidden: true),
    Row(
      "no-cache with names", ["Cache-Control: no-cache=\"a, b\", max-age=60"], lifetime: 0,
      isForbidden: true),
    Row(
      "Pragma stands in for Cache-Control", ["Pragma: no-cache", "Expires: never"], lifetime: 0,
      isForbidden: true),
    Row(
      "Pragma does not count beside Cache-Control",
      ["Pragma: no-cache", "Cache-Control: max-age=60"], lifetime: 60),
    Row(
      "a tenth of the time since it was modified",
      [date, "Last-Modified: Sun, 06 Nov 1994 07:49:37 GMT"], lifetime: 360),
    Row(
      "a tenth, but not more than 7 days", [date, "Last-Modified: Mon, 06 Nov 1989 08:49:37 GMT"],
      lifetime: 7 * 86_400),
    Row(
      "modified after it was sent: never fresh",
      [date, "Last-Modified: Sun, 06 Nov 1994 09:49:37 GMT"], lifetime: 0),
    Row("no date: the usual lifetime", [date, "Last-Modified: yesterday"], lifetime: 7 * 86_400),
    Row(
      "immutable without a lifetime",
      [date, "Cache-Control: immutable", "Last-Modified: Sun, 06 Nov 1994 08:49:00 GMT"],
      lifetime: 7 * 86_400),
    Row("the usual lifetime has an age, too", [date, "Age: 86400"], lifetime: 6 * 86_400),
    Row(
      "the way here counts", [date, "Age: 10", "Cache-Control: max-age=60"], delay: 5, lifetime: 45),
    Row(
      "the larger of both ages",
      ["Date: Sun, 06 Nov 1994 08:49:17 GMT", "Cache-Control: max-age=60"],
      delay: 5, lifetime: 40),
    Row(
      "a Date in the future is no negative age",
      ["Date: Sun, 06 Nov 1994 09:49:37 GMT", "Cache-Control: max-age=60"], lifetime: 60),
    Row(
      "the first Age counts", ["Age: 10, 50", "Age: 0", "Cache-Control: max-age=60"], lifetime: 50),
    Row("an Age that is none", ["Age: -10", "Cache-Control: max-age=60"], lifetime: 60),
    Row(
      "the first Expires counts",
      [
        date, "Expires: Sun, 06 Nov 1994 08:50:37 GMT", "Expires: Sun, 06 Nov 1994 09:50:37 GMT",
      ], lifetime: 60),
    Row(
      "it expired on its way here",
      [
        date, "Age: 100", "Cache-Control: max-age=60, stale-while-revalidate=50, stale-if-error=30",
      ],
      lifetime: 0, whileRevalidating: 10, ifError: 0),
    Row(
      "half a year at most",
      ["Cache-Control: max-age=1, stale-while-revalidate=99999999999999999999"], lifetime: 1,
      whileRevalidating: 180 * 86_400),
  ]

  @Test(arguments: rows) func `what headers say holds`(row: Row) {
    let freshness = Freshness(headers(row.lines), receivedAt: received, delaySeconds: row.delay)
    #expect(freshness.expiresAt.timeIntervalSince(received) == row.lifetime)
    #expect(freshness.staleUse.whileRevalidatingSeconds == row.whileRevalidating)
    #expect(freshness.staleUse.ifErrorSeconds == row.ifError)
    #expect(freshness.staleUse.isForbidden == row.isForbidden)
    #expect(freshness.isStorable)
  }

  @Test func `no-store must not be stored, in whatever header and case`() {
    for lines in [
      ["Cache-Control: max-age=60", "cache-control: No-Store"],
      ["Cache-Control: x=\"\\\"\", no-store"],
      ["Cache-Control: private,no-store"],
    ] {
      #expect(!Freshness(headers(lines), receivedAt: received).isStorable)
    }
    for line in ["Cache-Control: x=\"no-store, \\\", no-store\"", "X-Cache-Control: no-store"] {
      #expect(Freshness(headers([line]), receivedAt: received).isStorable)
    }
  }

  @Test func `what is left to the cache can be set`() {
    var rules = CachingRules()
    rules.defaultLifetimeSeconds = 100
    rules.errorGraceSeconds = 7
    let plain = Freshness(headers([Self.date]), receivedAt: received, rules: rules)
    #expect(plain.expiresAt == received.addingTimeInterval(100))
    #expect(plain.staleUse.ifErrorSeconds == 7 && !plain.isStated)
    let old = headers([Self.date, "Last-Modified: Sun, 06 Nov 1994 07:49:37 GMT"])
    #expect(
      Freshness(old, receivedAt: received, rules: rules).expiresAt
        == received.addingTimeInterval(100))
    let paths: [WritableKeyPath<CachingRules, Double>] = [
      \.defaultLifetimeSeconds, \.errorGraceSeconds, \.notFoundSeconds, \.goneSeconds,
    ]
    for path in paths {
      for seconds: Double in [-1, Double.nan, 181 * 86_400] {
        var rules = CachingRules()
        rules[keyPath: path] = seconds
        let error = #expect(throws: PosterError.self) { try rules.validate() }
        #expect(error?.code == .invalidConfiguration)
      }
    }
  }

  private static let absences: [(Int, [String], Double)] = [
    (404, [], 3600), (410, [], 86_400), (403, [], 0), (500, [], 0), (200, [], 0),
    (404, ["Cache-Control: max-age=60"], 60), (404, ["Cache-Control: max-age=7200"], 7200),
    (404, ["Cache-Control: max-age=31536000"], 86_400), (404, ["Cache-Control: no-store"], 0),
    (404, ["Cache-Control: no-cache"], 0), (404, ["Cache-Control: public"], 3600),
    (404, ["Age: 50", "Cache-Control: max-age=60"], 10),
    (404, [date, "Expires: Sun, 06 Nov 1994 08:50:37 GMT"], 60), (404, [date, "Expires: 0"], 0),
    (404, ["Expires: Sun, 06 Nov 1994 08:50:37 GMT"], 3600),
  ]

  @Test(arguments: absences)
  func `an absence holds as long as its answer says, a day at most`(
    status: Int, lines: [String], seconds: Double
  ) {
    let stated = Freshness.statedLifetime(of: headers(lines))
    #expect(CachingRules().absenceSeconds(status: status, stated: stated) == seconds)
  }

  @Test func `an absence that is not to be remembered is not, whatever its answer says`() {
    var rules = CachingRules()
    rules.notFoundSeconds = 0
    #expect(rules.absenceSeconds(status: 404, stated: 60) == 0)
    #expect(rules.absenceSeconds(status: 410, stated: 60) == 60)
    rules.goneSeconds = 100 * 86_400
    #expect(rules.absenceSeconds(status: 410, stated: 99 * 86_400) == 99 * 86_400)
  }

  private func headers(_ lines: [String]) -> ResponseHeaders { ResponseHeaders(lines: lines) }
}

extension ResponseHeaders {
  /// The headers of an answer with these lines.
  init(lines: [String], status: Int = 200) {
    self.init()
    for line in ["HTTP/1.1 \(status) Whatever"] + lines + [""] {
      Array("\(line)\r\n".utf8).withUnsafeBytes { append(line: $0) }
    }
  }
}
