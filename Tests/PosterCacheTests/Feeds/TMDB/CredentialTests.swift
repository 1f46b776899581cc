import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct CredentialTests {
  @Test func `a token and a key are told apart by their shape`() throws {
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiJ4In0.c2lnbmF0dXJl-_"
    let key = "0123456789abcdefABCDEF0123456789"
    #expect(try Credential(tmdb: token) == .bearerToken(token))
    #expect(try Credential(tmdb: " \n\(token)\r\n") == .bearerToken(token))
    #expect(try Credential(tmdb: key) == .apiKey(key))
    #expect(try Credential(tmdb: "\(key)\n") == .apiKey(key))
  }

  @Test(arguments: [
    "", " \n", "secret-value", "0123456789abcdef0123456789abcde",
    "0123456789abcdef0123456789abcdefa", "0123456789abcdefg123456789abcdef",
    "eyJ with-space", "eyJabc\r\nX-Header: 1",
  ])
  func `anything else is refused without being shown`(text: String) throws {
    let error = try #require(throws: PosterError.self) { try Credential(tmdb: text) }
    #expect(error.code == .unauthorized)
    #expect(error.message.contains("eyJ") && error.message.contains("32 hexadecimal digits"))
    let secret = text.filter { !$0.isWhitespace }
    #expect(secret.isEmpty || !error.description.contains(secret))
  }

  @Test func `a credential does not print its value`() {
    #expect("\(Credential.apiKey("secret"))" == "API key")
    #expect(String(reflecting: Credential.bearerToken("secret")) == "bearer token")
  }
}
