import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct TMDBPageTests {
  @Test func `a page gives its counts and its entries in order`() throws {
    let page = try page(
      """
      {"page":2,"results":[
        {"id":11,"media_type":"movie","title":"Star Wars","poster_path":"/a.jpg"},
        {"id":22,"media_type":"tv","name":"Dark","poster_path":"/b.png"}
      ],"total_pages":1000,"total_results":20000}
      """)
    #expect(page.number == 2)
    #expect(page.totalPages == 1000)
    #expect(page.totalResults == 20_000)
    #expect(
      page.entries.map(\.item) == [
        .init(id: "11", mediaType: "movie", title: "Star Wars", posterPath: "/a.jpg"),
        .init(id: "22", mediaType: "tv", title: "Dark", posterPath: "/b.png"),
      ])
  }

  @Test func `the entries of a user's list are in items`() throws {
    let page = try page(#"{"id":"8","items":[{"id":3,"poster_path":"/x.jpg"}],"item_count":1}"#)
    #expect(page.entries == [.item(.init(id: "3", posterPath: "/x.jpg"))])
    #expect(page.number == nil && page.totalPages == nil && page.totalResults == 1)
  }

  @Test(arguments: [
    (#""/a.jpg""#, "/a.jpg"), (#""a.jpg""#, "/a.jpg"), (#""//a.jpg""#, "/a.jpg"),
    (#""paster path""#, "/paster path"), ("null", nil), (#""""#, nil), (#""/""#, nil),
    (#""null""#, nil), (#""/null""#, nil), ("17", nil), ("true", nil), (#"{"a":1}"#, nil),
    (#"["/a.jpg"]"#, nil),
  ])
  func `a picture's path gets one slash, or is none`(written: String, expected: String?) throws {
    let paths =
      #""poster_path":\#(written),"backdrop_path":\#(written),"profile_path":\#(written)"#
    let page = try page(#"{"results":[{"id":1,\#(paths),"known_for":[{\#(paths)}]}]}"#)
    let item = try #require(page.entries.first?.item)
    #expect(item.knownFor.count == 1)
    for item in [item] + item.knownFor {
      #expect(item.posterPath == expected)
      #expect(item.backdropPath == expected)
      #expect(item.profilePath == expected)
    }
  }

  @Test(arguments: [
    ("null", "null"), ("7", "a number"), (#""text""#, "a string"), ("[]", "a list"),
    ("[1,2]", "a list"), ("true", "true or false"), ("1e999", "a number"), ("-0", "a number"),
  ])
  func `an entry that is no object is named, and leaves the others alone`(
    odd: String, name: String
  ) throws {
    let page = try page(
      #"{"results":[{"id":1,"poster_path":"/a.jpg"},\#(odd),{"id":2,"poster_path":"/b.jpg"}]}"#)
    #expect(page.entries.map { $0.item?.posterPath } == ["/a.jpg", nil, "/b.jpg"])
    #expect(page.entries[1] == .odd(name))
  }

  @Test func `a person is known for titles, which are known for nothing`() throws {
    let page = try page(
      """
      {"results":[{"id":9,"name":"Who","profile_path":"/p.jpg","known_for":[
        {"id":1,"media_type":"movie","title":"A","poster_path":"/a.jpg","backdrop_path":"/b.jpg"},
        null, 7, [], "text",
        {"media_type":"tv","name":"B","poster_path":"c.jpg","known_for":[{"poster_path":"/d.jpg"}]},
        {}
      ]}]}
      """)
    let item = try #require(page.entries.first?.item)
    #expect(item.id == "9" && item.title == "Who" && item.profilePath == "/p.jpg")
    #expect(
      item.knownFor == [
        .init(
          id: "1", mediaType: "movie", title: "A", posterPath: "/a.jpg", backdropPath: "/b.jpg"),
        .init(mediaType: "tv", title: "B", posterPath: "/c.jpg"), .init(),
      ])
  }

  @Test(arguments: ["null", "{}", "7", #""Acting""#, "true"])
  func `what is no list of titles is nothing to be known for`(odd: String) throws {
    let page = try page(#"{"results":[{"id":9,"profile_path":"/p.jpg","known_for":\#(odd)}]}"#)
    #expect(page.entries == [.item(.init(id: "9", profilePath: "/p.jpg"))])
  }

  @Test(arguments: [
    (#""id":"57a814dc""#, "57a814dc"), (#""id":null"#, nil), (#""id":1.5"#, nil),
    (#""id":99999999999999999999999"#, nil), (#""id":1e400"#, nil), (#""id":[1]"#, nil),
    (#""other":1"#, nil), (#""id":-3"#, "-3"),
  ])
  func `an odd identifier costs only itself`(field: String, expected: String?) throws {
    let page = try page(
      #"{"results":[{\#(field),"media_type":7,"title":{},"name":"N","poster_path":"/a.jpg"}]}"#)
    #expect(page.entries == [.item(.init(id: expected, title: "N", posterPath: "/a.jpg"))])
  }

  @Test func `odd counts are counts that the page does not give`() throws {
    let page = try page(
      #"{"page":"1","results":[],"total_pages":null,"total_results":123456789012345678901234}"#)
    #expect(page.number == nil && page.totalPages == nil && page.totalResults == nil)
    #expect(page.entries.isEmpty)
  }

  @Test(arguments: [
    ("", "empty"), ("  \n", "empty"), ("<!DOCTYPE html><html>", "HTML"), (" \n<html>", "HTML"),
    (#"{"results":[{"id":1},"#, "broken or cut"), (#"{"results":"none"}"#, "without a list"),
    ("[]", "without a list"), (#"{"images":{}}"#, "without a list"), ("null", "no JSON"),
    ("Bad gateway", "no JSON"), ("\u{FFFD}\u{1}", "no JSON"),
  ])
  func `what is no page is told apart`(text: String, expected: String) throws {
    let error = try #require(throws: PosterError.self) { try page(text) }
    #expect(error.code == .malformedPage)
    #expect(error.message.contains(expected), "\(error.message)")
    #expect(!error.message.contains("\n"))
  }

  @Test func `nesting without end is malformed, not a crash`() throws {
    let text = String(repeating: #"{"results":["#, count: 100_000)
    let error = try #require(throws: PosterError.self) { try page(text) }
    #expect(error.code == .malformedPage)
  }

  @Test func `an error body is recognised, a page is none`() {
    let body = TMDBErrorBody(
      json: PosterBody(copying: #"{"status_code":7,"status_message":"No.","success":false}"#.utf8))
    #expect(body == TMDBErrorBody(code: 7, message: "No."))
    #expect(TMDBErrorBody(json: PosterBody(copying: #"{"results":[]}"#.utf8)) == nil)
    #expect(TMDBErrorBody(json: PosterBody(copying: "<html>".utf8)) == nil)
  }

  private func page(_ text: String) throws(PosterError) -> TMDBPage {
    try TMDBPage(json: PosterBody(copying: text.utf8))
  }
}
