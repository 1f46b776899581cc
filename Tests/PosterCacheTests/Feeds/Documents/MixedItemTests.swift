import FoundationEssentials
import Testing

@testable import PosterCache

@Suite(.timeLimit(.minutes(1)))
struct MixedItemTests {
  private func decode(_ json: String) throws -> MixedItem {
    try JSONDecoder().decode(MixedItem.self, from: Data(json.utf8))
  }

  /// Why `json` is no entry.
  private func flaw(_ json: String) -> String? {
    do {
      _ = try decode(json)
      return nil
    } catch DecodingError.dataCorrupted(let context) {
      return context.debugDescription
    } catch {
      return "\(error)"
    }
  }

  @Test func `each type has its payload`() throws {
    #expect(
      try decode(#"{"type":"TITLE_ONLY","id":7,"title":"A"}"#)
        == .titleOnly(.init(id: "7", title: "A")))
    #expect(
      try decode(#"{"type":"IMAGE_ONLY","id":"x","imageURL":"https://a.example/b.jpg"}"#)
        == .imageOnly(.init(id: "x", imageURL: .address(PosterAddress("https://a.example/b.jpg")))))
    #expect(
      try decode(
        #"{"type":"CONTENT_WITH_TITLE","title":"A","content":"B","imageURL":"/abc.jpg"}"#)
        == .contentWithTitle(
          .init(title: "A", content: "B", imageURL: .path("/abc.jpg", .poster))))
    #expect(
      try decode(#"{"type":"CONTENT_WITH_TITLE","title":"A","text":"B","imageURL":null}"#)
        == .contentWithTitle(.init(title: "A", content: "B")))
    #expect(
      try decode(#"{"type":"CONTENT_WITH_TITLE","title":"A","imageURL":""}"#)
        == .contentWithTitle(.init(title: "A")))
  }

  @Test(arguments: ["imageURL", "imageUrl", "image_url", "image"])
  func `the picture's member has several spellings`(name: String) throws {
    let item = try decode(#"{"type":"IMAGE_ONLY","\#(name)":" HTTP://A.example:80/b.jpg "}"#)
    #expect(
      item == .imageOnly(.init(imageURL: .address(try PosterAddress("http://a.example/b.jpg")))))
  }

  @Test func `a list shows title and picture, and the type as its kind`() throws {
    let items = try [
      #"{"type":"TITLE_ONLY","id":"1","title":"A","imageURL":"/not-of-this-type.jpg"}"#,
      #"{"type":"IMAGE_ONLY","id":"2","imageURL":"/a.jpg"}"#,
      #"{"type":"CONTENT_WITH_TITLE","id":"3","title":"B","content":"C","image":"/b.jpg"}"#,
    ].map { try decode($0).feedItem }
    #expect(
      items == [
        FeedItem(id: "1", kind: .unknown("TITLE_ONLY"), title: "A", artwork: nil),
        FeedItem(id: "2", kind: .unknown("IMAGE_ONLY"), artwork: .path("/a.jpg", .poster)),
        FeedItem(
          id: "3", kind: .unknown("CONTENT_WITH_TITLE"), title: "B",
          artwork: .path("/b.jpg", .poster)),
      ])
  }

  @Test(arguments: [
    ("[]", "no JSON object"), ("7", "no JSON object"), (#""TITLE_ONLY""#, "no JSON object"),
    ("{}", "no type"), (#"{"type":null}"#, "no type"), (#"{"type":7}"#, "its type is no text"),
    (#"{"type":"VIDEO","title":"A"}"#, "unknown type VIDEO"),
    (#"{"type":"title_only","title":"A"}"#, "unknown type title_only"),
    (#"{"type":"TITLE_ONLY"}"#, "no title"),
    (#"{"type":"TITLE_ONLY","title":null}"#, "no title"),
    (#"{"type":"TITLE_ONLY","title":["A"]}"#, "its title is no text"),
    (#"{"type":"TITLE_ONLY","title":"A","id":{}}"#, "its id is neither a text nor a whole number"),
    (#"{"type":"IMAGE_ONLY"}"#, "no imageURL"),
    (#"{"type":"IMAGE_ONLY","image":null}"#, "no imageURL"),
    (#"{"type":"IMAGE_ONLY","image_url":{"url":"/a.jpg"}}"#, "its image_url is no text"),
    (
      #"{"type":"CONTENT_WITH_TITLE","title":"A","content":7}"#, "its content is no text"
    ),
    (#"{"type":"CONTENT_WITH_TITLE","content":"A"}"#, "no title"),
    (
      #"{"type":"IMAGE_ONLY","imageURL":"ftp://a.example/b.jpg"}"#,
      "its picture is not a usable address, scheme ftp instead of http or https: ftp://a.example/b.jpg"
    ),
    (
      #"{"type":"IMAGE_ONLY","imageURL":"javascript:alert(1)"}"#,
      "its picture is not a usable address, scheme javascript instead of http or https: "
        + "javascript:alert(1)"
    ),
    (
      #"{"type":"IMAGE_ONLY","imageURL":"//a.example/b.jpg"}"#,
      "its picture is not a usable address, no http:// or https://: //a.example/b.jpg"
    ),
    (
      #"{"type":"IMAGE_ONLY","imageURL":"/../b.jpg"}"#,
      "its picture is not a usable poster path: /../b.jpg"
    ),
    (
      #"{"type":"IMAGE_ONLY","imageURL":"/../b.jpg?signature=secret"}"#,
      "its picture is not a usable poster path: /../b.jpg?signature=…"
    ),
    (
      #"{"type":"IMAGE_ONLY","imageURL":"http://a.example/\r\nX: y"}"#,
      "its picture is not a usable address, it holds a control character: http://a.example/??X: y"
    ),
  ])
  func `what is none of them is refused with its reason`(json: String, reason: String) {
    #expect(flaw(json) == reason)
  }

  @Test func `a server's words are shown shortened, on one line`() {
    let type = "A\\u001b[31m\\n\\u202e\\u2028" + String(repeating: "x", count: 100_000)
    let words = "unknown type A [31m   " + String(repeating: "x", count: 31) + "…"
    #expect(flaw(#"{"type":"\#(type)"}"#) == words)
  }
}
