import FoundationEssentials
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct PosterMetadataMergingTests {
  private let stored: PosterMetadata
  private let fields = RequestFields(FetchConfiguration())
  private let start = Date(timeIntervalSince1970: 784_111_777)
  private let later = Date(timeIntervalSince1970: 784_111_777 + 5000)

  init() throws {
    var stored = PosterMetadata(
      address: try PosterAddress("http://images.test/a.jpg"), type: .png, etag: "W/\"one\"",
      lastModified: "Sun, 06 Nov 1994 07:00:00 GMT", storedAt: start, expiresAt: start + 600)
    stored.staleUse.whileRevalidatingSeconds = 30
    stored.variant = fields.variant(vary: "Accept")
    self.stored = stored
  }

  @Test func `without a word about it, what the picture came with counts anew`() throws {
    let merged = try #require(self.merged([]))
    #expect(merged.storedAt == later && merged.expiresAt == later + 600)
    #expect(merged.etag == stored.etag && merged.lastModified == stored.lastModified)
    #expect(merged.address == stored.address && merged.type == .png)
    #expect(merged.staleUse == stored.staleUse && merged.variant == stored.variant)
  }

  @Test func `what the 304 says replaces what was known`() throws {
    let merged = try #require(
      self.merged([
        "ETag: \"one\"", "Last-Modified: Sun, 06 Nov 1994 07:30:00 GMT",
        "Cache-Control: max-age=60, must-revalidate, stale-if-error=5", "Vary: User-Agent",
      ]))
    #expect(merged.expiresAt == later + 60)
    #expect(merged.etag == "\"one\"")
    #expect(merged.lastModified == "Sun, 06 Nov 1994 07:30:00 GMT")
    #expect(merged.staleUse.isForbidden && merged.staleUse.ifErrorSeconds == 5)
    #expect(merged.staleUse.whileRevalidatingSeconds == 0)
    #expect(merged.variant?.fields == "user-agent")
  }

  @Test func `an Expires alone makes it no fresher than what it came with`() {
    let date = "Date: Sun, 06 Nov 1994 10:12:57 GMT"
    #expect(
      merged([date, "Expires: Sun, 06 Nov 1994 10:13:07 GMT"])?.expiresAt == later + 10)
    #expect(
      merged([date, "Expires: Sun, 06 Nov 1994 12:13:07 GMT"])?.expiresAt == later + 600)
  }

  @Test(arguments: [("\"one\"", true), ("W/\"one\"", true), ("\"two\"", false), ("one", false)])
  func `entity tags are compared weakly`(etag: String, isSame: Bool) {
    #expect((merged(["ETag: \(etag)"]) != nil) == isSame)
  }

  @Test(arguments: [
    ("Sun, 06 Nov 1994 07:00:00 GMT", true), ("Sunday, 06-Nov-94 07:00:00 GMT", true),
    ("Sun, 06 Nov 1994 07:00:01 GMT", false), ("yesterday", false),
  ])
  func `without entity tags, dates of change are compared`(date: String, isSame: Bool) {
    #expect((merged(["Last-Modified: \(date)"]) != nil) == isSame)
  }

  private func merged(_ lines: [String]) -> PosterMetadata? {
    let headers = ResponseHeaders(lines: lines, status: 304)
    return stored.confirmed(
      by: headers, freshness: Freshness(headers, receivedAt: later), receivedAt: later,
      fields: fields)
  }
}
