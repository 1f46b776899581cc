import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct RequestFieldsTests {
  private let fields = RequestFields(FetchConfiguration())
  private let other: RequestFields = {
    var configuration = FetchConfiguration()
    configuration.userAgent = "another/1"
    return RequestFields(configuration)
  }()

  @Test func `names are folded, sorted and kept once`() {
    #expect(fields.variant(vary: "User-Agent ,accept,, ACCEPT")?.fields == "accept,user-agent")
    #expect(fields.variant(vary: "Origin")?.fields == "origin")
    #expect(fields.variant(vary: nil) == nil)
    #expect(fields.variant(vary: " , ") == nil)
    #expect(fields.variant(vary: "Accept, *") == Variant(fields: "*", hash: 0))
  }

  @Test(arguments: ["Accept", "Accept-Encoding", "Origin, Cookie, X-Unheard-Of", "Host"])
  func `what is the same for all our requests always matches`(vary: String) {
    #expect(fields.match(fields.variant(vary: vary)))
    #expect(other.match(fields.variant(vary: vary)))
  }

  @Test(arguments: ["User-Agent", "Accept, User-Agent", "Cookie, User-Agent, X-Unheard-Of"])
  func `another value of a named field does not match`(vary: String) {
    #expect(fields.match(fields.variant(vary: vary)))
    #expect(!other.match(fields.variant(vary: vary)))
  }

  @Test func `nothing matches what was chosen by anything at all, and everything what was not`() {
    #expect(!fields.match(fields.variant(vary: "*")))
    #expect(fields.match(nil))
  }

  @Test func `usual and unusual choices are hashed alike`() {
    let usual = fields.variant(vary: "accept, user-agent")
    let unusual = fields.variant(vary: "accept, user-agent, x")
    #expect(usual?.hash != unusual?.hash)
    #expect(fields.variant(vary: "accept")?.hash != fields.variant(vary: "user-agent")?.hash)
  }
}
