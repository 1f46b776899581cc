import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct QueryFilterTests {
  @Test(arguments: [
    ("with_genres=18", "with_genres", "18", "with_genres=18"),
    ("vote_average.gte=7.5", "vote_average.gte", "7.5", "vote_average.gte=7.5"),
    ("with_genres=18,35|80", "with_genres", "18,35|80", "with_genres=18%2C35%7C80"),
    ("a=b=c", "a", "b=c", "a=b%3Dc"), ("a= b ", "a", " b ", "a=%20b%20"),
    ("Pages=1", "Pages", "1", "Pages=1"), ("x=%26", "x", "%26", "x=%2526"),
    ("x=1&page=2#y", "x", "1&page=2#y", "x=1%26page%3D2%23y"),
    ("x=1\r\nHost: h\u{0}", "x", "1\r\nHost: h\u{0}", "x=1%0D%0AHost%3A%20h%00"),
    ("with_keywords=기생충", "with_keywords", "기생충", "with_keywords=%EA%B8%B0%EC%83%9D%EC%B6%A9"),
    ("x==\u{301}", "x", "=\u{301}", "x=%3D%CC%81"),
  ])
  func `a filter is a name and a value, escaped where an address is made`(
    text: String, name: String, value: String, parameter: String
  ) throws {
    let filter = try QueryFilter(text)
    #expect(filter.name == name)
    #expect(filter.value == value)
    #expect(filter.parameter == parameter)
    #expect(filter.description == text)
    #expect(try filter == QueryFilter(text))
    // The address keeps it as it is.
    let address = try PosterAddress("http://h.test/?page=1&\(parameter)")
    #expect(address.canonical == "http://h.test/?page=1&\(parameter)")
  }

  @Test(arguments: [
    "", "x", "=", "=x", "x=", "a b=1", "a&b=1", "a%3D=1", "é=1", "a\n=1", "a-b=1", "a[]=1",
    String(repeating: "a", count: 65) + "=1",
  ])
  func `what is no pair is refused`(text: String) {
    let error = #expect(throws: PosterError.self) { try QueryFilter(text) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.contains("\n") == false)
  }

  @Test(arguments: [
    "api_key", "API_KEY", "page", "Page", "language", "access_token", "session_id",
    "guest_session_id", "request_token",
  ])
  func `what has its own setting and what is secret is no filter`(name: String) {
    let error = #expect(throws: PosterError.self) { try QueryFilter("\(name)=5ec2e7") }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.message.hasPrefix(name) == true)
    #expect(error?.description.contains("5ec2e7") == false)
  }
}
